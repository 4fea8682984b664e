"""Compiled loops of the search in inverted lists."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert, keep_largest
from labelspace.compiling import njit


@njit(cache=True, fastmath=True, nogil=True)
def search_lists(queries, centroids, n_probes, starts, keys, scales, ids, found, products):
    """Fill ``found`` and ``products`` from the lists whose centroids are nearest to each query."""
    probes = np.empty(n_probes, dtype=np.int64)
    nearness = np.empty(n_probes, dtype=np.float32)
    looked_at = np.empty(_most_keys(starts, n_probes), dtype=np.float32)
    heights = np.empty(looked_at.shape[0], dtype=np.int32)
    numbers = np.empty(looked_at.shape[0], dtype=np.int32)
    kept = np.empty(looked_at.shape[0], dtype=np.int64)
    for at in range(queries.shape[0]):
        query = queries[at]
        filled = 0
        for number in range(centroids.shape[0]):
            product = dot(query, centroids[number])
            if filled < n_probes or product >= nearness[n_probes - 1]:
                filled = insert(probes, nearness, filled, number, product)
        n_keys = 0
        for probe in range(n_probes):
            number = probes[probe]
            for position in range(starts[number], starts[number + 1]):
                looked_at[n_keys] = dot(query, keys[position]) * scales[position]
                numbers[n_keys] = ids[position]
                n_keys += 1
        keep_largest(looked_at[:n_keys], numbers, heights, kept, found[at], products[at])


@njit(cache=True, nogil=True)
def _most_keys(starts, n_probes):
    """Return how many keys the longest lists have together."""
    lengths = np.sort(starts[1:] - starts[:-1])
    return lengths[max(lengths.shape[0] - n_probes, 0) :].sum()


@njit(cache=True, fastmath=True, nogil=True)
def dot(query, key):
    """Return the inner product of a query and a key, which may be of eight-bit integers."""
    product = np.float32(0.0)
    for t in range(query.shape[0]):
        product += query[t] * np.float32(key[t])
    return product
