"""How closely linear classifiers should fit, told by rows held out.

Labels that people give freely want a small C, clear-cut ones a large C, and a wrong one costs more
than most else. What counts is how well labels are ranked for rows that were not seen: how well rows
are ranked for labels, one label at a time, favours a small C too often.
"""

from __future__ import annotations

from typing import Any

from scipy.sparse import csr_matrix

from labelspace.linear.squared_hinge import train_squared_hinge
from labelspace.search.sparse import SparseIndex
from labelspace.selection import best_of
from labelspace.topk import TopK

CHOICES = (1.0, 0.3)
USUAL = 0.5
TRIAL_TOL = 0.5


def choose_C(
    X: csr_matrix,
    Y: csr_matrix,
    *,
    min_weight: float,
    n_threads: int | None = None,
    seed: int = 0,
) -> float:
    """Return the C that ranks labels best for rows held out, tried on some thousands of rows.

    There classifiers see all of them, whether or not they will see all rows of the corpus.
    """

    def answer(C: float, X: csr_matrix, Y: csr_matrix, X_new: csr_matrix, k: int) -> TopK:
        how: dict[str, Any] = {"min_weight": min_weight, "n_threads": n_threads, "seed": seed}
        weights, biases, _ = train_squared_hinge(X, Y, C=C, tol=TRIAL_TOL, **how)
        return SparseIndex(weights, biases).search(X_new, k)

    return best_of(CHOICES, answer, X, Y, seed=seed).choice
