"""The search from coarse to fine, and its kernels."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace.models.glas import _coarse_to_fine_kernels
from labelspace.models.glas.coarse_to_fine import CoarseToFineIndex, principal_directions
from labelspace.search.exact import ExactIndex


def test_keys_at_random_are_found_where_lists_would_miss_them():
    rng = np.random.default_rng(0)
    keys = rng.standard_normal((3000, 201)).astype(np.float32)
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    # Queries are sums of a few keys, as rows are of their labels, and some labels are frequent.
    own = (3000 * rng.random((300, 3)) ** 4).astype(int)
    queries = keys[own].sum(axis=1)
    directions = principal_directions(queries[50:, :-1], 64)
    index = CoarseToFineIndex(keys, np.arange(3000) + 7, directions, storage="float32")
    found = index.search(queries[:50], 3)
    expected = ExactIndex(keys, np.arange(3000) + 7).search(queries[:50], 3)
    same = found.ids == expected.ids
    assert same.mean() > 0.95
    assert np.allclose(found.products[same], expected.products[same], atol=1e-5)


def test_a_bias_counts_in_full_and_few_keys_are_all_looked_at():
    keys = np.zeros((6, 5), dtype=np.float32)
    keys[:, -1] = [0.0, 3.0, 1.0, 5.0, 2.0, 4.0]
    index = CoarseToFineIndex(keys, np.arange(6), np.eye(4, 2, dtype=np.float32), storage="float32")
    query = np.zeros((1, 5), dtype=np.float32)
    query[0, -1] = 2.0
    found = index.search(query, 9)
    assert found.ids[0, :6].tolist() == [3, 5, 1, 4, 2, 0]
    assert found.products[0, 0] == 10.0
    assert np.array_equal(index.vectors(np.array([3, 1])), keys[[3, 1]])


@pytest.mark.parametrize("ordered", ["rising", "falling", "at random", "all the same"])
def test_candidates_are_the_best_whatever_the_order_of_keys(ordered):
    values = np.random.default_rng(0).standard_normal(100).astype(np.float32)
    if ordered == "all the same":
        values[:] = 1.0
    elif ordered != "at random":
        values = np.sort(values)[:: 1 if ordered == "rising" else -1]
    candidates = np.empty((2, 7), dtype=np.int64)
    keys, scales = np.ascontiguousarray(values[:, None]), np.ones(100, dtype=np.float32)
    queries = np.array([[1.0], [-1.0]], dtype=np.float32)
    _coarse_to_fine_kernels.select_candidates(queries, keys, scales, candidates)
    for sign, row in zip((1, -1), candidates, strict=True):
        assert len(set(row.tolist())) == 7
        assert np.array_equal(np.sort(sign * values[row]), np.sort(sign * values)[-7:])


def test_directions_are_at_right_angles_and_longest_first():
    queries = np.random.default_rng(0).standard_normal((40, 9)).astype(np.float32)
    found = principal_directions(queries, 30)
    assert np.allclose(found.T @ found, np.eye(9), atol=1e-5)
    lengths = np.linalg.norm(queries @ found, axis=0)
    assert (np.diff(lengths) < 1e-5).all()
