"""Compiled loops of joint training."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, fastmath=True, nogil=True)
def add_up(indptr, indices, data, rows, gradient, position, features, totals):
    """Add up the gradient of each feature over the rows that have it; return how many there are.

    ``position`` has -1 for every feature, and has so again at the end.
    """
    n_features = 0
    dim = gradient.shape[1]
    for at in range(rows.shape[0]):
        slope = gradient[at]
        for entry in range(indptr[rows[at]], indptr[rows[at] + 1]):
            feature = indices[entry]
            if position[feature] < 0:
                position[feature] = n_features
                features[n_features] = feature
                totals[n_features] = 0.0
                n_features += 1
            total = totals[position[feature]]
            value = data[entry]
            for t in range(dim):
                total[t] += value * slope[t]
    for number in range(n_features):
        position[features[number]] = -1
    return n_features


@njit(cache=True, nogil=True)
def entries_of(indptr, indices, rows):
    """Return the entries of some rows of a CSR matrix as positions in ``rows`` and columns."""
    n_entries = 0
    for row in rows:
        n_entries += indptr[row + 1] - indptr[row]
    positions = np.empty(n_entries, dtype=np.int32)
    columns = np.empty(n_entries, dtype=np.int32)
    at = 0
    for position in range(rows.shape[0]):
        for entry in range(indptr[rows[position]], indptr[rows[position] + 1]):
            positions[at] = position
            columns[at] = indices[entry]
            at += 1
    return positions, columns
