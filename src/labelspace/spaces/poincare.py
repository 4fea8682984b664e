"""The Poincaré ball: hyperbolic space on the points of norm below one.

Lengths are measured by the metric g_x = λ_x² · identity, λ_x = 2 / (1 − ‖x‖²), so the edge is
infinitely far away, and the room at distance r from the middle grows like e^r, as the number of
nodes in a tree does. The distance of two points is

    d(u, v) = arcosh(1 + 2‖u − v‖² / ((1 − ‖u‖²)(1 − ‖v‖²)))
            = 2 arsinh(‖u − v‖ / √((1 − ‖u‖²)(1 − ‖v‖²)))

The second form is used: the first loses small distances, since 1 + t is 1 for small t. Everything
is computed in float64 whatever comes in, and 1 − ‖x‖² is kept from rounding to zero, so that there
is no point of the ball, up to the last float before the edge, where a function here is not finite.

Functions take rows of vectors, (..., dim), and broadcast.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

EDGE = 1e-5
"""The ε of ``project``; a point brought back lies 12.2 from the middle."""

# The least 1 − ‖x‖² that a float64 below one can have.
_LEAST_GAP = float(np.finfo(np.float64).eps)
# Points computed here stay this far from the edge, so that no rounding of theirs can cross it.
_LARGEST_NORM = 1.0 - 4.0 * _LEAST_GAP


def project(Z: ArrayLike, epsilon: float = EDGE) -> tuple[Floats, Floats]:
    """Return the rows of ``Z`` inside the ball, and the norms (..., 1) that they had.

    p(z) = z / (‖z‖ + ε) where ‖z‖ ≥ 1, and z elsewhere.

    >>> project([[0.3, 0.4], [3.0, 4.0]], 0.0025)[0].round(4).tolist()
    [[0.3, 0.4], [0.5997, 0.7996]]
    """
    Z = np.asarray(Z, dtype=np.float64)
    norms = _norms(Z)
    outside = norms >= 1.0
    U = np.where(outside, Z / np.where(outside, norms + epsilon, 1.0), Z)
    return _inside(U), norms


def pull_back(gradient: ArrayLike, U: ArrayLike, norms: ArrayLike, epsilon: float = EDGE) -> Floats:
    """Return the gradient at ``Z`` of a loss whose gradient at ``U = project(Z)[0]`` is given."""
    g, U, norms = _float64(gradient, U, norms)
    outside = norms >= 1.0
    n = np.where(outside, norms, 1.0)
    along = np.sum(g * U, axis=-1, keepdims=True) * (n + epsilon) / n
    return np.where(outside, (g - along * U) / (n + epsilon), g)


def lift(Z: ArrayLike) -> tuple[Floats, Floats]:
    """Return the points of the ball whose Lorentz form is (√(1 + ‖z‖²), z), and the norms of z.

    u = z / (1 + √(1 + ‖z‖²)). Unlike ``project`` it has an inverse and no corner: a row of any
    size has a place of its own in the ball, arsinh ‖z‖ away from the middle.

    >>> lift([[0.0, 0.75]])[0].round(6).tolist()
    [[0.0, 0.333333]]
    """
    Z = np.asarray(Z, dtype=np.float64)
    norms = _norms(Z)
    return _inside(Z / (1.0 + np.hypot(1.0, norms))), norms


def pull_back_lift(gradient: ArrayLike, U: ArrayLike, norms: ArrayLike) -> Floats:
    """Return the gradient at ``Z`` of a loss whose gradient at ``U = lift(Z)[0]`` is given.

    Along z the lift grows by 1 / (x₀ (1 + x₀)), across by 1 / (1 + x₀), where x₀ = √(1 + ‖z‖²).
    """
    g, U, norms = _float64(gradient, U, norms)
    first = np.hypot(1.0, norms)
    ways = _directions(U, _norms(U))
    along = np.sum(g * ways, axis=-1, keepdims=True) * ways
    return (g - along + along / first) / (1.0 + first)


def boundary_gap(U: ArrayLike) -> Floats:
    """Return 1 − ‖u‖² of each row (..., 1), at least the smallest that a float can say.

    >>> boundary_gap([[0.6, 0.0]]).round(6).tolist()
    [[0.64]]
    """
    U = np.asarray(U, dtype=np.float64)
    norms = _norms(U)
    # (1 − n)(1 + n) instead of 1 − n²: exact where n is near one.
    return np.maximum((1.0 - norms) * (1.0 + norms), _LEAST_GAP)


def metric_factor(U: ArrayLike) -> Floats:
    """Return λ_u = 2 / (1 − ‖u‖²) of each row (..., 1): how much longer a short step is there."""
    return 2.0 / boundary_gap(U)


def riemannian(gradient: ArrayLike, U: ArrayLike) -> Floats:
    """Return the gradient in the ball's metric: the usual one times ((1 − ‖u‖²) / 2)²."""
    g, U = _float64(gradient, U)
    return g / metric_factor(U) ** 2


def distance(U: ArrayLike, V: ArrayLike) -> Floats:
    """Return the hyperbolic distance of rows.

    >>> distance([0.0, 0.0], [0.5, 0.0]).round(6).item()  # ln 3
    1.098612
    """
    return 2.0 * np.arcsinh(_half_sinh(U, V)[..., 0])


def distance_gradient(U: ArrayLike, V: ArrayLike) -> Floats:
    """Return the gradient of ``distance`` with respect to ``U``; zero where the points meet.

    With s = sinh(d/2):  ∂d/∂u = 2 / √(1 + s²) · ((u − v) / (‖u − v‖ √(α β)) + s u / α), where
    α = 1 − ‖u‖² and β = 1 − ‖v‖².
    """
    U, V = _float64(U, V)
    s = _half_sinh(U, V)
    difference = U - V
    apart = _norms(difference)
    direction = np.divide(
        difference,
        apart,
        out=np.zeros_like(difference),
        where=np.broadcast_to(apart > 0, difference.shape),
    )
    alpha = boundary_gap(U)
    slope = direction / (np.sqrt(alpha) * np.sqrt(boundary_gap(V))) + s * U / alpha
    return 2.0 * slope / np.hypot(1.0, s)


def mobius_add(U: ArrayLike, V: ArrayLike) -> Floats:
    """Return u ⊕ v, the ball's addition: v moved by the translation that takes 0 to u.

    u ⊕ v = ((1 + 2u·v + ‖v‖²) u + (1 − ‖u‖²) v) / (1 + 2u·v + ‖u‖²‖v‖²), written with u + v so
    that nothing cancels where v is near −u:

        (‖u + v‖² u + (1 − ‖u‖²)(u + v)) / (‖u + v‖² + (1 − ‖u‖²)(1 − ‖v‖²))

    >>> mobius_add([0.5, 0.0], [0.5, 0.0]).tolist()
    [0.8, 0.0]
    """
    U, V = _float64(U, V)
    together = U + V
    square = np.sum(together * together, axis=-1, keepdims=True)
    alpha = boundary_gap(U)
    return _inside((square * U + alpha * together) / (square + alpha * boundary_gap(V)))


def exp_map(U: ArrayLike, tangent: ArrayLike) -> Floats:
    """Return where a walk from ``U`` ends that starts as ``tangent`` and goes straight.

    exp_u(t) = u ⊕ (tanh(λ_u ‖t‖ / 2) t / ‖t‖)

    >>> exp_map([0.0, 0.0], [0.5, 0.0]).round(6).tolist()
    [0.462117, 0.0]
    """
    U, T = _float64(U, tangent)
    length = _norms(T)
    # tanh is one from 20 on; a longer step would only overflow.
    between = boundary_gap(U)
    step = np.tanh(np.minimum(length, 20.0 * between) / between)
    return mobius_add(U, _inside(step * _directions(T, length)))


def log_map(U: ArrayLike, V: ArrayLike) -> Floats:
    """Return the tangent at ``U`` that ``exp_map`` takes to ``V``.

    log_u(v) = (d(u, v) / λ_u) · w / ‖w‖ with w = −u ⊕ v

    >>> log_map([0.0, 0.0], [0.462117, 0.0]).round(5).tolist()
    [0.5, 0.0]
    """
    U, V = _float64(U, V)
    w = mobius_add(-U, V)
    length = distance(U, V)[..., np.newaxis] * boundary_gap(U) / 2.0
    return length * _directions(w, _norms(w))


def to_lorentz(U: ArrayLike) -> Floats:
    """Return the points (x₀, x) on the hyperboloid x₀² − ‖x‖² = 1, (..., dim + 1).

    x₀ = (1 + ‖u‖²) / (1 − ‖u‖²), x = 2u / (1 − ‖u‖²), and cosh d(u, v) = x₀y₀ − x·y.
    """
    U = np.asarray(U, dtype=np.float64)
    between = boundary_gap(U)
    return np.concatenate(((2.0 - between) / between, 2.0 * U / between), axis=-1)


def from_lorentz(X: ArrayLike) -> Floats:
    """Return the points of the ball that ``to_lorentz`` came from: x / (1 + x₀)."""
    X = np.asarray(X, dtype=np.float64)
    return _inside(X[..., 1:] / (1.0 + X[..., :1]))


def midpoint(U: ArrayLike, weights: ArrayLike) -> Floats:
    """Return the middle of the rows of ``U`` (n, dim), each with its weight.

    The mean of their Lorentz forms, brought back to the hyperboloid. Moved by −midpoint with
    ``mobius_add``, the points keep their distances and lie around the middle of the ball.

    >>> midpoint([[0.5, 0.0], [-0.5, 0.0]], [1.0, 1.0]).tolist()
    [0.0, 0.0]
    """
    return midpoints(np.asarray(weights, dtype=np.float64)[np.newaxis], U)[0]


def midpoints(W: Any, U: ArrayLike) -> Floats:
    """Return the middle of the rows of ``U`` for each row of weights in ``W`` (m, n), dense or CSR.

    >>> midpoints([[1.0, 1.0], [0.0, 1.0]], [[0.5, 0.0], [-0.5, 0.0]]).round(6).tolist()
    [[0.0, 0.0], [-0.5, 0.0]]
    """
    totals = np.asarray(W @ to_lorentz(U))
    outwards = np.linalg.norm(totals[:, 1:], axis=1)
    squares = (totals[:, 0] - outwards) * (totals[:, 0] + outwards)
    return from_lorentz(totals / np.sqrt(np.maximum(squares, _LEAST_GAP))[:, np.newaxis])


def _half_sinh(U: ArrayLike, V: ArrayLike) -> Floats:
    """Return sinh(d/2) = ‖u − v‖ / √((1 − ‖u‖²)(1 − ‖v‖²)), (..., 1)."""
    U, V = _float64(U, V)
    return _norms(U - V) / (np.sqrt(boundary_gap(U)) * np.sqrt(boundary_gap(V)))


def _inside(U: Floats) -> Floats:
    """Bring back what rounding has put on the edge or beyond."""
    norms = _norms(U)
    return np.where(norms > _LARGEST_NORM, U / np.maximum(norms, 1.0) * _LARGEST_NORM, U)


def _norms(Z: Floats) -> Floats:
    """Return the norms (..., 1) of rows of any size, which squares alone would overflow."""
    largest = np.max(np.abs(Z), axis=-1, keepdims=True, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    return scale * np.sqrt(np.sum(np.square(Z / scale), axis=-1, keepdims=True))


def _directions(Z: Floats, norms: Floats) -> Floats:
    return np.divide(Z, norms, out=np.zeros_like(Z), where=np.broadcast_to(norms > 0, Z.shape))


def _float64(*arrays: Any) -> list[Floats]:
    return [np.asarray(array, dtype=np.float64) for array in arrays]
