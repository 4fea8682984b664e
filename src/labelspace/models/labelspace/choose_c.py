"""How closely linear classifiers should fit, told by a sample of labels and rows held out.

Labels that people give freely want a small C, clear-cut ones a large C, and a wrong one costs more
than most else. A few labels are trained with each; what counts is how well they rank rows that they
have not seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.linear.sampled_hinge import train_sampled_hinge
from labelspace.linear.squared_hinge import train_squared_hinge
from labelspace.search.sparse import SparseIndex
from labelspace.selection import best_choice, best_of
from labelspace.topk import TopK

CHOICES = (0.2, 0.5, 1.0)
EXACT_CHOICES = (1.0, 0.3)
TRIAL_TOL = 0.5
USUAL, USUAL_EXACT = 0.5, 0.5
NEARLY = 0.985
N_LABELS = 100  # that are tried, or a quarter of all
FEWEST_SEEN = 2  # rows held out that have the label


def choose_C(
    X: csr_matrix,
    Y: csr_matrix,
    hard: csr_matrix,
    held_out: NDArray[np.bool_],
    *,
    n_threads: int | None = None,
    seed: int = 0,
) -> float:
    """Return the largest C whose average precision on rows held out is nearly the best.

    Nearly, since votes make up for what a close fit loses. The usual one where there is nothing to
    tell by. Parameters are those of ``train_sampled_hinge``.
    """
    truth = csr_matrix(Y[held_out])
    told = np.flatnonzero(np.bincount(truth.indices, minlength=Y.shape[1]) >= FEWEST_SEEN)
    n_labels = min(N_LABELS, -(-Y.shape[1] // 4))
    labels = np.random.default_rng(seed).permutation(told)[:n_labels]
    if not labels.size:
        return USUAL
    rows, has = csr_matrix(X[held_out]), truth[:, labels].toarray() > 0

    def precision(C: float) -> float:
        _, (weights, biases) = train_sampled_hinge(
            X,
            Y,
            hard,
            held_out=held_out,
            labels=labels,
            C=C,
            more_passes=0,
            n_threads=n_threads,
            seed=seed,
        )
        scores = (rows @ csr_matrix(weights[labels]).T).toarray() + biases[labels]
        return average_precision(scores, has)

    return best_choice(CHOICES, precision, nearly=lambda best: NEARLY * best, preference=float)


def choose_exact_C(
    X: csr_matrix,
    Y: csr_matrix,
    *,
    min_weight: float,
    n_threads: int | None = None,
    seed: int = 0,
) -> float:
    """Return the C of classifiers against all rows that ranks labels best for rows held out."""

    def answer(C: float, X: csr_matrix, Y: csr_matrix, X_new: csr_matrix, k: int) -> TopK:
        how: dict[str, Any] = {"min_weight": min_weight, "n_threads": n_threads, "seed": seed}
        weights, biases, _ = train_squared_hinge(X, Y, C=C, tol=TRIAL_TOL, **how)
        return SparseIndex(weights, biases).search(X_new, k)

    return best_of(EXACT_CHOICES, answer, X, Y, seed=seed).choice


def average_precision(scores: NDArray[np.float32], has: NDArray[np.bool_]) -> float:
    """Return the mean, over all true pairs, of the precision down to each in its column.

    Examples
    --------
    >>> average_precision(np.array([[0.9], [0.5], [0.1]]), np.array([[True], [False], [True]]))
    0.8333333333333333
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    hits = np.take_along_axis(has, order, axis=0)
    precision = np.cumsum(hits, axis=0) / np.arange(1, len(hits) + 1)[:, np.newaxis]
    return float(precision[hits].mean()) if hits.any() else 0.0
