"""Compiled loops that count votes, and who votes for which label."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import keep_largest
from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def n_votes(ids, label_ptr):
    """Return how many labels neighbours have together, however often the same."""
    n = 0
    for row in range(ids.shape[0]):
        for voter in range(ids.shape[1]):
            if ids[row, voter] >= 0:
                n += label_ptr[ids[row, voter] + 1] - label_ptr[ids[row, voter]]
    return n


@njit(cache=True, nogil=True)
def count_votes(ids, cosines, weights, label_ptr, label_indices, place, voted, votes, met):
    """Write the labels with most votes, and who votes for each label that is voted for at all.

    ``met`` has arrays to be filled: where the labels of each row begin, then the labels, how near
    the nearest voter of each is and how many it has. ``place`` is -1 for all labels before and
    after.
    """
    starts, met_labels, nearest, counts = met
    sums = np.empty(met_labels.shape[0], dtype=np.float32)
    heights = np.empty(met_labels.shape[0], dtype=np.int32)
    kept = np.empty(met_labels.shape[0], dtype=np.int64)
    filled = 0
    for row in range(ids.shape[0]):
        first = filled
        for voter in range(ids.shape[1]):
            number, weight = ids[row, voter], weights[row, voter]
            if number < 0 or weight <= 0.0:
                continue
            cosine = cosines[row, voter]
            for entry in range(label_ptr[number], label_ptr[number + 1]):
                label = label_indices[entry]
                at = place[label]
                if at < 0:
                    at = place[label] = filled
                    met_labels[filled] = label
                    sums[filled] = nearest[filled] = counts[filled] = np.float32(0.0)
                    filled += 1
                sums[at] += weight
                counts[at] += np.float32(1.0)
                nearest[at] = max(nearest[at], cosine)
        for at in range(first, filled):
            place[met_labels[at]] = -1
        row_labels = met_labels[first:filled]
        keep_largest(sums[first:filled], row_labels, heights, kept, voted[row], votes[row])
        starts[row + 1] = filled


@njit(cache=True, nogil=True)
def support(met, place, labels, nearest, n_voters):
    """Find for each candidate how near its nearest voter is, and how many vote for it.

    ``place`` is -1 for all labels before and after.
    """
    starts, met_labels, met_nearest, met_counts = met
    for row in range(labels.shape[0]):
        for at in range(starts[row], starts[row + 1]):
            place[met_labels[at]] = at
        for at in range(labels.shape[1]):
            label = labels[row, at]
            if label >= 0 and place[label] >= 0:
                nearest[row, at] = met_nearest[place[label]]
                n_voters[row, at] = met_counts[place[label]]
        for at in range(starts[row], starts[row + 1]):
            place[met_labels[at]] = -1


@njit(cache=True, nogil=True)
def nearest_voters(cosines, weights, ranked):
    """Write the largest cosines of each row, in order; what is not heard counts as zero."""
    for row in range(ranked.shape[0]):
        own = ranked[row]
        own[:] = -np.inf
        for voter in range(cosines.shape[1]):
            cosine = cosines[row, voter] if weights[row, voter] > 0.0 else np.float32(0.0)
            if cosine > own[own.shape[0] - 1]:
                place = own.shape[0] - 1
                while place > 0 and own[place - 1] < cosine:
                    own[place] = own[place - 1]
                    place -= 1
                own[place] = cosine
