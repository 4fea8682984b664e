from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import labelspace
from labelspace import store
from labelspace.models import Hyperbolic
from labelspace.models.hyperbolic.metric_index import KINDS, SPACES, MetricIndex
from labelspace.spaces import poincare, sphere


def _points(space: str, n: int = 400) -> np.ndarray:
    Z = 2.0 * np.random.default_rng(0).standard_normal((n, 4))
    if space == "poincare":
        return poincare.lift(Z)[0].astype(np.float32)
    return sphere.project(Z.astype(np.float32))[0] if space == "sphere" else Z.astype(np.float32)


@pytest.mark.parametrize("space", SPACES)
def test_exact_search_finds_the_nearest_with_their_distances(space: str) -> None:
    points = _points(space)
    found = MetricIndex(space, points, 1000 + np.arange(len(points))).search(points[:50], 5)
    distances = SPACES[space].distance(points[:50, np.newaxis], points)
    assert np.allclose(-found.products, np.sort(distances, axis=1)[:, :5], atol=1e-5)
    assert np.array_equal(found.ids[:, 0], 1000 + np.arange(50))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "exact"])
def test_quicker_searches_find_most_of_them(space: str, kind: str) -> None:
    points = _points(space, 1000)
    exact = MetricIndex(space, points).search(points, 10)
    quick = MetricIndex(space, points, search=kind, n_lists=16, n_probes=8).search(points, 10)
    same = [len(np.intersect1d(a, b)) for a, b in zip(exact.ids, quick.ids, strict=True)]
    assert np.mean(same) > 9
    shared = exact.ids[:, 0] == quick.ids[:, 0]
    assert np.allclose(exact.products[shared, 0], quick.products[shared, 0])


def in_lists(index: MetricIndex, query: np.ndarray, n_lists: int) -> int:
    """Return how many points the lists nearest to a query have."""
    nearest = np.argsort(SPACES[index.space].distance(query, index.centroids))[:n_lists]
    return int(np.diff(index.starts)[nearest].sum())


def test_there_is_a_centroid_for_3000_points() -> None:
    points = poincare.lift(np.random.default_rng(0).standard_normal((6000, 2)))[0]
    n_lists = [
        len(MetricIndex("poincare", points[:n], search="centroids").centroids)
        for n in (100, 5999, 6000)
    ]
    assert n_lists == [1, 1, 2]
    index = MetricIndex("poincare", points, search="centroids", n_probes=1)
    found = index.search(points[:1], 6000).ids
    assert 0 < np.sum(found >= 0) == in_lists(index, points[0], 1) < 6000


@pytest.mark.parametrize(("n_points", "n_lists"), [(26_999, 8), (30_000, 10)])
def test_the_paper_looks_into_eight_lists_which_from_27000_points_on_are_not_all(
    n_points: int, n_lists: int
) -> None:
    told = Hyperbolic(preset="paper")._resolved(
        csr_matrix((n_points, 5)), csr_matrix((n_points, 2))
    )
    points = poincare.lift(np.random.default_rng(0).standard_normal((n_points, 2)))[0]
    index = MetricIndex(told.space, points, search=told.search, n_probes=told.n_probes)
    assert len(index.centroids) == n_lists
    found = index.search(points[:1], n_points).ids
    assert np.sum(found >= 0) == in_lists(index, points[0], 8)
    assert (np.sum(found >= 0) == n_points) == (n_lists == 8)


@pytest.mark.parametrize("kind", ["exact", "centroids"])
def test_distances_are_right_near_the_edge(kind: str) -> None:
    angles = np.linspace(0.0, 0.1, 200)
    points = (1.0 - 1e-5) * np.column_stack((np.cos(angles), np.sin(angles)))
    points = points.astype(np.float32)
    found = MetricIndex("poincare", points, search=kind).search(points, 3)
    true = np.sort(poincare.distance(points[:, np.newaxis], points), axis=1)[:, :3]
    assert np.allclose(-found.products, true, atol=1e-5)


def test_an_index_of_nothing_finds_nothing() -> None:
    empty = MetricIndex("poincare", np.zeros((0, 3)))
    assert empty.search(np.zeros((2, 3)), 4).ids.shape == (2, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_index_answers_as_before(kind: str, tmp_path: Path) -> None:
    points = _points("poincare")
    index = MetricIndex("poincare", points, search=kind)
    store.save(index, tmp_path / "index")
    again = labelspace.load(tmp_path / "index")
    assert np.array_equal(again.search(points, 3).ids, index.search(points, 3).ids)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_added_points_are_found(space: str, kind: str) -> None:
    points = _points(space)
    index = MetricIndex(space, points[:200], search=kind, n_lists=4, n_probes=4)
    index.add(points[200:], np.arange(200, len(points)))
    whole = MetricIndex(space, points).search(points, 5)
    assert np.array_equal(index.search(points, 5).ids, whole.ids)
