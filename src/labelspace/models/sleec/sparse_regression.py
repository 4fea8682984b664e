"""A linear map of rows to given vectors whose images are drawn to zero (ADMM).

    min_W  ½‖Z − XW‖² + λ‖XW‖₁ + ‖W‖² / (4C)

The images XW are kept twice, as XW and as sparse codes A, which are drawn together by a price ρ:

    W ← argmin ‖Z − XW‖² + ρ‖XW − A + M‖² + ‖W‖² / (2C),   a ridge regression
    A ← soft(XW + M, λ/ρ),    M ← M + XW − A

With the publication's λ = 0.01 and ρ = 0.001 codes below 10 are zero, as all are; what is left of
the L1 norm after its two rounds is a shrinkage of the map by ρ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.linear.ridge import ridge

Floats = NDArray[np.float32]

# Steps of conjugate gradients for a ridge regression.
N_STEPS = 32


def sparse_regression(
    X: csr_matrix,
    Z: Floats,
    *,
    C: float,
    l1: float = 0.01,
    rho: float = 0.001,
    n_rounds: int = 2,
    n_steps: int = N_STEPS,
    n_threads: int | None = None,
) -> Floats:
    """Return W, features × dimensions.

    Parameters
    ----------
    X : csr_matrix of shape (n_rows, n_features)
    Z : ndarray of shape (n_rows, dim)
    C : float
        Weight of the error against the length of W.
    l1, rho : float
        λ and ρ.
    n_rounds : int
        Ridge regressions, one after the other.
    n_steps : int
        Steps of conjugate gradients in each.

    Examples
    --------
    >>> X = csr_matrix(np.eye(2, dtype=np.float32))
    >>> Z = np.array([[3.0], [0.1]], dtype=np.float32)
    >>> sparse_regression(X, Z, C=1e6, l1=0.5, rho=1.0, n_rounds=50).round(2).ravel().tolist()
    [2.5, 0.0]
    """
    codes, gap = np.zeros_like(Z), np.zeros_like(Z)
    penalty = 1.0 / (2.0 * C * (1.0 + rho))
    W: Floats = np.zeros((X.shape[1], Z.shape[1]), dtype=np.float32)
    for turn in range(n_rounds):
        wanted: Floats = ((Z + rho * (codes - gap)) / (1.0 + rho)).astype(np.float32)
        W, _ = ridge(X, wanted, penalty=penalty, n_steps=n_steps, center=False, n_threads=n_threads)
        if turn + 1 < n_rounds:
            images = np.asarray(X @ W)
            codes = soft_threshold(images + gap, l1 / rho)
            gap += images - codes
    return W


def soft_threshold(values: Floats, threshold: float) -> Floats:
    """Return numbers drawn to zero by a threshold, those nearer to it than that to zero.

    >>> soft_threshold(np.array([-3.0, 0.5], dtype=np.float32), 1.0).tolist()
    [-2.0, 0.0]
    """
    return np.sign(values) * np.maximum(np.abs(values) - np.float32(threshold), np.float32(0.0))


def without_smallest(values: Floats, share: float, axis: int | None = None) -> Floats:
    """Return values with a share of them, the nearest to zero, made zero; in all or by column.

    >>> without_smallest(np.array([[3.0, 0.1], [-2.0, 4.0]], dtype=np.float32), 0.5).tolist()
    [[3.0, 0.0], [0.0, 4.0]]
    """
    if share <= 0 or not values.size:
        return values
    sizes = np.abs(values)
    if axis is None:
        there = sizes[sizes > 0]
        floor = np.quantile(there, share) if there.size else np.float32(0.0)
    else:
        floor = np.quantile(sizes, share, axis=axis, keepdims=True)
    return np.where(sizes < floor, np.float32(0.0), values)
