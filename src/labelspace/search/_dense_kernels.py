"""Compiled loops of the search among dense vectors."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelspace._topk_kernels import insert


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


@njit(cache=True, fastmath=True, nogil=True)
def best_places(queries, keys, scales, places):
    """Fill ``places`` of each query with the keys of the largest products, in no order.

    Keys wait in a buffer of twice the wanted length. When it is full, the better half stays and
    tells what a key must reach to come in: far less work than to keep a long list in order.
    """
    n_wanted = places.shape[1]
    waiting = np.empty(2 * n_wanted, dtype=np.int64)
    products = np.empty(2 * n_wanted, dtype=np.float32)
    for at in range(queries.shape[0]):
        filled = 0
        least = np.float32(-np.inf)
        for place in range(keys.shape[0]):
            product = _dot(queries[at], keys[place]) * scales[place]
            if filled < n_wanted or product > least:
                waiting[filled] = place
                products[filled] = product
                filled += 1
                if filled == waiting.shape[0]:
                    least = _keep_best(waiting, products, filled, n_wanted)
                    filled = n_wanted
        if filled > n_wanted:
            _keep_best(waiting, products, filled, n_wanted)
        places[at] = waiting[:n_wanted]


@njit(cache=True, nogil=True)
def _keep_best(waiting, products, filled, n_wanted):
    """Move the ``n_wanted`` largest to the front; return the least of them."""
    place = filled - n_wanted
    least = np.partition(products[:filled], place)[place]
    n_ties = n_wanted - np.sum(products[:filled] > least)
    kept = 0
    for at in range(filled):
        is_tie = products[at] == least
        if products[at] > least or (is_tie and n_ties > 0):
            n_ties -= is_tie
            waiting[kept] = waiting[at]
            products[kept] = products[at]
            kept += 1
    return least
