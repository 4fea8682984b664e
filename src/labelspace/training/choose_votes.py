"""Choose what votes count by trying a few weights on rows that the maps were not trained on.

How sharply near rows should be preferred, and how much labels' own votes should count, differs
between corpora: where labels are a hierarchy, the labels' votes find the rare ones and cost the
sure ones. The search is done once and only the count is repeated, so that this takes no time to
speak of. The weights with the best P@1 + P@3 + P@5 win, but rare labels are heard where they come
nearly for free: of weights that are as good but for a little, those with the best propensity-scored
precision are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.metrics import evaluate
from labelspace.search.ballot import Ballot
from labelspace.search.found import Found

Weights = tuple[float, float]

GAMMAS = (10.0, 15.0, 20.0)
LABEL_VOTES = (0.1, 0.25, 0.5, 1.0, 2.0)

# Sum of P@1, P@3 and P@5, in percent, that rare labels may cost; more where so few rows were held
# out that chance decides as much.
_NEARLY = 0.1
_NEARLY_OF_FEW = 1.0
_FEW = 1000


def choose_votes(
    rows: Found,
    labels: Found,
    Y: csr_matrix,
    truth: csr_matrix,
    *,
    gammas: Sequence[float] = GAMMAS,
    label_votes: Sequence[float] = LABEL_VOTES,
) -> tuple[float, float]:
    """Return γ and the weight of labels' votes that answer best.

    Parameters
    ----------
    rows, labels : Found
        Training rows and labels near to each row held out, itself not among them.
    Y, truth : csr_matrix
        Labels of the training rows, and of those held out.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> rows = Found(np.array([[0, 1]]), np.array([[0.9, 0.8]], dtype=np.float32))
    >>> labels = Found(np.array([[1]]), np.array([[0.5]], dtype=np.float32))
    >>> choose_votes(rows, labels, csr_matrix([[1, 0], [0, 1]]), csr_matrix([[0, 1]]))
    (10.0, 0.5)
    """
    tried = [
        (gamma, weight)
        for gamma in gammas
        for weight in (label_votes if labels.ids.shape[1] else label_votes[:1])
    ]
    return best_votes(tried, lambda weights: Ballot.weighted(rows, labels, *weights), Y, truth)


def best_votes(
    tried: Sequence[Weights], cast: Callable[[Weights], Ballot], Y: csr_matrix, truth: csr_matrix
) -> Weights:
    """Return those of the weights that were ``tried`` whose ballot, once ``cast``, answers best."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    precise, rare = np.array([_figures(cast(weights), Y, truth, counts) for weights in tried]).T
    nearly = _NEARLY_OF_FEW if truth.shape[0] < _FEW else _NEARLY
    good = precise >= precise.max() - nearly
    return tried[int(np.argmax(np.where(good, rare, -np.inf)))]


def _figures(
    votes: Ballot, Y: csr_matrix, truth: csr_matrix, counts: NDArray[np.int64]
) -> tuple[float, float]:
    figures = evaluate(truth, votes.top(Y, 5), label_counts=counts, n_examples=Y.shape[0])
    precise, rare = (sum(figures[f"{name}@{k}"] for k in (1, 3, 5)) for name in ("P", "PSP"))
    return precise, rare
