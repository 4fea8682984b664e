"""Euclidean space: no curvature, no edge; here so that the other spaces can be compared with it.

Nearest becomes largest inner product by one more dimension: for a query (z, −½) and a key
(z', ‖z'‖²) the product is z·z' − ‖z'‖²/2 = (‖z‖² − ‖z − z'‖²) / 2.

Functions take rows of vectors, (..., dim), and broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def project(Z: ArrayLike) -> tuple[Floats, Floats]:
    """Return the rows of ``Z`` as they are, since all are in the space, and their norms (..., 1).

    >>> project([[3.0, 4.0]])[1].tolist()
    [[5.0]]
    """
    Z = np.asarray(Z, dtype=np.float64)
    return Z, np.linalg.norm(Z, axis=-1, keepdims=True)


def metric_factor(U: ArrayLike) -> Floats:
    """Return how much longer a short step is at ``U`` (..., 1): one, everywhere."""
    return np.ones((*np.shape(U)[:-1], 1))


def distance(U: ArrayLike, V: ArrayLike) -> Floats:
    """Return the distance of rows.

    >>> distance([0.0, 0.0], [3.0, 4.0]).item()
    5.0
    """
    return np.linalg.norm(log_map(U, V), axis=-1)


def distance_gradient(U: ArrayLike, V: ArrayLike) -> Floats:
    """Return the gradient of ``distance`` with respect to ``U``; zero where the points meet."""
    difference = -log_map(U, V)
    apart = np.linalg.norm(difference, axis=-1, keepdims=True)
    return difference / np.where(apart > 0, apart, 1.0)


def exp_map(U: ArrayLike, tangent: ArrayLike) -> Floats:
    """Return where a walk from ``U`` along ``tangent`` ends: u + t."""
    return np.asarray(U, dtype=np.float64) + np.asarray(tangent, dtype=np.float64)


def log_map(U: ArrayLike, V: ArrayLike) -> Floats:
    """Return the tangent at ``U`` that ``exp_map`` takes to ``V``: v − u."""
    return np.asarray(V, dtype=np.float64) - np.asarray(U, dtype=np.float64)


def midpoints(W: Any, U: Floats) -> Floats:
    """Return the mean of the rows of ``U`` for each row of weights in ``W``, dense or CSR."""
    weights = np.asarray(W.sum(axis=1)).reshape(-1, 1)
    return np.asarray(W @ U) / np.where(weights > 0, weights, 1.0)


def queries(Z: ArrayLike) -> NDArray[np.float32]:
    """Return the vectors that search for the neighbours of ``Z`` among ``keys``."""
    Z = np.asarray(Z, dtype=np.float32)
    return np.concatenate((Z, np.full((*Z.shape[:-1], 1), -0.5, dtype=np.float32)), axis=-1)


def keys(Z: ArrayLike) -> NDArray[np.float32]:
    """Return the vectors under which ``Z`` is found by ``queries``."""
    Z = np.asarray(Z, dtype=np.float32)
    return np.concatenate((Z, np.sum(Z * Z, axis=-1, keepdims=True)), axis=-1)
