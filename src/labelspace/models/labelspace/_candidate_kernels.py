"""Compiled loops that find candidates and what speaks for them."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def gather(
    indptr, indices, data, Z, voted, votes, weight_ptr, weight_labels, weights, biases, row_ptr,
    row_features, row_weights, vectors, scales, named, start, n_by_margin, labels, margins, shares,
    cosines,
):  # fmt: skip
    """Fill in labels voted for, those named, then those of the largest margins; and their figures.

    ``named`` are labels, -1 for none, that may be voted for as well. ``start`` has what is to be
    added to the margins of all labels, or no columns. Where lists of weights by feature are cut,
    ``row_ptr`` and so on have all weights, by label; they are empty elsewhere.
    """
    n_labels = biases.shape[0]
    is_cut = row_ptr.shape[0] > 1
    sums = np.zeros(n_labels, dtype=np.float32)
    touched = np.empty(n_labels, dtype=np.int32)
    is_touched = np.zeros(n_labels, dtype=np.bool_)
    values = np.zeros(weight_ptr.shape[0] - 1 if is_cut else 0, dtype=np.float32)
    n_kept = 3 * n_by_margin if is_cut else n_by_margin  # sums of cut lists are not the last word
    best = np.empty(n_kept, dtype=np.int64)
    best_margins = np.empty(n_kept, dtype=np.float32)
    for row in range(indptr.shape[0] - 1):
        n_touched = 0
        for label in range(start.shape[1]):
            is_touched[label] = True
            touched[label] = label
            sums[label] = start[row, label]
        n_touched += start.shape[1]
        for entry in range(indptr[row], indptr[row + 1]):
            value = data[entry]
            if is_cut:
                values[indices[entry]] = value
            for at in range(weight_ptr[indices[entry]], weight_ptr[indices[entry] + 1]):
                label = weight_labels[at]
                if not is_touched[label]:
                    is_touched[label] = True
                    touched[n_touched] = label
                    n_touched += 1
                sums[label] += value * weights[at]
        filled = 0
        for at in range(voted.shape[1]):
            label = voted[row, at]
            if label < 0:
                break
            labels[row, filled] = label
            shares[row, filled] = votes[row, at]
            filled += 1
            # Already a candidate: not to be found again among the highest margins.
            is_touched[label] = False
        n_voted = filled
        for at in range(named.shape[1]):
            label = named[row, at]
            if label < 0:
                break
            is_new = True
            for other in range(n_voted):
                is_new = is_new and labels[row, other] != label
            if is_new:
                labels[row, filled] = label
                filled += 1
                is_touched[label] = False
        for at in range(filled):
            label = labels[row, at]
            if is_cut:
                margins[row, at] = _margin(label, values, row_ptr, row_features, row_weights)
            else:
                margins[row, at] = sums[label]
            margins[row, at] += biases[label]
        n_best = 0
        for at in range(n_touched):
            label = touched[at]
            if is_touched[label]:
                margin = sums[label] + biases[label]
                if n_best < n_kept or margin >= best_margins[n_kept - 1]:
                    n_best = insert(best, best_margins, n_best, np.int64(label), margin)
            is_touched[label] = False
            sums[label] = 0.0
        if is_cut:
            n_sure = 0
            for at in range(n_best):
                label = best[at]
                margin = _margin(label, values, row_ptr, row_features, row_weights)
                margin += biases[label]
                n_sure = insert(
                    labels[row, filled : filled + n_by_margin],
                    margins[row, filled : filled + n_by_margin],
                    n_sure,
                    label,
                    margin,
                )
            filled += n_sure
            for entry in range(indptr[row], indptr[row + 1]):
                values[indices[entry]] = 0.0
        else:
            for at in range(n_best):
                labels[row, filled] = best[at]
                margins[row, filled] = best_margins[at]
                filled += 1
        for at in range(filled):
            cosines[row, at] = _cosine(Z[row], vectors[labels[row, at]], scales[labels[row, at]])


@njit(cache=True, nogil=True)
def _margin(label, values, row_ptr, row_features, row_weights):
    margin = np.float32(0.0)
    for at in range(row_ptr[label], row_ptr[label + 1]):
        margin += values[row_features[at]] * row_weights[at]
    return margin


@njit(cache=True, fastmath=True, nogil=True)
def _cosine(vector, key, scale):
    product = np.float32(0.0)
    for t in range(vector.shape[0]):
        product += vector[t] * np.float32(key[t])
    return product * scale


@njit(cache=True, nogil=True)
def support(ids, cosines, weights, label_ptr, label_indices, n_labels, labels, nearest, n_voters):
    """Find for each candidate how near its nearest voter is, and how many vote for it."""
    place = np.full(n_labels, -1, dtype=np.int32)
    for row in range(labels.shape[0]):
        for at in range(labels.shape[1]):
            if labels[row, at] >= 0:
                place[labels[row, at]] = at
        for voter in range(ids.shape[1]):
            if ids[row, voter] < 0 or weights[row, voter] <= 0.0:
                continue
            for entry in range(label_ptr[ids[row, voter]], label_ptr[ids[row, voter] + 1]):
                at = place[label_indices[entry]]
                if at >= 0:
                    nearest[row, at] = max(nearest[row, at], cosines[row, voter])
                    n_voters[row, at] += 1
        for at in range(labels.shape[1]):
            if labels[row, at] >= 0:
                place[labels[row, at]] = -1
