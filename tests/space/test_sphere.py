from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelspace.space import sphere

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
