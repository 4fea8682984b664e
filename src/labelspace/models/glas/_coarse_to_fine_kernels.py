"""Compiled loops of the search that goes from short keys to whole ones."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit
from labelspace.search._ivf_kernels import dot


@njit(cache=True, fastmath=True, nogil=True)
def select_candidates(queries, keys, scales, candidates):
    """Fill ``candidates`` of each query with the keys of the largest products, in no order.

    Keys wait in a buffer of twice the wanted length. When it is full, the better half stays and
    tells what a key must reach to come in: far less work than to keep a long list in order.
    """
    n_candidates = candidates.shape[1]
    waiting = np.empty(2 * n_candidates, dtype=np.int64)
    products = np.empty(2 * n_candidates, dtype=np.float32)
    for at in range(queries.shape[0]):
        filled = 0
        least = np.float32(-np.inf)
        for key in range(keys.shape[0]):
            product = dot(queries[at], keys[key]) * scales[key]
            if filled < n_candidates or product > least:
                waiting[filled] = key
                products[filled] = product
                filled += 1
                if filled == waiting.shape[0]:
                    least = _keep_best(waiting, products, filled, n_candidates)
                    filled = n_candidates
        if filled > n_candidates:
            _keep_best(waiting, products, filled, n_candidates)
        candidates[at] = waiting[:n_candidates]


@njit(cache=True, fastmath=True, nogil=True)
def rescore(queries, candidates, keys, scales, products):
    """Fill ``products`` of each query with its ``candidates`` among the keys."""
    for at in range(queries.shape[0]):
        for number in range(candidates.shape[1]):
            key = candidates[at, number]
            products[at, number] = dot(queries[at], keys[key]) * scales[key]


@njit(cache=True, nogil=True)
def _keep_best(waiting, products, filled, n_best):
    """Move the ``n_best`` largest to the front; return the least of them."""
    rank = filled - n_best
    least = np.partition(products[:filled], rank)[rank]
    n_ties = n_best - np.sum(products[:filled] > least)
    kept = 0
    for at in range(filled):
        is_tie = products[at] == least
        if products[at] > least or (is_tie and n_ties > 0):
            n_ties -= is_tie
            waiting[kept] = waiting[at]
            products[kept] = products[at]
            kept += 1
    return least
