"""Compiled loops of the top-k answers and the metrics."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

_ID_BITS = np.int64(32)
_LARGEST_ID = np.int64((1 << 31) - 1)


@njit(cache=True, nogil=True)
def insert(labels, scores, filled, label, score):
    """Insert into a short sorted list of ``filled`` labels; return how many it has then.

    Larger score first, smaller label on a tie; what does not fit falls off the end.
    """
    k = labels.shape[0]
    place = filled if filled < k else k
    while place > 0 and (
        scores[place - 1] < score or (scores[place - 1] == score and labels[place - 1] > label)
    ):
        if place < k:
            scores[place] = scores[place - 1]
            labels[place] = labels[place - 1]
        place -= 1
    if place < k:
        scores[place] = score
        labels[place] = label
    return filled + 1 if filled < k else k


@njit(cache=True, nogil=True)
def keep_largest(values, ids, heights, kept, found, products):
    """Write the largest values in order, with their ids; the smaller id first on a tie.

    To insert many values into a long list one by one takes more time than to make them did. Here
    the smallest of those to be kept is found by halving the range in which it lies, and the place
    of each by counting those before it: loops without branches, over many numbers at a time.

    ``heights`` (int32) and ``kept`` (int64) are room to work in, as long as ``values``, which are
    not the same afterwards; ids are below 2³¹.
    """
    n, k = values.shape[0], found.shape[0]
    write_heights(values, heights[:n])
    least = kth_largest(heights[:n], k) if n > k else np.int32(-0x80000000)
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
def write_heights(values, heights):
    """Write whole numbers, made of the bits of float32 values, that have the same order."""
    bits = values.view(np.int32)
    for at in range(values.shape[0]):
        size = bits[at] & np.int32(0x7FFFFFFF)
        heights[at] = size if bits[at] >= 0 else -size


@njit(cache=True, nogil=True)
def kth_largest(heights, k):
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


@njit(cache=True, nogil=True)
def topk_csr(indptr, indices, data, first, last, labels, scores):
    for row in range(first, last):
        filled = 0
        for at in range(indptr[row], indptr[row + 1]):
            filled = insert(labels[row], scores[row], filled, np.int64(indices[at]), data[at])


@njit(cache=True, nogil=True)
def topk_dense(block, first, last, labels, scores):
    for row in range(first, last):
        filled = 0
        for column in range(block.shape[1]):
            filled = insert(labels[row], scores[row], filled, column, block[row, column])


@njit(cache=True, nogil=True)
def hits(indptr, indices, labels):
    """Tell for each ranked label whether it is true; a label named twice counts once."""
    n_rows, k = labels.shape
    hits = np.zeros((n_rows, k), dtype=np.bool_)
    for row in range(n_rows):
        for at in range(k):
            label = labels[row, at]
            # The labels of a row are sorted.
            low, high = indptr[row], indptr[row + 1]
            while low < high:
                middle = (low + high) >> 1
                if indices[middle] < label:
                    low = middle + 1
                else:
                    high = middle
            if low < indptr[row + 1] and indices[low] == label:
                repeated = False
                for before in range(at):
                    repeated |= labels[row, before] == label
                hits[row, at] = not repeated
    return hits


@njit(cache=True, nogil=True)
def largest_gains(indptr, indices, weights, k):
    """Return the k largest weights among each row's labels: the best attainable ranking."""
    n_rows = indptr.shape[0] - 1
    best = np.zeros((n_rows, k))
    labels = np.empty((n_rows, k), dtype=np.int64)
    for row in range(n_rows):
        filled = 0
        for at in range(indptr[row], indptr[row + 1]):
            label = indices[at]
            filled = insert(labels[row], best[row], filled, label, weights[label])
    return best
