"""Ways to cluster that SMCE is compared with: by centres, by k-NN graphs, by subspaces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.linear_model import lars_path

from labelspace.manifold import SMCE

Clusterer = Callable[[NDArray[np.float64], int, int], NDArray[np.integer]]
"""From points, number of clusters and a seed to the cluster of each point."""


def smce(penalty: float = 10.0, n_candidates: int = 50) -> Clusterer:
    return lambda X, k, seed: SMCE(
        k, penalty=penalty, n_candidates=n_candidates, random_state=seed
    ).fit_predict(X)


def printed(penalty: float | None = None) -> Clusterer:
    """SMCE as printed: each point chooses among all others."""
    return lambda X, k, seed: SMCE(
        k, preset="paper", penalty=penalty, random_state=seed
    ).fit_predict(X)


def k_means(X: NDArray[np.float64], k: int, seed: int) -> NDArray[np.integer]:
    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def nearest(n_neighbors: int) -> Clusterer:
    """Spectral clustering on the graph of the nearest neighbours."""
    return lambda X, k, seed: SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=n_neighbors, random_state=seed
    ).fit_predict(X)


def sparse_subspace(X: NDArray[np.float64], k: int, seed: int) -> NDArray[np.integer]:
    """Sparse subspace clustering: each point by few others, wherever these are.

    The lasso of a point on all others, both of unit length, with a penalty of a twentieth of the
    largest that lets anything in.
    """
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    C = np.zeros((len(X), len(X)))
    for point in range(len(X)):
        others = np.delete(np.arange(len(X)), point)
        largest = np.abs(unit[others] @ unit[point]).max()
        _, _, path = lars_path(
            unit[others].T,
            unit[point],
            Gram=None,
            alpha_min=largest / 20 / X.shape[1],
            max_iter=30,
            method="lasso",
        )
        C[point, others] = path[:, -1]
    return _spectral(np.abs(C) + np.abs(C).T, k, seed)


def least_squares_subspace(X: NDArray[np.float64], k: int, seed: int) -> NDArray[np.integer]:
    """Subspace clustering by ridge regression of every point on all: (XXᵀ + I/100)⁻¹ XXᵀ."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    gram = unit @ unit.T
    C = np.linalg.solve(gram + 0.01 * np.eye(len(X)), gram)
    np.fill_diagonal(C, 0.0)
    return _spectral(np.abs(C) + np.abs(C).T, k, seed)


LONG = "SMCE, all points, λ = 400"
"""For shapes of a few hundred points only."""
CLUSTERERS: dict[str, Clusterer] = {
    "SMCE": smce(),
    "SMCE, λ = 100": smce(100.0),
    "SMCE, λ = 1": smce(1.0),
    "SMCE, 20 candidates": smce(n_candidates=20),
    "SMCE, all points (`paper`)": printed(),
    LONG: printed(400.0),
    "k-means": k_means,
    "spectral, 5-NN graph": nearest(5),
    "spectral, 10-NN graph": nearest(10),
    "spectral, 20-NN graph": nearest(20),
    "sparse subspace (lasso)": sparse_subspace,
    "least-squares subspace": least_squares_subspace,
}


def error(truth: NDArray[np.integer], found: NDArray[np.integer]) -> float:
    """Return the percentage of points outside the cluster matched to their manifold.

    >>> error(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]))
    25.0
    """
    shared = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(shared, (truth, found), 1)
    rows, columns = linear_sum_assignment(-shared)
    return float(100.0 * (1.0 - shared[rows, columns].sum() / truth.size))


def _spectral(graph: NDArray[np.float64], k: int, seed: int) -> NDArray[np.integer]:
    return SpectralClustering(k, affinity="precomputed", random_state=seed).fit_predict(graph)
