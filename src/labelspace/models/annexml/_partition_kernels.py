"""Compiled loops of partition learning."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def partition_epoch(
    indptr, indices, data, neighbors, order, others, learning_rate, l1, W, sums, squares
):
    """Visit rows once: pull the neighbours of each into its part, push as many others out."""
    n_parts = W.shape[1]
    scores = np.empty(n_parts, dtype=np.float32)
    for at_row in range(order.shape[0]):
        row = order[at_row]
        scores[:] = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            weight = W[indices[at]]
            for part in range(n_parts):
                scores[part] += data[at] * weight[part]
        best = np.argmax(scores)
        for place in range(neighbors.shape[1]):
            partner = neighbors[row, place]
            if partner < 0:
                break
            _ftrl(indptr, indices, data, partner, best, True, learning_rate, l1, W, sums, squares)
            other = others[at_row, place]
            _ftrl(indptr, indices, data, other, best, False, learning_rate, l1, W, sums, squares)


@njit(cache=True, nogil=True)
def _ftrl(indptr, indices, data, row, part, inside, learning_rate, l1, W, sums, squares):
    """One step of log σ(w·x), or of log σ(−w·x), by FTRL-proximal with an L1 penalty."""
    score = np.float32(0.0)
    for at in range(indptr[row], indptr[row + 1]):
        score += data[at] * W[indices[at], part]
    probability = np.float32(1.0) / (np.float32(1.0) + np.exp(-score))
    slope = np.float32(1.0) - probability if inside else -probability
    for at in range(indptr[row], indptr[row + 1]):
        feature = indices[at]
        gradient = slope * data[at]
        square = squares[feature, part] + gradient * gradient
        pace = (np.sqrt(square) - np.sqrt(squares[feature, part])) / learning_rate
        total = sums[feature, part] + gradient + pace * W[feature, part]
        squares[feature, part] = square
        sums[feature, part] = total
        if abs(total) <= l1:
            W[feature, part] = 0.0
        else:
            W[feature, part] = learning_rate * (total - np.sign(total) * l1) / np.sqrt(square)
