from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import labelspace
from labelspace import store
from labelspace.models.hyperbolic.metric_index import KINDS, SPACES, MetricIndex
from labelspace.spaces import poincare, sphere


def _places(space: str, n: int = 400) -> np.ndarray:
    Z = 2.0 * np.random.default_rng(0).standard_normal((n, 4))
    if space == "poincare":
        return poincare.lift(Z)[0].astype(np.float32)
    return sphere.project(Z.astype(np.float32))[0] if space == "sphere" else Z.astype(np.float32)


@pytest.mark.parametrize("space", SPACES)
def test_exact_search_finds_the_nearest_with_their_distances(space: str) -> None:
    places = _places(space)
    found = MetricIndex(space, places, 1000 + np.arange(len(places))).search(places[:50], 5)
    distances = SPACES[space].distance(places[:50, np.newaxis], places)
    assert np.allclose(-found.products, np.sort(distances, axis=1)[:, :5], atol=1e-5)
    assert np.array_equal(found.ids[:, 0], 1000 + np.arange(50))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "exact"])
def test_quicker_searches_find_most_of_them(space: str, kind: str) -> None:
    places = _places(space, 1000)
    exact = MetricIndex(space, places).search(places, 10)
    quick = MetricIndex(space, places, search=kind, n_lists=16, n_probes=8).search(places, 10)
    same = [len(np.intersect1d(a, b)) for a, b in zip(exact.ids, quick.ids, strict=True)]
    assert np.mean(same) > 9
    shared = exact.ids[:, 0] == quick.ids[:, 0]
    assert np.allclose(exact.products[shared, 0], quick.products[shared, 0])


@pytest.mark.parametrize(
    ("kind", "edge"), [("exact", 1e-5), ("centroids", 1e-5), ("clustered", 1e-2)]
)
def test_distances_are_right_near_the_edge(kind: str, edge: float) -> None:
    """Nearer to the edge than that, the float32 products of the shared index say nothing."""
    angles = np.linspace(0.0, 0.1, 200)
    places = (1.0 - edge) * np.column_stack((np.cos(angles), np.sin(angles)))
    places = places.astype(np.float32)
    found = MetricIndex("poincare", places, search=kind).search(places, 3)
    true = np.sort(poincare.distance(places[:, np.newaxis], places), axis=1)[:, :3]
    assert np.allclose(-found.products, true, atol=1e-5)


def test_an_index_of_nothing_finds_nothing() -> None:
    empty = MetricIndex("poincare", np.zeros((0, 3)))
    assert empty.search(np.zeros((2, 3)), 4).ids.shape == (2, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_index_answers_as_before(kind: str, tmp_path: Path) -> None:
    places = _places("poincare")
    index = MetricIndex("poincare", places, search=kind)
    store.save(index, tmp_path / "index")
    again = labelspace.load(tmp_path / "index")
    assert np.array_equal(again.search(places, 3).ids, index.search(places, 3).ids)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kind", KINDS)
def test_added_places_are_found(space: str, kind: str) -> None:
    places = _places(space)
    index = MetricIndex(space, places[:200], search=kind, n_lists=4, n_probes=4)
    index.add(places[200:], np.arange(200, len(places)))
    whole = MetricIndex(space, places).search(places, 5)
    assert np.array_equal(index.search(places, 5).ids, whole.ids)
