"""Each point as a sparse affine combination of its neighbours, the nearer ones at a lower cost.

For a point y with candidates y_1 … y_k, unit directions Ȳ = [(y_j − y)/‖y_j − y‖] and proximity
weights q_j = ‖y_j − y‖ / Σ_t ‖y_t − y‖, the coefficients c solve

    min  λ ‖q ⊙ c‖₁ + ½ ‖Ȳ c‖²   with  Σ c = 1.

A few near points whose affine span passes by y are the cheapest answer, and those lie on y's own
manifold, even where another comes close. The edge to y_j then weighs |c_j| / ‖y_j − y‖, and the
edges of a point add up to one.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from labelspace import threads
from labelspace.manifold import _kernels

_BLOCK = 256


@dataclass(frozen=True)
class SelfExpression:
    """Coefficients of each row, and where its candidates are.

    Attributes
    ----------
    candidates : ndarray of shape (n, n_candidates), int64
        Numbers of the nearest points.
    distances : ndarray of shape (n, n_candidates)
        How far they are.
    coefficients : ndarray of shape (n, n_candidates)
        The solution c; each row adds up to 1 and most of it is zero.
    n_iter : int
        Steps that the hardest row took.
    """

    candidates: NDArray[np.int64]
    distances: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    n_iter: int

    def edges(self) -> NDArray[np.float64]:
        """Return |c_j| / distance_j, adding up to one in each row."""
        near = np.where(self.distances > 0, self.distances, 1.0)
        weights = np.abs(self.coefficients) / near
        return weights / weights.sum(axis=1, keepdims=True)

    def as_csr(self, values: NDArray[np.float64], n_points: int) -> csr_matrix:
        """Return ``values`` (n, n_candidates) as a sparse matrix over all points."""
        rows, places = np.nonzero(values)
        matrix = csr_matrix(
            (values[rows, places], (rows, self.candidates[rows, places])),
            shape=(len(values), n_points),
        )
        matrix.sort_indices()
        return matrix


def express(
    points: NDArray[np.float64],
    queries: NDArray[np.float64] | None = None,
    *,
    n_candidates: int = 50,
    penalty: float = 10.0,
    tol: float = 1e-8,
    max_iter: int = 10_000,
    n_threads: int | None = None,
) -> SelfExpression:
    """Express each query by its nearest points; each point by the others unless queries are given.

    Points must differ from each other. A query that coincides with a point is expressed by it.

    Examples
    --------
    >>> line = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 3.0]])
    >>> express(line, n_candidates=3).coefficients[1].round(2)
    array([0.5, 0.5, 0. ])
    """
    n_jobs = min(threads.resolve(n_threads), threads.available())
    index = NearestNeighbors(n_jobs=n_jobs).fit(points)
    k = min(n_candidates, len(points) - (queries is None))
    candidates = index.kneighbors(queries, k, return_distance=False)
    asked = points if queries is None else queries
    distances = np.empty(candidates.shape)
    coefficients = np.empty(candidates.shape)
    n_steps = np.empty(len(candidates), dtype=np.int64)

    def fill(start: int) -> None:
        _kernels.sparse_weights(
            start,
            min(start + _BLOCK, len(asked)),
            asked,
            points,
            candidates,
            float(penalty),
            float(tol),
            max_iter,
            coefficients,
            distances,
            n_steps,
        )

    with ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        list(pool.map(fill, range(0, len(asked), _BLOCK)))
    if unsolved := int((n_steps > max_iter).sum()):
        warnings.warn(
            f"{unsolved} of {len(asked)} points were not solved to tol={tol:g} in {max_iter} "
            "steps: raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    n_iter = min(int(n_steps.max(initial=0)), max_iter)
    return SelfExpression(candidates, distances, coefficients, n_iter)
