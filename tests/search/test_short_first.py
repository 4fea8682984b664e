from __future__ import annotations

import numpy as np

from labelspace.search.exact import ExactIndex
from labelspace.search.short_first import ShortFirst


def test_random_vectors_are_found_where_lists_would_miss_them():
    rng = np.random.default_rng(0)
    keys = rng.standard_normal((3000, 200)).astype(np.float32)
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    # Queries are sums of a few keys, as rows are of their labels.
    own = rng.integers(3000, size=(50, 3))
    queries = keys[own].sum(axis=1)
    index = ShortFirst(keys, np.arange(3000) + 7, storage="float32")
    found = index.search(queries, 3)
    expected = ExactIndex(keys, np.arange(3000) + 7).search(queries, 3)
    assert np.mean(found.ids == expected.ids) > 0.97
    same = found.ids == expected.ids
    assert np.allclose(found.products[same], expected.products[same], atol=1e-5)


def test_a_bias_counts_in_full_and_few_keys_are_all_looked_at():
    keys = np.zeros((6, 5), dtype=np.float32)
    keys[:, -1] = [0.0, 3.0, 1.0, 5.0, 2.0, 4.0]
    index = ShortFirst(keys, np.arange(6), storage="float32")
    query = np.zeros((1, 5), dtype=np.float32)
    query[0, -1] = 2.0
    found = index.search(query, 9)
    assert found.ids[0, :6].tolist() == [3, 5, 1, 4, 2, 0]
    assert found.products[0, 0] == 10.0
    assert np.array_equal(index.vectors(np.array([3, 1])), keys[[3, 1]])
