"""The unit sphere: vectors compared by their cosine.

With every vector on the sphere, nearest by angle is largest inner product, so queries and keys of
a search are the unit vectors themselves. Distance is the angle in radians, the length of the
shortest way along the surface; functions of it take rows of unit vectors, (..., dim).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float32]

# A row without features has a zero vector: it stays one instead of becoming NaN.
_SMALLEST_NORM = 1e-12


def project(Z: Floats) -> tuple[Floats, Floats]:
    """Return the rows of ``Z`` at unit length, and the lengths (n, 1) that they had.

    >>> import numpy as np
    >>> project(np.array([[3.0, 4.0]], dtype=np.float32))[0].round(3).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    norms = np.sqrt(np.einsum("ij,ij->i", Z, Z))[:, np.newaxis]
    np.maximum(norms, _SMALLEST_NORM, out=norms)
    return Z / norms, norms


def pull_back(gradient: Floats, U: Floats, norms: Floats) -> Floats:
    """Return the gradient at ``Z`` of a loss whose gradient at ``U = project(Z)`` is given.

    dL/dz = (g − (g·u) u) / ‖z‖: what points along the vector itself cannot turn it.
    """
    along = np.einsum("ij,ij->i", gradient, U)[:, np.newaxis]
    turned = gradient - along * U
    turned /= norms
    # A zero vector has no direction to turn from.
    turned[norms[:, 0] <= _SMALLEST_NORM] = 0.0
    return turned


def queries(Z: Floats) -> Floats:
    """Return the vectors that search for the neighbours of ``Z`` among ``keys``."""
    return project(Z)[0]


def keys(Z: Floats) -> Floats:
    """Return the vectors under which ``Z`` is found by ``queries``."""
    return project(Z)[0]


def metric_factor(U: ArrayLike) -> NDArray[np.float64]:
    """Return how much longer a short step along the sphere is at ``U`` (..., 1): one."""
    return np.ones((*np.shape(U)[:-1], 1))


def distance(U: ArrayLike, V: ArrayLike) -> NDArray[np.float64]:
    """Return the angle between unit vectors, from 0 to π.

    2 arctan(‖u − v‖ / ‖u + v‖) instead of arccos(u·v), which loses small angles.

    >>> distance([1.0, 0.0], [0.0, 1.0]).round(6).item()
    1.570796
    """
    U, V = np.asarray(U, dtype=np.float64), np.asarray(V, dtype=np.float64)
    apart = np.linalg.norm(U - V, axis=-1)
    return 2.0 * np.arctan2(apart, np.linalg.norm(U + V, axis=-1))


def distance_gradient(U: ArrayLike, V: ArrayLike) -> NDArray[np.float64]:
    """Return the gradient of ``distance`` along the sphere with respect to ``U``.

    It has length one and points away from ``V``; zero where the points meet or are opposite.
    """
    away = -_across(U, V)
    lengths = np.linalg.norm(away, axis=-1, keepdims=True)
    return away / np.where(lengths > 0, lengths, 1.0)


def exp_map(U: ArrayLike, tangent: ArrayLike) -> NDArray[np.float64]:
    """Return where a walk from ``U`` along the great circle of ``tangent`` ends.

    >>> exp_map([1.0, 0.0], [0.0, np.pi / 2]).round(6).tolist()
    [0.0, 1.0]
    """
    U, T = np.asarray(U, dtype=np.float64), np.asarray(tangent, dtype=np.float64)
    angle = np.linalg.norm(T, axis=-1, keepdims=True)
    ahead = T / np.where(angle > 0, angle, 1.0)
    there = np.cos(angle) * U + np.sin(angle) * ahead
    return there / np.linalg.norm(there, axis=-1, keepdims=True)


def log_map(U: ArrayLike, V: ArrayLike) -> NDArray[np.float64]:
    """Return the tangent at ``U`` that ``exp_map`` takes to ``V``; zero if they are opposite."""
    towards = _across(U, V)
    lengths = np.linalg.norm(towards, axis=-1, keepdims=True)
    angle = distance(U, V)[..., np.newaxis]
    return angle * towards / np.where(lengths > 0, lengths, 1.0)


def midpoints(W: Any, U: Floats) -> Floats:
    """Return the direction of the rows of ``U`` for each row of weights in ``W``, dense or CSR."""
    return project(np.asarray(W @ U))[0]


def _across(U: ArrayLike, V: ArrayLike) -> NDArray[np.float64]:
    """Return the part of v − u that lies along the sphere at u."""
    U = np.asarray(U, dtype=np.float64)
    difference = np.asarray(V, dtype=np.float64) - U
    return difference - np.sum(difference * U, axis=-1, keepdims=True) * U
