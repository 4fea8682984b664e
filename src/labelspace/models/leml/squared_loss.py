"""Two factors whose product predicts label vectors best, for the squared loss.

    min_{W,H}  ½‖Y − X(WHᵀ + S)‖² + λ/2 (‖W‖² + ‖H‖²),   S a sparse matrix, given or zero

One factor at a time it is a least squares problem, and XWHᵀ, as large as the label matrix, is never
made. With H given and HᵀH = Q diag(e) Qᵀ, columns of WQ do not know of each other: each is a ridge
regression with a penalty λ/e_j of its own, solved by conjugate gradients, which need products with
X only. With W given and Z = XW, H is found in closed form, (ZᵀZ + λI)⁻¹ Zᵀ(Y − XS).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix
from sklearn.utils.extmath import randomized_svd

from labelspace import progress
from labelspace.linear.ridge import ridge

Floats = NDArray[np.float32]

# Directions of H that are shorter than this, against the longest, say nothing.
_SHORTEST = 1e-6
_POWERS = 4
# Value of the feature that all rows have, whose other features have length one.
CONSTANT = 0.3
_SOME_LABELS = 16_384


class Factors(NamedTuple):
    """W (features × dim) and H (labels × dim), whose product WHᵀ maps rows to label vectors."""

    W: Floats
    H: Floats


def label_directions(Y: csr_matrix, dim: int, seed: int) -> Floats:
    """Return the directions in which label vectors are longest, as columns; all there are at most.

    >>> Y = csr_matrix(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.float32))
    >>> np.abs(label_directions(Y, 1, seed=0)).round(2).ravel()
    array([0.71, 0.71, 0.  ], dtype=float32)
    """
    _, _, right = randomized_svd(Y, min(dim, *Y.shape), n_iter=_POWERS, random_state=seed)
    return np.ascontiguousarray(right.T, dtype=np.float32)


def label_keys(factors: Factors) -> Floats:
    """Return the vectors of labels, and behind them what the constant feature gives each."""
    return np.column_stack((factors.H, factors.H @ (np.float32(CONSTANT) * factors.W[-1])))


def alternate(
    X: csr_matrix,
    Y: csr_matrix,
    H: Floats,
    *,
    penalty: float,
    n_rounds: int,
    n_steps: int,
    sparse: csr_matrix | None = None,
    n_threads: int | None = None,
) -> Factors:
    """Return W and H after some rounds of solving for one and for the other, H the last.

    Parameters
    ----------
    X, Y : csr_matrix
    H : ndarray of shape (n_labels, dim)
        Where to begin.
    penalty : float
        λ.
    n_rounds : int
    n_steps : int
        Steps of conjugate gradients for W in each.
    sparse : csr_matrix of shape (n_features, n_labels), optional
        S.

    Examples
    --------
    >>> X = csr_matrix(np.eye(2, dtype=np.float32))
    >>> factors = alternate(
    ...     X, X, np.eye(2, dtype=np.float32), penalty=0.01, n_rounds=5, n_steps=5
    ... )
    >>> (factors.W @ factors.H.T).round(2)
    array([[0.99, 0.  ],
           [0.  , 0.99]], dtype=float32)
    """
    W: Floats = np.zeros((X.shape[1], H.shape[1]), dtype=np.float32)
    for _ in progress.track(range(n_rounds), "Training"):
        W = solve_map(X, Y, H, penalty=penalty, n_steps=n_steps, sparse=sparse, n_threads=n_threads)
        H = solve_labels(X, np.asarray(X @ W), Y, penalty=penalty, sparse=sparse)
    return Factors(W, H)


def solve_map(
    X: csr_matrix,
    Y: csr_matrix,
    H: Floats,
    *,
    penalty: float,
    n_steps: int,
    sparse: csr_matrix | None = None,
    n_threads: int | None = None,
) -> Floats:
    """Return the best W for given H."""
    lengths, Q = np.linalg.eigh((H.T @ H).astype(np.float64))
    told = lengths > _SHORTEST * max(lengths.max(initial=0.0), 1e-30)
    lengths, Q = lengths[told], Q[:, told]
    turned = (H @ (Q / lengths)).astype(np.float32)
    targets = np.asarray(Y @ turned)
    if sparse is not None:
        targets -= np.asarray(X @ np.asarray(sparse @ turned))
    found, _ = ridge(
        X,
        targets,
        penalty=(penalty / lengths).astype(np.float32),
        n_steps=n_steps,
        center=False,
        n_threads=n_threads,
    )
    return np.ascontiguousarray(found @ Q.T.astype(np.float32))


def solve_labels(
    X: csr_matrix,
    Z: Floats,
    Y: csr_matrix,
    *,
    penalty: float,
    sparse: csr_matrix | None = None,
) -> Floats:
    """Return the best H for given Z = XW.

    >>> Z = np.array([[2.0], [0.0]], dtype=np.float32)
    >>> solve_labels(csr_matrix(Z), Z, csr_matrix([[1.0, 0], [0, 1]]), penalty=1.0).tolist()
    [[0.4000000059604645], [0.0]]
    """
    gram: Any = (Z.T @ Z).astype(np.float64)
    gram[np.diag_indices(len(gram))] += penalty
    factor = cho_factor(gram, overwrite_a=True)
    rows_of = csr_matrix(Y.T, dtype=np.float32)
    features_of = None if sparse is None else csr_matrix(sparse.T)
    seen = None if sparse is None else np.asarray(X.T @ Z)
    H = np.empty((Y.shape[1], Z.shape[1]), dtype=np.float32)
    # Some labels at a time: where they are many, all of them take as much memory as the map.
    for start in range(0, len(H), _SOME_LABELS):
        block = slice(start, start + _SOME_LABELS)
        wanted = np.asarray(rows_of[block] @ Z)
        if features_of is not None:
            wanted -= np.asarray(features_of[block] @ seen)
        H[block] = cho_solve(factor, wanted.T.astype(np.float64)).T
    return H
