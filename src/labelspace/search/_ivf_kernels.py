"""Compiled loops of the search in inverted lists."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit


@njit(cache=True, fastmath=True, nogil=True)
def search_lists(queries, centroids, n_probes, starts, keys, scales, ids, found, products):
    """Fill ``found`` and ``products`` from the lists whose centroids are nearest to each query."""
    n_neighbors = found.shape[1]
    probes = np.empty(n_probes, dtype=np.int64)
    nearness = np.empty(n_probes, dtype=np.float32)
    for at in range(queries.shape[0]):
        query = queries[at]
        filled = 0
        for number in range(centroids.shape[0]):
            product = dot(query, centroids[number])
            filled = insert(probes, nearness, filled, number, product)
        filled = 0
        for probe in range(n_probes):
            number = probes[probe]
            for position in range(starts[number], starts[number + 1]):
                product = dot(query, keys[position]) * scales[position]
                if filled < n_neighbors or product >= products[at, n_neighbors - 1]:
                    filled = insert(
                        found[at], products[at], filled, np.int64(ids[position]), product
                    )


@njit(cache=True, fastmath=True, nogil=True)
def dot(query, key):
    """Return the inner product of a query and a key, which may be of eight-bit integers."""
    product = np.float32(0.0)
    for t in range(query.shape[0]):
        product += query[t] * np.float32(key[t])
    return product
