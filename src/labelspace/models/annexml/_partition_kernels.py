"""Compiled loops of partition learning.

What is kept for a feature and a part lies together, (n_features, n_parts, 3): its weight, the sum
of gradients that it comes from, and the root of the sum of their squares. A step then touches one
cache line for each feature of a row, where three arrays would miss three times.
"""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

WEIGHT, SUM, ROOT = 0, 1, 2
# Scores that differ by less are equal: what one differs from the next float.
EQUAL = np.finfo(np.float32).eps


@njit(cache=True, nogil=True, error_model="numpy")
def partition_epoch(
    indptr, indices, data, neighbors, order, others, lots, learning_rate, l1, state
):
    """Visit rows once: pull the neighbours of each into its part, then push as many others out.

    ``lots`` from 0 to 1 decide between parts that a row fits into equally well.
    """
    n_parts = state.shape[1]
    k = neighbors.shape[1]
    scores = np.empty(n_parts, dtype=np.float32)
    for at_row in range(order.shape[0]):
        row = order[at_row]
        scores[:] = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            of_feature = state[indices[at]]
            for part in range(n_parts):
                scores[part] += data[at] * of_feature[part, WEIGHT]
        best = best_part(scores, lots[at_row])
        n_own = k
        while n_own > 0 and neighbors[row, n_own - 1] < 0:
            n_own -= 1
        for place in range(k):
            partner = neighbors[row, place % n_own]  # fewer than k are taken several times
            _ftrl(indptr, indices, data, partner, best, True, learning_rate, l1, state)
        for place in range(k):
            other = others[at_row, place]
            _ftrl(indptr, indices, data, other, best, False, learning_rate, l1, state)


@njit(cache=True, nogil=True)
def best_part(scores, lot):
    """Return the part with the largest score, by lot where several have it."""
    largest = scores.max()
    n_equal = 0
    for part in range(scores.shape[0]):
        n_equal += largest - scores[part] < EQUAL
    drawn = min(int(lot * n_equal), n_equal - 1)
    for part in range(scores.shape[0]):
        if largest - scores[part] < EQUAL:
            if drawn == 0:
                return part
            drawn -= 1
    return 0


@njit(cache=True, nogil=True, error_model="numpy")
def _ftrl(indptr, indices, data, row, part, inside, learning_rate, l1, state):
    """One step of log σ(w·x), or of log σ(−w·x), by FTRL-proximal with an L1 penalty."""
    score = np.float32(0.0)
    for at in range(indptr[row], indptr[row + 1]):
        score += data[at] * state[indices[at], part, WEIGHT]
    probability = np.float32(1.0) / (np.float32(1.0) + np.exp(-score))
    slope = np.float32(1.0) - probability if inside else -probability
    for at in range(indptr[row], indptr[row + 1]):
        cell = state[indices[at], part]
        gradient = slope * data[at]
        root = np.sqrt(cell[ROOT] * cell[ROOT] + gradient * gradient)
        total = cell[SUM] + gradient + (root - cell[ROOT]) / learning_rate * cell[WEIGHT]
        cell[ROOT] = root
        cell[SUM] = total
        if abs(total) <= l1:
            cell[WEIGHT] = 0.0
        else:
            cell[WEIGHT] = learning_rate * (total - np.sign(total) * l1) / root
