"""Stacking: votes, classifier and nearness made into one probability per candidate label.

With m the margin of the label's classifier, s its share of the votes, c the cosine of row and label
and f the label's frequency, the log-odds are

    a · φ(m, log s, c, f)

where φ has the four and some of their products, and bends m and log s at a few places. What is
frequent is judged by other measures than what is rare: a classifier of two rows is hardly ever
sure, and a vote of one neighbour may be all that there is.

The weights a are learned on rows held out, by logistic regression drawn towards prior weights.
A row has many candidates that nobody would take for its labels; only its best ones, by the prior
weights, are learned from, since only they compete for the top.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.linear.logistic_regression import PSEUDO_ROWS, logistic_regression
from labelspace.models.labelspace import _stacking_kernels as kernels
from labelspace.models.labelspace.candidates import Candidates
from labelspace.store import Storable, schema
from labelspace.topk import TopK

# What held-out rows of corpora of many kinds agree on; the start of learning, and all that there
# is where rows are too few to hold some out.
PRIOR = {0: 1.2, 1: 2.7, 2: 0.75}
COMPETING = 40  # candidates of a row that are learned from


class Stacker(Storable):
    """Gives candidates their probability.

    Parameters
    ----------
    weights : ndarray of shape (N_TERMS,), optional
        The weights a; the prior ones unless given.

    Examples
    --------
    >>> import numpy as np
    >>> margins, shares, cosines = np.float32([[[1, -1]], [[0.9, 0.1]], [[0.9, 0.2]]])
    >>> candidates = Candidates(np.array([[3, 7]]), margins, shares, cosines)
    >>> Stacker().probabilities(candidates, np.array([9] * 8)).round(2)
    array([[0.98, 0.04]], dtype=float32)
    """

    _schema: ClassVar[schema.Schema] = {"weights": schema.array("float64", kernels.N_TERMS)}

    def __init__(self, weights: NDArray[np.float64] | None = None) -> None:
        self.weights = prior_weights() if weights is None else weights

    def probabilities(
        self, candidates: Candidates, label_counts: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the probability of each candidate, (n, n_candidates); 0 where there is none."""
        probabilities = np.zeros(candidates.labels.shape, dtype=np.float32)
        kernels.weigh_terms(*candidates, label_counts, self.weights, probabilities)
        return probabilities


def prior_weights() -> NDArray[np.float64]:
    """Return the weights that suit most corpora: margins and votes, and nothing of the rest."""
    weights = np.zeros(kernels.N_TERMS)
    for term, weight in PRIOR.items():
        weights[term] = weight
    return weights


def terms(candidates: Candidates, label_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return φ of each candidate that there is, (n, N_TERMS), row after row."""
    there = candidates.labels >= 0
    expanded = np.empty((int(there.sum()), kernels.N_TERMS))
    kernels.expand_terms(
        candidates.labels[there],
        candidates.margins[there],
        candidates.shares[there],
        candidates.cosines[there],
        label_counts,
        expanded,
    )
    return expanded


def best_candidates(labels: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> TopK:
    """Return the ``k`` candidates with the largest scores; -1 is no candidate."""
    top = TopK.empty(len(labels), k)
    kernels.best_candidates(labels, scores, top.labels, top.scores)
    return top


def learn_stacker(
    candidates: Candidates, Y: csr_matrix, label_counts: NDArray[np.int64]
) -> Stacker:
    """Return a stacker whose probabilities fit ``Y``, the true labels of the candidates' rows."""
    competing = _competing(candidates, label_counts)
    there = competing.labels >= 0
    if not there.any():
        return Stacker()
    rows = np.repeat(np.arange(len(there)), there.sum(axis=1))
    is_true = np.asarray(Y[rows, competing.labels[there]]).ravel() > 0
    return Stacker(
        logistic_regression(terms(competing, label_counts), is_true, prior_weights(), PSEUDO_ROWS)
    )


def unseen_probabilities(
    candidates: Candidates, Y: csr_matrix, label_counts: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return probabilities of candidates, each half of the rows by what the other half teaches."""
    probabilities = np.zeros(candidates.labels.shape, dtype=np.float32)
    first = np.arange(len(probabilities)) % 2 == 0
    for learned, judged in ((first, ~first), (~first, first)):
        half = Candidates(*(part[learned] for part in candidates))
        stacker = learn_stacker(half, csr_matrix(Y[learned]), label_counts)
        other = Candidates(*(np.ascontiguousarray(part[judged]) for part in candidates))
        probabilities[judged] = stacker.probabilities(other, label_counts)
    return probabilities


def _competing(candidates: Candidates, label_counts: NDArray[np.int64]) -> Candidates:
    """Return the best candidates of each row by the prior weights, in no particular order."""
    prior = Stacker().probabilities(candidates, label_counts)
    k = min(COMPETING, candidates.labels.shape[1])
    top = best_candidates(candidates.labels, prior, k)
    # Where each of them stands among the candidates.
    position = np.zeros(top.labels.shape, dtype=np.int64)
    for at in range(k):
        position[:, at] = (candidates.labels == top.labels[:, [at]]).argmax(axis=1)
    return Candidates(
        top.labels, *(np.take_along_axis(part, position, axis=1) for part in candidates[1:])
    )
