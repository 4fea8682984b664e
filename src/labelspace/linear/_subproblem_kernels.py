"""What the compiled solvers share: the small problem of one label, cut out of all rows.

A label's rows are copied side by side, with features numbered as they come, so that all passes
over them run through a small piece of memory. ``fastmath`` allows fused multiply-add only: letting
LLVM reorder the sums makes it gather, which is slower, and would make the answer depend on the
machine's vectors.
"""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import below, next_state
from labelspace.compiling import njit

FUSED = {"contract"}
IN_ANY_ORDER = {"contract", "reassoc", "nsz"}
ONE = np.float32(1.0)


@njit(cache=True, nogil=True)
def choose(
    positives, hard, wanted, stand_for, heaviest, C, n_rows, number, state, mark, rows, slacks
):  # fmt: skip
    """Write a label's positives, hard negatives and drawn negatives; return how many they are.

    The slack of a row is 1 / (2 C weight). Drawn rows stand for all of ``stand_for`` rows that
    were not chosen, up to a weight of ``heaviest``.
    """
    size = 0
    for row in positives:
        mark[row] = number
        rows[size] = row
        size += 1
    for row in hard:
        if mark[row] != number:
            mark[row] = number
            rows[size] = row
            size += 1
    n_chosen = size
    if wanted >= n_rows - n_chosen:
        for row in range(n_rows):
            if mark[row] != number:
                rows[size] = row
                size += 1
    else:
        for _ in range(wanted):
            state = next_state(state)
            row = below(state, n_rows)
            if mark[row] != number:
                mark[row] = number
                rows[size] = row
                size += 1
    weight = min(max((stand_for - n_chosen) / max(size - n_chosen, 1), 1.0), heaviest)
    for at in range(size):
        slacks[at] = np.float32(0.5 / C) if at < n_chosen else np.float32(0.5 / (C * weight))
    return size


@njit(cache=True, nogil=True)
def copy(indptr, indices, data, rows, size, local, feature_of, ptr, places, values):
    """Copy the rows with features numbered as they come; return how many features they have."""
    n_local = 0
    filled = 0
    for at in range(size):
        ptr[at] = filled
        for entry in range(indptr[rows[at]], indptr[rows[at] + 1]):
            feature = indices[entry]
            if local[feature] < 0:
                local[feature] = n_local
                feature_of[n_local] = feature
                n_local += 1
            places[filled] = local[feature]
            values[filled] = data[entry]
            filled += 1
    ptr[size] = filled
    return n_local


@njit(cache=True, nogil=True, fastmath=FUSED)
def product(places, values, first, end, weights):
    """Return row · weights, as four sums that need not wait for each other."""
    a = np.float32(0.0)
    b = np.float32(0.0)
    c = np.float32(0.0)
    d = np.float32(0.0)
    entry = first
    while entry + 3 < end:
        a += values[entry] * weights[places[entry]]
        b += values[entry + 1] * weights[places[entry + 1]]
        c += values[entry + 2] * weights[places[entry + 2]]
        d += values[entry + 3] * weights[places[entry + 3]]
        entry += 4
    while entry < end:
        a += values[entry] * weights[places[entry]]
        entry += 1
    return (a + b) + (c + d)


@njit(cache=True, nogil=True, fastmath=IN_ANY_ORDER)
def dense_product(vector, weights):
    """Return vector · weights; numbers side by side may be summed in any order, as BLAS does."""
    total = np.float32(0.0)
    for at in range(vector.shape[0]):
        total += vector[at] * weights[at]
    return total


@njit(cache=True, nogil=True, fastmath=FUSED)
def add_dense(weights, step, vector):
    """Add step · vector to ``weights``."""
    for at in range(vector.shape[0]):
        weights[at] += step * vector[at]


@njit(cache=True, nogil=True)
def keep(weights, feature_of, n_local, min_weight, n_kept, features, values):
    """Append the weights that are not cut; return how many are kept in all."""
    for at in range(n_local):
        if weights[at] != 0 and abs(weights[at]) >= min_weight:
            features[n_kept] = feature_of[at]
            values[n_kept] = weights[at]
            n_kept += 1
    return n_kept


@njit(cache=True, nogil=True)
def longer(values, n_used, needed):
    longer = np.empty(2 * needed, dtype=values.dtype)
    for at in range(n_used):
        longer[at] = values[at]
    return longer
