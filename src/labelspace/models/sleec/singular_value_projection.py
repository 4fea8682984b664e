"""Vectors whose products are those of label vectors, for neighbours only.

For each row i the label vectors, at length one, of its nearest rows j ∈ Ω_i are compared with its
own, and places of few dimensions are looked for that keep these products and no others:

    min_Z  Σ_i Σ_{j ∈ Ω_i} (y_i·y_j − z_i·z_j)²

Bhatia et al. (2015) solve it by singular value projection: a step down the gradient of the entries
that count, then back to matrices of rank ``dim``. Their program holds the matrix as UVᵀ, which has
that rank by itself, begins with the singular vectors of the entries, zero elsewhere, and steps
along U and V in turn, by 1/(0.3 ‖M_Ω‖), until the error falls no more. Z is U in the end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.extmath import randomized_svd

from labelspace import threads
from labelspace.graph.label_knn import label_knn
from labelspace.models.sleec import _projection_kernels as kernels

Floats = NDArray[np.float32]

# Part of ‖M_Ω‖ that a step is the inverse of.
_STEP = 0.3
# Fall of the root mean square error below which there are no more steps.
_LEAST_FALL = 1e-4
# Rows that are looked at for each row, on average, when its neighbours are looked for.
_BUDGET = 20_000
# Power iterations of the first singular vectors.
_POWERS = 4
_FEW_ROWS = 64


def neighbor_products(
    Y: csr_matrix, n_neighbors: int, *, seed: int = 0, n_threads: int | None = None
) -> csr_matrix:
    """Return the products of each row's label vector with those of its nearest rows, itself too.

    Rows that share labels with fewer others get some random ones, with products of zero, so that
    what has nothing in common is driven apart.

    >>> Y = csr_matrix(np.array([[1, 1], [1, 0], [0, 1]], dtype=np.float32))
    >>> neighbor_products(Y, 2).toarray().round(2)[1]
    array([0.71, 1.  , 0.  ], dtype=float32)
    """
    n_rows = Y.shape[0]
    n_neighbors = min(n_neighbors, n_rows)
    # Queries that are no rows of Y in name only, so that each row is its own nearest one.
    graph = label_knn(Y, n_neighbors, queries=Y, budget=_BUDGET, seed=seed, n_threads=n_threads)
    drawn = np.random.default_rng(seed).integers(n_rows, size=graph.neighbors.shape)
    neighbors = np.where(graph.neighbors >= 0, graph.neighbors, drawn)
    starts = np.arange(0, neighbors.size + 1, n_neighbors)
    # A row drawn twice, or drawn although it is a neighbour, counts as what it is: products add up.
    pairs = csr_matrix((graph.similarities.ravel(), neighbors.ravel(), starts), (n_rows, n_rows))
    pairs.sum_duplicates()
    return pairs


def project(
    products: csr_matrix, dim: int, *, max_steps: int = 200, seed: int = 0
) -> tuple[Floats, list[float]]:
    """Return vectors Z with z_i·v_j near to the given entries, and the error before each step.

    Parameters
    ----------
    products : csr_matrix of shape (n_rows, n_rows)
        The entries that count; one that is not stored may become anything.
    dim : int
    max_steps : int
        Pairs of steps, along Z and along V; 0 takes the singular vectors as they are.
    seed : int

    Examples
    --------
    >>> Z, errors = project(csr_matrix(np.ones((3, 3), dtype=np.float32)), dim=1)
    >>> np.abs(Z).round(3).ravel().tolist(), round(errors[-1], 3)
    ([1.0, 1.0, 1.0], 0.0)
    """
    left, values, right = randomized_svd(
        products, min(dim, *products.shape), n_iter=_POWERS, random_state=seed
    )
    U = np.ascontiguousarray(left * np.sqrt(values), dtype=np.float32)
    V = np.ascontiguousarray(right.T * np.sqrt(values), dtype=np.float32)
    flipped = csr_matrix(products.T)
    length = float(np.linalg.norm(products.data))
    step = np.float32(1.0 / (_STEP * length)) if length else np.float32(0.0)
    errors: list[float] = []
    for _ in range(max_steps):
        moved, error = _half_step(products, U, V, step)
        errors.append(error)
        if len(errors) > 1 and errors[-2] - error < _LEAST_FALL:
            break
        U = moved
        V, _ = _half_step(flipped, V, U, step)
    return U, errors


def _half_step(
    products: csr_matrix, moving: Floats, fixed: Floats, step: np.float32
) -> tuple[Floats, float]:
    """Return one factor after a step, and the root mean square error before it."""
    moved, squares = np.empty_like(moving), np.empty(len(moving), dtype=np.float32)
    values = products.data.astype(np.float32, copy=False)

    def move(first: int, last: int) -> None:
        kernels.half_step(
            *(products.indptr, products.indices, values, moving, fixed, step),
            *(first, last, moved, squares),
        )

    threads.deal(move, len(moving), _FEW_ROWS)
    return moved, float(np.sqrt(squares.sum(dtype=np.float64) / max(products.nnz, 1)))
