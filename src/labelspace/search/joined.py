"""Votes, classifier and nearness made into one probability per candidate label.

With m the margin of the label's classifier, s its share of the votes, c the cosine of row and label
and f the label's frequency, the log-odds are

    a · φ(m, log s, c, f)

where φ has the four and some of their products, and bends m and log s at a few places. The weights
a are learned on rows held out (``training.join``). What is frequent is judged by other measures
than what is rare: a classifier of two rows is hardly ever sure, and a vote of one neighbour may be
all that there is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelspace.search import _joined_kernels as kernels
from labelspace.search.evidence import Evidence
from labelspace.store import Storable
from labelspace.topk import TopK

# What held-out rows of corpora of many kinds agree on; the start of learning, and all that there
# is where rows are too few to hold some out.
USUAL = {0: 1.2, 1: 2.7, 2: 0.75}


class Join(Storable):
    """Gives candidates their probability.

    Parameters
    ----------
    weights : ndarray of shape (N_TERMS,), optional
        The weights a; the usual ones unless given.

    Examples
    --------
    >>> import numpy as np
    >>> margins, shares, nearness = np.float32([[[1, -1]], [[0.9, 0.1]], [[0.9, 0.2]]])
    >>> evidence = Evidence(np.array([[3, 7]]), margins, shares, nearness)
    >>> Join().probabilities(evidence, np.array([9] * 8)).round(2)
    array([[0.98, 0.04]], dtype=float32)
    """

    def __init__(self, weights: NDArray[np.float64] | None = None) -> None:
        self.weights = usual_weights() if weights is None else weights

    def probabilities(
        self, evidence: Evidence, label_counts: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the probability of each candidate, (n, n_candidates); 0 where there is none."""
        probabilities = np.zeros(evidence.labels.shape, dtype=np.float32)
        kernels.weigh(*evidence, label_counts, self.weights, probabilities)
        return probabilities


def usual_weights() -> NDArray[np.float64]:
    """Return the weights that suit most corpora."""
    weights = np.zeros(kernels.N_TERMS)
    for term, weight in USUAL.items():
        weights[term] = weight
    return weights


def terms(evidence: Evidence, label_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return φ of each candidate that there is, (n, N_TERMS), row after row."""
    there = evidence.labels >= 0
    expanded = np.empty((int(there.sum()), kernels.N_TERMS))
    kernels.expand_all(
        evidence.labels[there],
        evidence.margins[there],
        evidence.shares[there],
        evidence.nearness[there],
        label_counts,
        expanded,
    )
    return expanded


def best_candidates(labels: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> TopK:
    """Return the ``k`` candidates with the largest scores; -1 is no candidate."""
    top = TopK.empty(len(labels), k)
    kernels.best(labels, scores, top.labels, top.scores)
    return top
