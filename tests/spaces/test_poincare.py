from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from labelspace.spaces import poincare

LAST = np.nextafter(1.0, 0.0)
"""The last float before the edge."""


@st.composite
def points(draw: st.DrawFn, n: int = 3, dim: int = 3, largest: float = 0.999) -> np.ndarray:
    """Draw rows in the ball: directions, and norms that like the edge as much as the middle."""
    directions = draw(arrays(np.float64, (n, dim), elements=st.floats(-1, 1)))
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    directions = np.where(lengths > 1e-3, directions / np.maximum(lengths, 1e-3), np.eye(n, dim))
    norms = draw(arrays(np.float64, (n, 1), elements=st.floats(0, 1)))
    return directions * np.tanh(norms * np.arctanh(largest))


def edge_points(dim: int) -> list[np.ndarray]:
    axis = np.eye(dim)[0]
    diagonal = np.full(dim, 1.0 / np.sqrt(dim))
    norms = (0.0, 5e-324, 1e-200, 0.5, 1 - 1e-7, 1 - 1e-15, LAST)
    return [sign * norm * way for norm in norms for way in (axis, diagonal) for sign in (1, -1)]


def _length(way: np.ndarray) -> float:
    """Add up the metric along a way of short steps."""
    steps = np.linalg.norm(np.diff(way, axis=0), axis=1)
    return float(steps @ poincare.metric_factor((way[1:] + way[:-1]) / 2)[:, 0])


@given(points())
def test_distance_is_a_metric(P: np.ndarray) -> None:
    d = poincare.distance(P[:, np.newaxis], P)
    assert np.all(d >= 0)
    assert np.array_equal(d, d.T)
    assert np.all(np.diag(d) == 0)
    for a, b, c in itertools.permutations(range(3)):
        assert d[a, c] <= d[a, b] + d[b, c] + 1e-9


@given(points(n=2), st.floats(1e-200, 1e-3))
def test_points_however_near_have_a_distance(P: np.ndarray, step: float) -> None:
    assert poincare.distance([0.0, 0.0], [step, 0.0]) == pytest.approx(2 * step, rel=1e-5)
    if np.linalg.norm(P[0] - P[1]) > 1e-12:
        assert poincare.distance(P[0], P[1]) > 0


@given(points(n=2))
def test_distance_is_that_of_the_lorentz_form(P: np.ndarray) -> None:
    X = poincare.to_lorentz(P)
    cosh = X[0, 0] * X[1, 0] - X[0, 1:] @ X[1, 1:]
    assert np.isclose(cosh, np.cosh(poincare.distance(P[0], P[1])), rtol=1e-6)
    assert np.allclose(X[:, 0] ** 2 - np.sum(X[:, 1:] ** 2, axis=1), 1.0, atol=1e-6 * X[:, 0] ** 2)
    assert np.allclose(poincare.from_lorentz(X), P, atol=1e-12)


@given(points(n=2, largest=0.99))
def test_distance_is_the_length_of_the_straight_way(P: np.ndarray) -> None:
    """Integrate the metric along the geodesic that ``exp_map`` walks."""
    u, v = P
    parts = np.linspace(0, 1, 1001)[:, np.newaxis]
    way = poincare.exp_map(u, parts * poincare.log_map(u, v))
    assert _length(way) == pytest.approx(poincare.distance(u, v).item(), rel=1e-4, abs=1e-9)


def test_the_way_through_the_middle_is_integrated_exactly() -> None:
    for radius in (0.1, 0.9, 0.999):
        length, _ = quad(lambda t: poincare.metric_factor([t, 0.0]).item(), 0, radius)
        assert poincare.distance([0.0, 0.0], [radius, 0.0]).item() == pytest.approx(length)


@given(points(n=2, largest=0.9))
def test_no_other_way_is_shorter(P: np.ndarray) -> None:
    """The straight line of the page is never shorter than the distance says."""
    u, v = P
    way = u + np.linspace(0, 1, 1001)[:, np.newaxis] * (v - u)
    assert _length(way) >= poincare.distance(u, v) * (1 - 1e-3) - 1e-9


@settings(deadline=None)  # the first call imports torch
@given(points(n=2, largest=0.99))
def test_gradient_is_that_of_autograd(P: np.ndarray) -> None:
    torch = pytest.importorskip("torch")
    if np.linalg.norm(P[0] - P[1]) < 1e-4:
        return
    u, v = (torch.tensor(p, dtype=torch.float64, requires_grad=True) for p in P)
    square = ((u - v) ** 2).sum()
    torch.acosh(1 + 2 * square / ((1 - u @ u) * (1 - v @ v))).backward()
    assert np.allclose(poincare.distance_gradient(P[0], P[1]), u.grad.numpy(), rtol=1e-5, atol=1e-7)
    assert np.allclose(poincare.distance_gradient(P[1], P[0]), v.grad.numpy(), rtol=1e-5, atol=1e-7)


@given(points(n=2, largest=0.9))
def test_gradient_is_that_of_differences(P: np.ndarray) -> None:
    u, v = P
    if np.linalg.norm(u - v) < 1e-2:
        return
    step = 1e-6 * np.eye(3)
    slopes = (poincare.distance(u + step, v) - poincare.distance(u - step, v)) / 2e-6
    assert np.allclose(poincare.distance_gradient(u, v), slopes, atol=1e-5)


@given(points(n=2))
def test_riemannian_gradient_has_length_one(P: np.ndarray) -> None:
    """Distance grows at speed one along its own gradient, measured in the ball's metric."""
    if poincare.distance(P[0], P[1]) < 1e-6:
        return
    gradient = poincare.riemannian(poincare.distance_gradient(P[0], P[1]), P[0])
    assert np.linalg.norm(gradient) * poincare.metric_factor(P[0]).item() == pytest.approx(1.0)


@given(points(n=2))
def test_log_and_exp_undo_each_other(P: np.ndarray) -> None:
    u, v = P
    tangent = poincare.log_map(u, v)
    assert poincare.distance(poincare.exp_map(u, tangent), v) < 1e-6
    length = np.linalg.norm(tangent) * poincare.metric_factor(u).item()
    assert length == pytest.approx(poincare.distance(u, v).item())


@given(points(n=3, largest=0.99))
def test_addition_is_a_translation(P: np.ndarray) -> None:
    a, u, v = P
    zero = np.zeros(3)
    assert np.allclose(poincare.mobius_add(zero, u), u)
    assert np.allclose(poincare.mobius_add(u, zero), u)
    assert np.allclose(poincare.mobius_add(-u, u), 0.0, atol=1e-12)
    assert np.allclose(poincare.mobius_add(-a, poincare.mobius_add(a, u)), u, atol=1e-9)
    moved = poincare.distance(poincare.mobius_add(a, u), poincare.mobius_add(a, v))
    assert moved == pytest.approx(poincare.distance(u, v).item(), rel=1e-5, abs=1e-7)
    from_u = np.linalg.norm(poincare.mobius_add(-u, v))
    assert 2 * np.arctanh(from_u) == pytest.approx(poincare.distance(u, v).item(), rel=1e-6)


@pytest.mark.parametrize("dim", [1, 2, 50])
def test_nothing_is_nan_up_to_the_last_float_before_the_edge(dim: int) -> None:
    P = np.array(edge_points(dim))
    U, V = (np.repeat(P, len(P), axis=0), np.tile(P, (len(P), 1)))
    with np.errstate(invalid="raise", divide="raise"):
        for made in (
            poincare.distance(U, V),
            poincare.distance_gradient(U, V),
            poincare.riemannian(poincare.distance_gradient(U, V), U),
            poincare.mobius_add(U, V),
            poincare.exp_map(U, V),
            poincare.exp_map(U, 1e300 * V),
            poincare.log_map(U, V),
            poincare.metric_factor(U),
            poincare.to_lorentz(U),
            poincare.from_lorentz(poincare.to_lorentz(U)),
        ):
            assert np.all(np.isfinite(made))


@pytest.mark.parametrize("dim", [1, 3, 50])
def test_what_is_computed_stays_inside(dim: int) -> None:
    P = np.array(edge_points(dim))
    far = (
        np.random.default_rng(0).standard_normal((2000, dim))
        * 10.0 ** np.linspace(-3, 300, 2000)[:, None]
    )
    for made in (
        poincare.mobius_add(P[:, None], P),
        poincare.exp_map(P[:, None], 100.0 * P),
        poincare.project(far)[0],
    ):
        assert np.linalg.norm(made, axis=-1).max() < 1.0
        assert np.all(np.isfinite(poincare.distance(made, 0.0 * made)))


@given(arrays(np.float64, (4, 3), elements=st.floats(-100, 100)))
def test_projection_is_the_papers(Z: np.ndarray) -> None:
    U, norms = poincare.project(Z, 1e-3)
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    assert np.allclose(norms, lengths)
    assert np.allclose(U, np.where(lengths >= 1, Z / (lengths + 1e-3), Z))


@given(arrays(np.float64, 3, elements=st.floats(-3, 3)))
def test_gradient_through_the_projection(z: np.ndarray) -> None:
    if abs(np.linalg.norm(z) - 1) < 1e-3:
        return
    g = np.array([0.5, -1.0, 2.0])
    U, norms = poincare.project(z, 0.01)
    step = 1e-6 * np.eye(3)
    slopes = (poincare.project(z + step, 0.01)[0] - poincare.project(z - step, 0.01)[0]) @ g / 2e-6
    assert np.allclose(poincare.pull_back(g, U, norms, 0.01), slopes, atol=1e-6)


@given(arrays(np.float64, 3, elements=st.floats(-30, 30)))
def test_lift_is_the_lorentz_form_of_any_vector(z: np.ndarray) -> None:
    U, norms = poincare.lift(z)
    assert np.allclose(poincare.to_lorentz(U)[1:], z, rtol=1e-6, atol=1e-9)
    assert poincare.distance(U, 0.0 * U) == pytest.approx(np.arcsinh(norms.item()))
    g = np.array([0.5, -1.0, 2.0])
    step = 1e-5 * np.eye(3)
    slopes = (poincare.lift(z + step)[0] - poincare.lift(z - step)[0]) @ g / 2e-5
    assert np.allclose(poincare.pull_back_lift(g, U, norms), slopes, atol=1e-5)


@given(points(n=4, largest=0.99), st.lists(st.floats(0.1, 10), min_size=4, max_size=4))
def test_midpoint_moves_with_its_points(P: np.ndarray, weights: list[float]) -> None:
    middle = poincare.midpoint(P, weights)
    moved = poincare.mobius_add(-middle, P)
    assert np.allclose(poincare.midpoint(moved, weights), 0.0, atol=1e-6)
    assert np.allclose(
        poincare.distance(moved[0], moved[1:]), poincare.distance(P[0], P[1:]), atol=1e-6
    )
