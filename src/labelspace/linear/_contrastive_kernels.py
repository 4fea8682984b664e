"""Compiled loops of contrastive training: encode a batch, step, compare labels in a batch."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, fastmath=True, nogil=True)
def encode_rows(indptr, indices, data, rows, V, Z):
    dim = V.shape[1]
    for at in range(rows.shape[0]):
        row = rows[at]
        z = Z[at]
        z[:] = 0.0
        for place in range(indptr[row], indptr[row + 1]):
            value = data[place]
            weight = V[indices[place]]
            for t in range(dim):
                z[t] += value * weight[t]


@njit(cache=True, fastmath=True, nogil=True)
def adagrad(indptr, indices, data, rows, gradient, learning_rate, place, V, squares):
    """Move each feature that the rows have, once, by its gradient over all of them.

    ``place`` has -1 for every feature, and has so again at the end.
    """
    n_entries = 0
    for at in range(rows.shape[0]):
        n_entries += indptr[rows[at] + 1] - indptr[rows[at]]
    features = np.empty(n_entries, dtype=np.int32)
    ends = np.zeros(n_entries + 1, dtype=np.int64)
    n_features = 0
    for at in range(rows.shape[0]):
        row = rows[at]
        for entry in range(indptr[row], indptr[row + 1]):
            feature = indices[entry]
            if place[feature] < 0:
                place[feature] = n_features
                features[n_features] = feature
                n_features += 1
            ends[place[feature] + 1] += 1
    for number in range(n_features):
        ends[number + 1] += ends[number]
    # Sort entries by feature; ends[number] walks from the start of a feature's part to its end.
    owners = np.empty(n_entries, dtype=np.int32)
    values = np.empty(n_entries, dtype=np.float32)
    for at in range(rows.shape[0]):
        row = rows[at]
        for entry in range(indptr[row], indptr[row + 1]):
            number = place[indices[entry]]
            owners[ends[number]] = at
            values[ends[number]] = data[entry]
            ends[number] += 1
    dim = V.shape[1]
    total = np.empty(dim, dtype=np.float32)
    start = 0
    for number in range(n_features):
        feature = features[number]
        place[feature] = -1
        total[:] = 0.0
        for entry in range(start, ends[number]):
            value = values[entry]
            slope = gradient[owners[entry]]
            for t in range(dim):
                total[t] += value * slope[t]
        start = ends[number]
        square = np.float32(0.0)
        for t in range(dim):
            square += total[t] * total[t]
        squares[feature] += square / np.float32(dim)
        pace = learning_rate / np.sqrt(squares[feature])
        weight = V[feature]
        for t in range(dim):
            weight[t] -= pace * total[t]


@njit(cache=True, nogil=True)
def alike(indptr, indices, anchors, partners, n_labels, share, ignored):
    """Mark pairs whose label cosine is at least ``share`` of that of the anchor's own pair."""
    n = partners.shape[0]
    starts = np.zeros(n_labels + 1, dtype=np.int32)
    for at in range(n):
        for entry in range(indptr[partners[at]], indptr[partners[at] + 1]):
            starts[indices[entry] + 1] += 1
    for label in range(n_labels):
        starts[label + 1] += starts[label]
    owners = np.empty(starts[n_labels], dtype=np.int32)
    filled = starts[:-1].copy()
    sizes = np.empty(n, dtype=np.float32)
    for at in range(n):
        first, last = indptr[partners[at]], indptr[partners[at] + 1]
        sizes[at] = np.float32(last - first)
        for entry in range(first, last):
            label = indices[entry]
            owners[filled[label]] = at
            filled[label] += 1
    shared = np.zeros(n, dtype=np.float32)
    for at in range(n):
        row = anchors[at]
        for entry in range(indptr[row], indptr[row + 1]):
            label = indices[entry]
            for place in range(starts[label], starts[label + 1]):
                shared[owners[place]] += np.float32(1.0)
        # Cosines of one anchor: its own size cancels, so compare shared² / size of the partner.
        least = np.float32(share * share) * shared[at] * shared[at] / max(sizes[at], 1.0)
        for other in range(n):
            if shared[other] > 0.0:
                square = shared[other] * shared[other] / sizes[other]
                ignored[at, other] = square >= least
                shared[other] = 0.0
        ignored[at, at] = False
