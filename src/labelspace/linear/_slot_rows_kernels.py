"""Compiled loops that keep the working sets of labels which take turns in slots.

A row knows the slots in whose sets it is, one bit for each; a set lists its positives first.
"""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

ONE = np.uint64(1)


@njit(cache=True, nogil=True)
def admit(new_rows, held_out, turn, rows, alphas, size, in_slots, slot):
    """Add rows to a working set, those that are not in it and may be; return its size."""
    bit = ONE << np.uint64(slot)
    for at in range(new_rows.shape[0]):
        row = new_rows[at]
        if not in_slots[row] & bit and (turn == 1 or not held_out[row]):
            in_slots[row] |= bit
            rows[size] = row
            alphas[size] = np.float32(0.0)
            size += 1
    return size


@njit(cache=True, nogil=True)
def admit_positives(positives, held_out, rows, alphas, n_positive, size, in_slots, slot):
    """Add the positives that were held out, behind the other positives; return the set's size."""
    bit = ONE << np.uint64(slot)
    for at in range(positives.shape[0]):
        row = positives[at]
        if held_out[row]:
            # A starter may be one: it has been a negative for none of the labels that it has.
            in_slots[row] |= bit
            rows[size] = rows[n_positive]
            alphas[size] = alphas[n_positive]
            rows[n_positive] = row
            alphas[n_positive] = np.float32(0.0)
            n_positive += 1
            size += 1
    return size


@njit(cache=True, nogil=True)
def drop_idle(rows, alphas, size, n_positive, in_slots, slot):
    """Take negatives without influence out of a working set; return its size."""
    bit = ONE << np.uint64(slot)
    kept = n_positive
    for at in range(n_positive, size):
        if alphas[at] > 0:
            rows[kept] = rows[at]
            alphas[kept] = alphas[at]
            kept += 1
        else:
            in_slots[rows[at]] &= ~bit
    return kept
