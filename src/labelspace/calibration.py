"""How far scores can be trusted, measured on rows that were held out.

A method that gives probabilities keeps two things of such rows: how far its probabilities were from
what came true, and operating points: for many thresholds, which share of the labels given was right
(precision) and which share of the true labels was given (recall). So a threshold can be named by
what it is to reach: ``"f1"`` for the best F1, ``"precision=0.9"`` for a wanted precision,
``"recall=0.8"`` for a wanted recall.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import metrics
from labelspace.errors import UsageError
from labelspace.store import Storable, schema
from labelspace.topk import NO_LABEL, TopK

Threshold = float | str | None

N_POINTS = 200
FEWEST_GIVEN = 10  # labels at the first point: the precision of fewer says nothing
BEST = 5
GOAL = re.compile(r"f1|(precision|recall)=(\d+(\.\d*)?|\.\d+)")


class Calibration(Storable):
    """What scores were worth on rows held out.

    Parameters
    ----------
    scored : TopK
        Candidates of these rows, all that have a chance, with their scores.
    probabilities : TopK
        The same with probabilities, where scores are something else.
    Y : csr_matrix
        The rows' true labels.

    Attributes
    ----------
    error : float
        Expected calibration error of each row's five most probable labels, in percent.
    thresholds, precisions, recalls : ndarray
        Operating points, from high thresholds to low ones.
    n_rows : int
        How many rows were held out.

    Examples
    --------
    >>> top = TopK(np.array([[0, 1]] * 20), np.array([[0.9, 0.1]] * 20, dtype=np.float32))
    >>> measured = Calibration(top, top, csr_matrix([[1, 0]] * 20))
    >>> round(measured.threshold_for("f1"), 2), round(measured.error, 2)
    (0.9, 10.0)
    """

    _schema: ClassVar[schema.Schema] = {
        "error": schema.number(),
        "n_rows": schema.integer(),
        "thresholds": schema.array("float32 float64", "n_points"),
        "precisions": schema.array("float64", "n_points", low=0),
        "recalls": schema.array("float64", "n_points", low=0),
    }

    def __init__(self, scored: TopK, probabilities: TopK, Y: csr_matrix) -> None:
        best = probabilities.first(BEST)
        self.error = metrics.calibration_error(Y, best)
        self.n_rows = len(scored)
        given = scored.labels != NO_LABEL
        scores = scored.scores[given]
        order = np.argsort(-scores, kind="stable")
        right = np.cumsum(metrics.hits(Y, scored)[given][order])
        n_given = _counts_without_ties(scores[order])
        self.thresholds = scores[order][n_given - 1]
        self.precisions = right[n_given - 1] / n_given
        self.recalls = right[n_given - 1] / max(Y.nnz, 1)

    def threshold_for(self, goal: str) -> float:
        """Return the threshold that reached ``"f1"``, ``"precision=0.9"`` or ``"recall=0.8"``.

        Of those that did, the lowest for a precision and the highest for a recall.
        """
        if not self.thresholds.size:
            raise UsageError(
                f"threshold={goal!r} needs rows that could be held out, and there were none: "
                "give a number."
            )
        if goal == "f1":
            total = np.maximum(self.precisions + self.recalls, 1e-12)
            return float(self.thresholds[np.argmax(self.precisions * self.recalls / total)])
        what, _, wanted = goal.partition("=")
        figures = self.precisions if what == "precision" else self.recalls
        reached = np.flatnonzero(figures >= float(wanted))
        if not reached.size:
            raise UsageError(
                f"No threshold had a {what} of {float(wanted):g} on the {self.n_rows:,} rows held "
                f"out; the highest was {figures.max():.3f}: ask for less."
            )
        return float(self.thresholds[reached[-1 if what == "precision" else 0]])


def checked_threshold(threshold: Any) -> Threshold:
    """Return a threshold as a number, or as a goal that it is to reach.

    >>> checked_threshold("0.25"), checked_threshold("f1")
    (0.25, 'f1')
    """
    if isinstance(threshold, str) and not GOAL.fullmatch(threshold):
        try:
            return float(threshold)
        except ValueError:
            raise UsageError(
                f"threshold is {threshold!r}: give a number, 'f1', or a wanted precision or recall "
                "such as 'precision=0.9'."
            ) from None
    return threshold


def _counts_without_ties(descending: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return numbers of labels that a threshold can give: many where they are few."""
    n = len(descending)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    counts = np.unique(np.geomspace(min(FEWEST_GIVEN, n), n, N_POINTS).astype(np.int64))
    # A threshold gives all labels of equal score or none.
    return np.unique(np.searchsorted(-descending, -descending[counts - 1], side="right"))
