from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelspace.spaces import euclidean

rows = arrays(np.float64, (4, 3), elements=st.floats(-100, 100, width=32))


@given(rows)
def test_distance_is_a_metric(Z: np.ndarray) -> None:
    d = euclidean.distance(Z[:, np.newaxis], Z)
    assert np.array_equal(d, d.T)
    assert np.all(np.diag(d) == 0)
    assert np.all(d[0, 2] <= d[0, 1] + d[1, 2] + 1e-9)


@given(rows)
def test_gradient_points_away_with_length_one(Z: np.ndarray) -> None:
    gradient = euclidean.distance_gradient(Z[0], Z[1])
    assert np.isfinite(gradient).all()
    assert np.allclose(gradient * euclidean.distance(Z[0], Z[1]), Z[0] - Z[1])


@given(rows)
def test_log_and_exp_undo_each_other(Z: np.ndarray) -> None:
    assert np.allclose(euclidean.exp_map(Z[0], euclidean.log_map(Z[0], Z[1])), Z[1])
    assert np.all(euclidean.metric_factor(Z) == 1.0)
    assert np.array_equal(euclidean.project(Z)[0], Z)
