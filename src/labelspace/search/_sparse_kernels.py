"""Compiled loops of the search among sparse vectors."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def search(indptr, indices, data, key_ptr, key_ids, key_values, offsets, first, last, ids, scores):
    """Fill ``ids`` and ``scores`` of some rows with the keys of largest inner product, best first.

    It holds one score per key, so memory does not grow with the number of rows.
    """
    totals = np.empty(offsets.shape[0], dtype=np.float32)
    for row in range(first, last):
        for key in range(offsets.shape[0]):
            totals[key] = offsets[key]
        for at in range(indptr[row], indptr[row + 1]):
            value = data[at]
            feature = indices[at]
            for place in range(key_ptr[feature], key_ptr[feature + 1]):
                totals[key_ids[place]] += value * key_values[place]
        _keep_largest(totals, ids[row], scores[row])


@njit(cache=True, nogil=True)
def search_from(
    indptr, indices, data, key_ptr, key_ids, key_values, totals, first, last, ids, scores
):
    """Do the same where each row has a score of its own for each key, which is added to."""
    for row in range(first, last):
        own = totals[row]
        for at in range(indptr[row], indptr[row + 1]):
            value = data[at]
            feature = indices[at]
            for place in range(key_ptr[feature], key_ptr[feature + 1]):
                own[key_ids[place]] += value * key_values[place]
        _keep_largest(own, ids[row], scores[row])


@njit(cache=True, nogil=True)
def _keep_largest(totals, ids, scores):
    """Keep a sorted list of the largest; keys come in order, so a tie leaves the earlier one."""
    k = ids.shape[0]
    filled = 0
    floor = np.float32(-np.inf)
    for key in range(totals.shape[0]):
        score = totals[key]
        if filled == k and score <= floor:
            continue
        filled = insert(ids, scores, filled, key, score)
        floor = scores[k - 1]
