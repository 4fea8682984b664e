"""Euclidean space: no curvature, no edge; here so that the other spaces can be compared with it.

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
