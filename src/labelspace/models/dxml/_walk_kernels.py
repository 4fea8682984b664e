"""Compiled loops of random walks."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit
from labelspace.graph._kernels import mixed

_SPAN = 1.0 / 4294967296.0


@njit(cache=True, nogil=True)
def walk(start, end, indptr, indices, cumulative, seed, walks):
    """Walk on from the first node of walks start..end.

    ``cumulative`` has the weights added up along each row; it is empty if all are equal.
    """
    weighted = cumulative.shape[0] > 0
    for number in range(start, end):
        node = walks[number, 0]
        for step in range(1, walks.shape[1]):
            first, last = indptr[node], indptr[node + 1]
            if first == last:
                break
            drawn = mixed(seed, number, step) * _SPAN
            if weighted:
                at = _first_above(cumulative, first, last, drawn * cumulative[last - 1])
            else:
                at = first + np.int64(drawn * (last - first))
            node = indices[at]
            walks[number, step] = node


@njit(cache=True, nogil=True)
def _first_above(cumulative, first, last, drawn):
    """Return where the cumulative weight is first above ``drawn``."""
    low, high = first, last - 1
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > drawn:
            high = middle
        else:
            low = middle + 1
    return low
