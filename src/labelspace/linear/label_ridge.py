"""A linear map of rows to the middle of their labels, found without gradient steps.

Labels lie at random on the sphere, rows are wanted at the sum of their labels, φ(x) = Σ_y v_y: that
is the construction in the proof of theorem 2.1 of Guo et al. (2019), and ridge regression comes as
near to it as a linear map can. Then labels move to where rows speak for them best. Rows say much
along a few directions, which frequent labels have filled, and there a random vector is a mistake.
The labels' new vectors are those that predict, from the vectors of the rows, who has them:

    V' = argmin_V' ‖Y − ZV'ᵀ‖² + p‖V' − V‖²,   each row of Y of length one

with rows Z as the map sees them without half of their features, since it knows them too well.

How much the map is restrained differs between corpora, and is told by rows held out of a smaller
one: long texts want less than short ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_matrix, diags

from labelspace.linear.ridge import ridge
from labelspace.search.exact import ExactIndex
from labelspace.selection import best_choice, ndcg
from labelspace.spaces import sphere
from labelspace.topk import TopK

Floats = NDArray[np.float32]

# p, in means of the eigenvalues of ZᵀZ.
_PENALTY = 2.0
_SOME_LABELS = 16_384
# λ of the ridge regressions that are tried, on some of the rows and in few dimensions.
_TRIED = (0.3, 1.0)
_USUAL = 1.0
_SOME_ROWS = 8000
_FEW_ROWS = 2000
_FEW_DIMENSIONS = 256


def label_ridge(
    X: csr_matrix,
    Y: csr_matrix,
    dim: int,
    *,
    penalty: float = _USUAL,
    seed: int = 0,
    n_threads: int | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return the ridge regression to the middle of labels whose vectors are random.

    Returns
    -------
    W : ndarray of shape (n_features, dim)
    mean : ndarray of shape (dim,)
    V : ndarray of shape (n_labels, dim)
        Unit vectors of the labels; x belongs to those nearest to xW + mean.
    """
    rng = np.random.default_rng(seed)
    V = sphere.keys(rng.standard_normal((Y.shape[1], dim), dtype=np.float32))
    W, mean = ridge(X, sphere.keys(np.asarray(Y @ V)), penalty=penalty, n_threads=n_threads)
    return W, mean, V


def refitted_label_ridge(
    X: csr_matrix,
    Y: csr_matrix,
    dim: int,
    *,
    penalty: float | None = None,
    seed: int = 0,
    n_threads: int | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return the same with labels where rows speak for them best, and the best λ unless given."""
    if penalty is None:
        penalty = chosen_penalty(X, Y, seed=seed, n_threads=n_threads)
    W, mean, V = label_ridge(X, Y, dim, penalty=penalty, seed=seed, n_threads=n_threads)
    Z = sphere.queries(np.asarray(_half(X, np.random.default_rng(seed)) @ W) + mean)
    return W, mean, refitted(Z, Y, V)


def chosen_penalty(
    X: csr_matrix, Y: csr_matrix, *, seed: int = 0, n_threads: int | None = None
) -> float:
    """Return the λ of the map that ranks labels best for rows that it has not seen."""
    if X.shape[0] < _FEW_ROWS:
        return _USUAL
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:_SOME_ROWS]
    asked, learned = np.split(rows, [len(rows) // 4])
    labels = np.unique(Y[learned].indices)
    truth, known = csr_matrix(Y[asked][:, labels]), csr_matrix(Y[learned][:, labels])

    def quality(penalty: float) -> float:
        W, mean, V = refitted_label_ridge(
            X[learned], known, _FEW_DIMENSIONS, penalty=penalty, seed=seed, n_threads=n_threads
        )
        nearest = ExactIndex(V).search(sphere.queries(np.asarray(X[asked] @ W) + mean), 5)
        return ndcg(truth, TopK(nearest.ids, nearest.products))

    return best_choice(_TRIED, quality)


def refitted(Z: Floats, Y: csr_matrix, V: Floats) -> Floats:
    """Return unit vectors of the labels, near to ``V``, that tell from ``Z`` who has them.

    >>> Z, V = np.eye(2, dtype=np.float32), np.array([[1, 0], [0.6, 0.8]], dtype=np.float32)
    >>> refitted(Z, csr_matrix(np.eye(2)), V).round(2)
    array([[1.  , 0.  ],
           [0.42, 0.91]], dtype=float32)
    """
    dim = Z.shape[1]
    # Rows of length one have eigenvalues that sum up to their number.
    penalty = np.float32(_PENALTY * len(Z) / dim)
    gram: Any = Z.T @ Z
    gram[np.diag_indices(dim)] += penalty
    factor = cho_factor(gram, overwrite_a=True)
    lengths = np.sqrt(np.maximum(np.diff(Y.indptr), 1))
    rows_of = csr_matrix((diags(1.0 / lengths) @ Y).T, dtype=np.float32)
    moved = np.empty_like(V)
    # Some labels at a time: where they are many, all of them take as much memory as the map.
    for start in range(0, len(V), _SOME_LABELS):
        block = slice(start, start + _SOME_LABELS)
        wanted = np.asarray(rows_of[block] @ Z) + penalty * V[block]
        moved[block] = sphere.keys(np.ascontiguousarray(cho_solve(factor, wanted.T).T))
    return moved


def _half(X: csr_matrix, rng: np.random.Generator) -> csr_matrix:
    """Return rows without half of their features, the others twice as large."""
    kept = rng.random(X.nnz) < 0.5
    starts = np.concatenate(([0], np.cumsum(kept)))[X.indptr]
    return csr_matrix((2.0 * X.data[kept], X.indices[kept], starts), shape=X.shape)
