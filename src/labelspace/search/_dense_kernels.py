"""Compiled loops of the search among dense vectors."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelspace._kernels import insert


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
            product = _dot(query, centroids[number])
            filled = insert(probes, nearness, filled, number, product)
        filled = 0
        for probe in range(n_probes):
            number = probes[probe]
            for place in range(starts[number], starts[number + 1]):
                product = _dot(query, keys[place]) * scales[place]
                if filled < n_neighbors or product >= products[at, n_neighbors - 1]:
                    filled = insert(found[at], products[at], filled, ids[place], product)


@njit(cache=True, fastmath=True, nogil=True)
def _dot(query, key):
    product = np.float32(0.0)
    for t in range(query.shape[0]):
        product += query[t] * np.float32(key[t])
    return product


@njit(cache=True, fastmath=True, nogil=True)
def compare(queries, places, keys, scales, products):
    """Fill ``products`` of each query with the keys at its ``places``; -inf where there is none."""
    for at in range(queries.shape[0]):
        for number in range(places.shape[1]):
            place = places[at, number]
            if place < 0:
                products[at, number] = -np.inf
            else:
                products[at, number] = _dot(queries[at], keys[place]) * scales[place]
