"""Compiled loops of the search in inverted lists.

Most of a search is not the products but to keep the largest of them in order, if each is put into a
sorted list as it comes. So products are written down first. How large the last one to be kept is
follows from halving the range that they lie in, and the place of each that is kept from counting
those before it: loops without branches, which run over many numbers at a time.
"""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit

_ID_BITS = np.int64(32)
_LARGEST_ID = np.int64((1 << 31) - 1)


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
        _keep_largest(looked_at[:n_keys], numbers, heights, kept, found[at], products[at])


@njit(cache=True, nogil=True)
def _most_keys(starts, n_probes):
    """Return how many keys the longest lists have together."""
    lengths = np.sort(starts[1:] - starts[:-1])
    return lengths[max(lengths.shape[0] - n_probes, 0) :].sum()


@njit(cache=True, nogil=True)
def _keep_largest(values, ids, heights, kept, found, products):
    """Write the largest values in order, with their ids; the smaller id first on a tie."""
    n, k = values.shape[0], found.shape[0]
    _heights(values, heights[:n])
    least = _kth_largest(heights[:n], k) if n > k else np.int32(-0x80000000)
    n_kept = 0
    for at in range(n):
        # Unlike each other, and larger where the value is, or as large and the id smaller.
        kept[n_kept] = (np.int64(heights[at]) << _ID_BITS) + _LARGEST_ID - ids[at]
        values[n_kept] = values[at]
        n_kept += heights[at] >= least
    if n_kept > k:  # the last ones are as large as each other
        filled = 0
        for at in range(n_kept):
            number = _LARGEST_ID - (kept[at] & _LARGEST_ID)
            filled = insert(found, products, filled, number, values[at])
        return
    for at in range(n_kept):
        own = kept[at]
        place = 0
        for other in range(n_kept):
            place += kept[other] > own
        found[place] = _LARGEST_ID - (own & _LARGEST_ID)
        products[place] = values[at]


@njit(cache=True, nogil=True)
def _heights(values, heights):
    """Write whole numbers that are in the same order as the values."""
    bits = values.view(np.int32)
    for at in range(values.shape[0]):
        size = bits[at] & np.int32(0x7FFFFFFF)
        heights[at] = size if bits[at] >= 0 else -size


@njit(cache=True, nogil=True)
def _kth_largest(heights, k):
    """Return the k-th largest of more than k whole numbers."""
    low, high = heights[0], heights[0]
    for at in range(heights.shape[0]):
        low, high = min(low, heights[at]), max(high, heights[at])
    while low < high:
        middle = np.int32((np.int64(low) + np.int64(high) + 1) >> 1)
        n_above = np.int32(0)
        for at in range(heights.shape[0]):
            n_above = np.int32(n_above + np.int32(heights[at] >= middle))
        if n_above >= k:
            low = middle
        else:
            high = np.int32(middle - 1)
    return low


@njit(cache=True, fastmath=True, nogil=True)
def dot(query, key):
    """Return the inner product of a query and a key, which may be of eight-bit integers."""
    product = np.float32(0.0)
    for t in range(query.shape[0]):
        product += query[t] * np.float32(key[t])
    return product
