"""What vectors should weigh beside words: tried on rows held out, with an exact linear model.

Rows are [words | w · vector], so that the likeness of two is that of their words plus w² times that
of their vectors. Ridge regression on all labels needs nothing but these likenesses: with K of the
rows learned from and k of the rows held out, the scores of all labels are k (K + λ)⁻¹ Y. A few
thousand rows take a second for each w, however many labels there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix

from labelspace.selection import FEWEST_ROWS, best_choice, hold_out, ndcg
from labelspace.topk import TopK, topk_dense

WEIGHTS = (0.7, 0.35, 1.0, 1.5)
USUAL = WEIGHTS[0]
N_LEARNED, N_ASKED = 3000, 1000
RIDGE = 1.0
_AT_ONCE = 64  # rows whose scores of all labels are held at a time


def choose_weight(
    X: csr_matrix,
    Z: NDArray[np.floating],
    Y: csr_matrix,
    seed: int = 0,
    weights: Sequence[float] = WEIGHTS,
) -> float:
    """Return the weight of vectors ``Z`` beside words ``X`` with the best nDCG@5.

    It is the first of the weights where there are too few rows with labels to tell.
    """
    labelled = np.flatnonzero(np.diff(Y.indptr))
    if len(labelled) < FEWEST_ROWS:
        return weights[0]
    rows = hold_out(labelled, N_LEARNED + N_ASKED, seed)
    asked = hold_out(rows, min(N_ASKED, len(rows) // 3), seed + 1)
    learned = np.setdiff1d(rows, asked)
    both = np.concatenate((learned, asked))
    X, Y, Z = csr_matrix(X[both]), csr_matrix(Y[both]), np.asarray(Z[both], dtype=np.float32)
    of_words: Any = (X @ X.T).toarray()
    of_vectors = Z @ Z.T
    trial = RidgeTrial(Y, len(learned))
    return best_choice(
        weights, lambda w: trial.figure((of_words + w * w * of_vectors) / (1 + w * w))
    )


class RidgeTrial:
    """What likenesses of rows are worth for predicting labels.

    Parameters
    ----------
    Y : csr_matrix of shape (n_rows, n_labels)
        Labels, first of the rows to learn from.
    n_learned : int
        How many these are; the others are asked about.

    Examples
    --------
    >>> Y = csr_matrix(np.eye(2)[[0, 1, 0, 1]])
    >>> RidgeTrial(Y, 2).figure((Y @ Y.T).toarray()) > 99
    True
    """

    def __init__(self, Y: csr_matrix, n_learned: int) -> None:
        self._n = n_learned
        self._learned = csr_matrix(Y[:n_learned].T)
        self._truth = csr_matrix(Y[n_learned:])

    def figure(self, likeness: NDArray[np.floating]) -> float:
        """Return the nDCG@5 of ridge regression, given how like each two rows are."""
        n = self._n
        inside: Any = np.array(likeness[:n, :n], dtype=np.float32)
        inside[np.diag_indices(n)] += RIDGE
        factor: Any = cho_factor(inside, lower=True, overwrite_a=True, check_finite=False)
        shares = cho_solve(factor, np.asarray(likeness[:n, n:]), check_finite=False)
        k = min(5, self._learned.shape[0])
        parts = [
            topk_dense(np.asarray(self._learned @ shares[:, first : first + _AT_ONCE]).T, k)
            for first in range(0, shares.shape[1], _AT_ONCE)
        ]
        return ndcg(self._truth, TopK.stack(parts))
