"""The linear map that is nearest to given targets, without a single gradient step of its own.

    W = argmin_W ‖XW + m − T‖² + λ‖W‖²,   m the mean of the targets, or 0

by conjugate gradients, which need products with X and Xᵀ only. Columns of T do not know of each
other, so they are solved in blocks, each on a thread of its own, and memory is that of a few
blocks.

A weak feature moves little under ‖W‖², where steps of equal size for all features would trust it
too much.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.encoders import _kernels

Floats = NDArray[np.float32]

# Columns that are solved together: wide enough for long inner loops, few enough for little memory,
# so that with many features they are fewer.
_BLOCK, _LEAST = 128, 16
_MOST_WEIGHTS = 1 << 25


def ridge(
    X: csr_matrix,
    T: Floats,
    *,
    penalty: float | Floats = 1.0,
    n_steps: int = 16,
    center: bool = True,
    n_threads: int | None = None,
) -> tuple[Floats, Floats]:
    """Return W (features × columns) and the mean of the targets.

    Parameters
    ----------
    X : csr_matrix of shape (n_rows, n_features)
    T : ndarray of shape (n_rows, n_columns)
    penalty : float, or ndarray of shape (n_columns,)
        λ, which may differ between columns.
    n_steps : int
        Steps of conjugate gradients; few of them are a restraint, too.
    center : bool
        Whether the mean is taken out of the targets; it is zero otherwise.
    n_threads : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> X = csr_matrix([[1.0], [-1.0]], dtype=np.float32)
    >>> W, mean = ridge(X, np.array([[3.0], [1.0]], dtype=np.float32), penalty=0.0)
    >>> W.tolist(), mean.tolist()
    ([[1.0]], [2.0])
    """
    mean = T.mean(axis=0) if center else np.zeros(T.shape[1], dtype=T.dtype)
    penalties = np.broadcast_to(np.asarray(penalty, dtype=np.float32), T.shape[1])
    transposed = csr_matrix(X.T)
    W = np.zeros((X.shape[1], T.shape[1]), dtype=np.float32)

    width = min(_BLOCK, max(_LEAST, _MOST_WEIGHTS // max(1, X.shape[1])))

    def solve(start: int) -> None:
        block = slice(start, start + width)
        W[:, block] = _conjugate_gradients(
            X, transposed, T[:, block] - mean[block], penalties[block], n_steps
        )

    with ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        list(pool.map(solve, range(0, T.shape[1], width)))
    return W, mean


def _conjugate_gradients(
    X: csr_matrix, transposed: csr_matrix, T: Floats, penalties: Floats, n_steps: int
) -> Floats:
    residual = _product(transposed, T)
    W = np.zeros_like(residual)
    direction = residual.copy()
    squares = _column_squares(residual)
    for _ in range(n_steps):
        if not squares.any():
            break
        ahead = _product(transposed, _product(X, direction))
        ahead += penalties * direction
        curvature = np.einsum("ij,ij->j", direction, ahead)
        step = squares / np.maximum(curvature, 1e-20)
        W += direction * step
        ahead *= step
        residual -= ahead
        before, squares = squares, _column_squares(residual)
        direction *= squares / np.maximum(before, 1e-20)
        direction += residual
    return W


def _product(X: csr_matrix, dense: Floats) -> Floats:
    out = np.zeros((X.shape[0], dense.shape[1]), dtype=np.float32)
    ones = np.ones(X.shape[1], dtype=np.float32)
    _kernels.encode(
        X.indptr,
        X.indices,
        X.data.astype(np.float32, copy=False),
        np.ascontiguousarray(dense),
        ones,
        out,
    )
    return out


def _column_squares(dense: Floats) -> Floats:
    return np.einsum("ij,ij->j", dense, dense)
