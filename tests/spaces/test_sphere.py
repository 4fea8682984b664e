from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelspace.spaces import sphere

rows = arrays(np.float64, (5, 3), elements=st.floats(-100, 100, width=32))


@given(rows)
def test_rows_have_length_one_or_zero(Z: np.ndarray) -> None:
    U, norms = sphere.project(Z)
    lengths = np.linalg.norm(U, axis=1)
    assert np.allclose(lengths[norms[:, 0] > 1e-6], 1.0)
    assert np.all(lengths < 1.0 + 1e-6)


@given(rows)
def test_largest_inner_product_is_smallest_angle(Z: np.ndarray) -> None:
    Z = Z + np.array([1000.0, 0.0, 0.0])
    cosines = sphere.queries(Z) @ sphere.keys(Z).T
    norms = np.linalg.norm(Z, axis=1)
    assert np.allclose(cosines, Z @ Z.T / np.outer(norms, norms))


def test_gradient_through_a_zero_vector_is_zero() -> None:
    Z = np.zeros((1, 3), dtype=np.float32)
    U, norms = sphere.project(Z)
    assert np.array_equal(sphere.pull_back(np.ones_like(Z), U, norms), Z)


def _unit(Z: np.ndarray) -> np.ndarray:
    return sphere.project(Z + np.array([0.0, 0.0, 1e-3]))[0]


@given(rows)
def test_distance_is_a_metric(Z: np.ndarray) -> None:
    U = _unit(Z)
    d = sphere.distance(U[:, np.newaxis], U)
    assert np.allclose(d, d.T)
    assert np.all(np.diag(d) < 1e-12)
    assert np.all(d[0, 2] <= d[0, 1] + d[1, 2] + 1e-9)
    assert np.allclose(np.cos(d), np.clip(U @ U.T, -1, 1))


@given(rows)
def test_log_and_exp_undo_each_other(Z: np.ndarray) -> None:
    u, v = _unit(Z)[:2]
    if sphere.distance(u, v) > 3.1:
        return  # from the opposite point every way is a shortest one
    assert np.allclose(sphere.exp_map(u, sphere.log_map(u, v)), v, atol=1e-7)


@given(rows)
def test_gradient_is_that_of_differences(Z: np.ndarray) -> None:
    u, v = _unit(Z)[:2]
    if not 1e-2 < sphere.distance(u, v) < 3.1:
        return
    step = 1e-6 * np.eye(3)
    ahead, behind = sphere.project(u + step)[0], sphere.project(u - step)[0]
    slopes = (sphere.distance(ahead, v) - sphere.distance(behind, v)) / 2e-6
    assert np.allclose(sphere.distance_gradient(u, v), slopes, atol=1e-5)
