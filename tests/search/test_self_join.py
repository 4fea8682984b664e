"""Neighbours of all keys among each other, against a dense matrix of all products."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace.search.ivf import IVFIndex
from labelspace.search.self_join import self_join
from labelspace.spaces import sphere


def some_keys(n: int = 200, dim: int = 6) -> np.ndarray:
    return sphere.keys(np.random.default_rng(0).normal(size=(n, dim)).astype(np.float32))


@pytest.mark.parametrize("n_lists", [1, 7])
def test_looking_into_all_lists_finds_what_the_dense_matrix_has(n_lists: int) -> None:
    keys = some_keys()
    index = IVFIndex(keys, n_lists=n_lists, n_probes=n_lists, storage="float32")
    found = self_join(index, len(keys), 5)
    products = keys @ keys.T
    np.fill_diagonal(products, -np.inf)
    expected = np.argsort(-products, axis=1, kind="stable")[:, :5]
    assert np.array_equal(found.ids, expected)
    np.testing.assert_allclose(
        found.products, np.take_along_axis(products, expected, axis=1), atol=1e-5
    )


def test_looking_into_a_few_lists_finds_most() -> None:
    keys = some_keys(2000)
    some = self_join(IVFIndex(keys, n_lists=40, n_probes=12), 2000, 10)
    all_of_them = self_join(IVFIndex(keys, n_lists=1), 2000, 10)
    shared = [
        np.intersect1d(one, other).size
        for one, other in zip(some.ids, all_of_them.ids, strict=True)
    ]
    assert np.mean(shared) > 8.5


def test_ids_without_a_key_have_no_neighbours_and_are_none() -> None:
    ids = np.array([1, 4, 5])
    found = self_join(IVFIndex(some_keys(3), ids, n_lists=1), 7, 4)
    assert np.all(found.ids[[0, 2, 3, 6]] == -1)
    for one in ids:
        assert set(found.ids[one][found.ids[one] >= 0]) == set(ids) - {one}


def test_a_single_key_has_no_neighbour() -> None:
    assert np.all(self_join(IVFIndex(some_keys(1)), 1, 3).ids == -1)


def test_threads_do_not_matter() -> None:
    index = IVFIndex(some_keys(500), n_probes=4)
    one, three = (self_join(index, 500, 5, n_threads) for n_threads in (1, 3))
    assert np.array_equal(one.ids, three.ids)
