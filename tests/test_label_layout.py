"""Layouts of labels by their neighbourhoods, and the regions of a map."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree

from labelspace.label_layout import _push, kept_neighbours, neighbourhood_layout, regions_of


def test_what_labels_push_is_nearly_the_sum_over_all_pairs():
    y = np.random.default_rng(0).normal(scale=6.0, size=(300, 2))
    apart = y[:, np.newaxis] - y[np.newaxis]
    q = 1.0 / (1.0 + (apart**2).sum(axis=2))
    total = q.sum() - len(y)
    exact = (q[:, :, np.newaxis] ** 2 * apart).sum(axis=1) / total
    assert np.linalg.norm(_push(y) - exact) < 0.2 * np.linalg.norm(exact)


@pytest.mark.parametrize("n", [60, 600])
def test_neighbours_on_a_ring_in_many_dimensions_stay_neighbours(n: int):
    rng = np.random.default_rng(0)
    angle = np.sort(rng.random(n)) * 2 * np.pi
    ring = np.column_stack((np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)))
    nearest = cKDTree(ring).query(ring, k=11)[1][:, 1:].astype(np.int64)
    start = rng.random((n, 2))
    places = neighbourhood_layout(nearest, start)
    assert kept_neighbours(nearest, start) < 0.25
    assert kept_neighbours(nearest, places) > 0.6
    assert np.linalg.norm(places, axis=1).max() <= 1 + 1e-6
    assert np.array_equal(places, neighbourhood_layout(nearest, start))


def test_a_label_without_neighbours_has_a_place():
    nearest = np.array([[1, 2], [0, 2], [0, 1], [-1, -1]])
    assert np.isfinite(neighbourhood_layout(nearest, np.eye(4)[:, :2])).all()


def test_regions_are_called_by_their_most_frequent_label():
    rng = np.random.default_rng(0)
    corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) * 0.5
    places = np.repeat(corners, 25, axis=0) + rng.normal(scale=0.02, size=(100, 2))
    counts = np.ones(100, dtype=np.int64)
    counts[[3, 30, 55, 90]] = 9
    found = regions_of(places, counts)
    assert sorted(found.foremost.tolist()) == [3, 30, 55, 90]
    assert len(regions_of(np.zeros((0, 2)), counts[:0]).foremost) == 0
