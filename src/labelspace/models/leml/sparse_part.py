"""The sparse part of RobustXML: for each label, weights of a few features of its own rows.

    min_S  ½‖Y − XWHᵀ − XS‖² + μ/2 ‖S‖² + ν‖S‖₁,   W and H given

Labels do not know of each other. Where a label has few rows, their features are few, and only those
may get weights: the strongest by how much they are pulled, x_fᵀ(y_l − XWh_l), which is had without
the residual, from the label's own rows and from XᵀXW. Then coordinate descent goes over them.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from labelspace import progress, threads
from labelspace.models.leml import _sparse_part_kernels as kernels
from labelspace.models.leml.squared_loss import Factors

# Passes of coordinate descent at most; it ends when no weight moves.
_PASSES = 20
# Labels that are solved before their weights are put together, and for which a thread is worth it.
_SOME_LABELS, _FEW_LABELS = 4096, 16


def solve_sparse(
    X: csr_matrix,
    Y: csr_matrix,
    factors: Factors,
    *,
    l1: float,
    penalty: float,
    n_weights: int,
    n_passes: int = _PASSES,
) -> csr_matrix:
    """Return S, features × labels, for given factors.

    Parameters
    ----------
    X, Y : csr_matrix
    factors : Factors
        W and H.
    l1, penalty : float
        ν and μ.
    n_weights : int
        Features of a label at most.
    n_passes : int
        Of coordinate descent at most.

    Examples
    --------
    >>> X = csr_matrix(np.eye(2, dtype=np.float32))
    >>> nothing = Factors(np.zeros((2, 1), np.float32), np.zeros((2, 1), np.float32))
    >>> solve_sparse(X, X, nothing, l1=0.5, penalty=1.0, n_weights=2).toarray()
    array([[0.25, 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    W, H = factors
    columns, by_label = csr_matrix(X.T, dtype=np.float32), csr_matrix(Y.T)
    seen = np.asarray(columns @ np.asarray(X @ W), dtype=np.float32)
    squares = np.asarray(columns.multiply(columns).sum(axis=1), dtype=np.float32).ravel()
    told = np.flatnonzero(np.diff(by_label.indptr))
    corpus = _arrays(X), _arrays(columns), by_label.indptr, by_label.indices
    limits = np.float32(l1), np.float32(penalty), n_passes
    found = [csr_matrix(np.zeros((0, X.shape[1]), dtype=np.float32))]
    for start in progress.track(range(0, told.size, _SOME_LABELS), "Sparse part"):
        labels = told[start : start + _SOME_LABELS]
        features = np.zeros((labels.size, n_weights), dtype=np.int64)
        weights = np.zeros((labels.size, n_weights), dtype=np.float32)
        solve = partial(_solve, (*corpus, labels, seen, H, squares, *limits), features, weights)
        threads.deal(solve, labels.size, _FEW_LABELS)
        found.append(_rows(features, weights, X.shape[1]))
    solved = csr_matrix(vstack(found, format="csr")).tocoo()
    return csr_matrix((solved.data, (solved.col, told[solved.row])), (X.shape[1], Y.shape[1]))


def _solve(given: Any, features: Any, weights: Any, first: int, last: int) -> None:
    kernels.solve(*given, first, last, features, weights)


def _arrays(matrix: csr_matrix) -> tuple[Any, Any, NDArray[np.float32]]:
    return matrix.indptr, matrix.indices, np.asarray(matrix.data, dtype=np.float32)


def _rows(features: NDArray[np.int64], weights: NDArray[np.float32], n_features: int) -> csr_matrix:
    """Return a row for each label with the weights that are not zero."""
    told = weights != 0
    starts = np.concatenate(([0], np.cumsum(told.sum(axis=1))))
    return csr_matrix((weights[told], features[told], starts), (len(weights), n_features))
