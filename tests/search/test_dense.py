"""What every index over dense vectors must do, against looking at all keys."""

from __future__ import annotations

from pathlib import Path

import faiss
import numpy as np
import pytest

from labelspace import store
from labelspace.search.exact import ExactIndex
from labelspace.search.ivf import IVFIndex
from labelspace.spaces import sphere

KINDS = [ExactIndex, IVFIndex]
every_index = pytest.mark.parametrize("kind", KINDS)


def points(n: int, seed: int = 0, dim: int = 16) -> np.ndarray:
    rng = np.random.default_rng(seed)
    middles = np.random.default_rng(99).standard_normal((20, dim))
    near = middles[rng.integers(20, size=n)] + 0.4 * rng.standard_normal((n, dim))
    return sphere.keys(near.astype(np.float32))


def recall(found: np.ndarray, queries: np.ndarray, keys: np.ndarray) -> float:
    n = found.shape[1]
    best = np.argsort(-(queries @ keys.T), axis=1)[:, :n]
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(found, best, strict=True)]))


@every_index
def test_finds_the_neighbors_best_first(kind) -> None:
    keys, queries = points(2000), points(50, seed=1)
    found = kind(keys).search(queries, 10)
    assert found.ids.shape == found.products.shape == (50, 10)
    assert recall(found.ids, queries, keys) >= (1.0 if kind is ExactIndex else 0.9)
    assert np.all(np.diff(found.products, axis=1) <= 1e-6)
    exact = np.take_along_axis(queries @ keys.T, found.ids, axis=1)
    assert np.allclose(found.products, exact, atol=0.02)


def test_all_lists_looked_into_is_exact() -> None:
    keys, queries = points(2000), points(50, seed=1)
    index = IVFIndex(keys, n_lists=30, n_probes=30, storage="float32")
    assert recall(index.search(queries, 10).ids, queries, keys) == 1.0


@pytest.mark.parametrize("n_neighbors", [1, 7, 40, 200])
def test_of_keys_as_near_the_smaller_ids_come_first(n_neighbors: int) -> None:
    keys = np.repeat(points(40), 4, axis=0)
    ids = np.random.default_rng(0).permutation(len(keys)) + 5
    queries = np.concatenate((points(20, seed=1), np.zeros((1, 16), np.float32), -keys[:1]))
    found = IVFIndex(keys, ids, n_lists=1, storage="float32").search(queries, n_neighbors)
    for products, got in zip(found.products, found.ids, strict=True):
        assert got.tolist() == [number for _, number in sorted(zip(-products, got, strict=True))]
    if n_neighbors < len(keys):
        assert found.ids[20].tolist() == (5 + np.arange(n_neighbors)).tolist()


@every_index
def test_added_keys_are_found_at_once(kind) -> None:
    keys = points(500)
    new = sphere.keys(np.eye(3, 16, dtype=np.float32) * 5 + 0.01)
    index = kind(keys, np.arange(500) + 1000)
    index.add(new, np.array([7, 8, 9]))
    assert index.n_keys == 503
    assert index.search(new, 1).ids[:, 0].tolist() == [7, 8, 9]
    old = index.search(keys[:50], 1)
    assert np.mean(old.ids[:, 0] == np.arange(50) + 1000) > 0.9


@every_index
def test_keys_can_be_asked_back_by_id(kind) -> None:
    keys = points(200)
    ids = np.random.default_rng(0).permutation(1000)[:200]
    got = kind(keys, ids).vectors(ids[[5, 17, 3]])
    assert np.allclose(got, keys[[5, 17, 3]], atol=0.01)


@every_index
@pytest.mark.parametrize("missing", [-1, 4, 100])
def test_a_key_that_is_not_there_is_not_taken_for_another(kind, missing: int) -> None:
    ids = np.array([1, 3, 5, 7])
    with pytest.raises(KeyError, match=f"no key {missing} "):
        kind(points(4), ids).vectors(np.array([3, missing]))
    empty = kind(np.zeros((0, 16), dtype=np.float32), ids[:0])
    with pytest.raises(KeyError, match=f"no key {missing} "):
        empty.vectors(np.array([missing]))


def test_where_products_are_no_numbers_no_key_is_found() -> None:
    found = ExactIndex(points(4)).search(np.full((1, 16), np.nan, dtype=np.float32), 2)
    assert set(found.ids[0].tolist()) <= {-1, 0, 1, 2, 3}
    given = found.ids[found.ids >= 0]
    assert np.unique(given).size == given.size


@every_index
def test_saved_and_loaded_it_finds_the_same(kind, tmp_path: Path) -> None:
    keys, queries = points(500), points(20, seed=1)
    index = kind(keys)
    store.save(index, tmp_path / "index")
    loaded = store.load(tmp_path / "index")
    expected, got = index.search(queries, 5), loaded.search(queries, 5)
    assert np.array_equal(got.ids, expected.ids)
    assert np.array_equal(got.products, expected.products)


@every_index
@pytest.mark.parametrize("n_keys", [0, 1, 3])
def test_few_keys(kind, n_keys: int) -> None:
    keys = points(n_keys) if n_keys else np.zeros((0, 16), dtype=np.float32)
    found = kind(keys).search(points(4, seed=1), 10)
    assert found.ids.shape == (4, n_keys)
    assert np.all(np.sort(found.ids, axis=1) == np.arange(n_keys))


@every_index
def test_no_queries(kind) -> None:
    assert kind(points(30)).search(np.zeros((0, 16), dtype=np.float32), 5).ids.shape == (0, 5)


def test_equal_keys_come_in_the_order_of_their_ids() -> None:
    keys = np.tile(points(1), (10, 1))
    ids = np.arange(10)[::-1].copy()
    assert IVFIndex(keys, ids, n_lists=1).search(keys[:1], 4).ids.tolist() == [[0, 1, 2, 3]]


def test_lists_are_the_same_on_any_number_of_threads() -> None:
    # Labels with the same rows are as near to one centroid as to another, but for rounding.
    rng = np.random.default_rng(0)
    keys = rng.standard_normal((300, 129), dtype=np.float32)[rng.integers(0, 300, 4000)]
    before = faiss.omp_get_max_threads()
    built = []
    try:
        for n_threads in (1, 2, 3):
            faiss.omp_set_num_threads(n_threads)
            built.append(IVFIndex(sphere.keys(keys), seed=1))
    finally:
        faiss.omp_set_num_threads(before)
    for one in built[1:]:
        np.testing.assert_array_equal(one.centroids, built[0].centroids)
        np.testing.assert_array_equal(one.ids, built[0].ids)
