from __future__ import annotations

import numpy as np

from labelspace.search.exact import ExactIndex
from labelspace.search.head_first import HeadFirst


def unit(rng, n, dim=16):
    drawn = rng.standard_normal((n, dim)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def test_the_head_is_never_missed_and_all_lists_make_it_exact():
    rng = np.random.default_rng(0)
    keys, queries = unit(rng, 500), unit(rng, 40)
    ids, counts = np.arange(500) + 1000, rng.permutation(500)
    one = HeadFirst(keys, ids, counts, n_head=50, n_probes=1, storage="float32")
    best = keys @ queries.T
    head = np.argsort(-counts)[:50]
    found = one.search(queries, 5)
    for query in range(40):
        beyond = head[best[head, query] > found.products[query, -1] + 1e-5] + 1000
        assert np.isin(beyond, found.ids[query]).all()
    every = HeadFirst(keys, ids, counts, n_head=50, n_probes=500, storage="float32")
    expected = ExactIndex(keys, ids).search(queries, 7)
    assert np.array_equal(every.search(queries, 7).ids, expected.ids)
    assert np.allclose(every.search(queries, 7).products, expected.products, atol=1e-5)


def test_keys_are_given_back_and_few_keys_are_all_head():
    rng = np.random.default_rng(0)
    keys = unit(rng, 30)
    index = HeadFirst(keys, np.arange(30), np.ones(30, dtype=int), n_head=8, storage="float32")
    assert np.allclose(index.vectors(np.array([3, 29, 8])), keys[[3, 29, 8]])
    small = HeadFirst(keys, np.arange(30), np.ones(30, dtype=int))
    assert small.n_keys == 30
    found = small.search(keys[:2], 50)
    assert found.ids[:, 0].tolist() == [0, 1]
    assert (np.sort(found.ids, axis=1)[:, -30:] == np.arange(30)).all()
