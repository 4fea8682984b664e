"""Compiled loops of joint training."""

from __future__ import annotations

from numba import njit


@njit(cache=True, fastmath=True, nogil=True)
def add_up(indptr, indices, data, rows, gradient, place, features, totals):
    """Add up the gradient of each feature over the rows that have it; return how many there are.

    ``place`` has -1 for every feature, and has so again at the end.
    """
    n_features = 0
    dim = gradient.shape[1]
    for at in range(rows.shape[0]):
        slope = gradient[at]
        for entry in range(indptr[rows[at]], indptr[rows[at] + 1]):
            feature = indices[entry]
            if place[feature] < 0:
                place[feature] = n_features
                features[n_features] = feature
                totals[n_features] = 0.0
                n_features += 1
            total = totals[place[feature]]
            value = data[entry]
            for t in range(dim):
                total[t] += value * slope[t]
    for number in range(n_features):
        place[features[number]] = -1
    return n_features
