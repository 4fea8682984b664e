"""Compiled loops that find candidates and what speaks for them."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert, keep_largest, kth_largest, write_heights
from labelspace.compiling import njit

UNTOUCHED = np.float32(-0.0)
UNTOUCHED_BITS = NO_HEIGHT = np.int32(-0x80000000)
GROUP = 16
MANY = 4
AT_ONCE = 1 << 15


@njit(cache=True, nogil=True)
def gather(
    indptr, indices, data, Z, voted, votes, lists, biases, row_ptr, row_features, row_weights,
    vectors, scales, named, start, n_by_margin, labels, margins, shares, cosines,
):  # fmt: skip
    """Fill in labels voted for, those named, then those of the largest margins; and their figures.

    ``named`` are labels, -1 for none, that may be voted for as well. ``lists`` are the weights by
    feature: pointers, labels and weights of a matrix, where to find the long lists in full (-1 for
    others), and these. ``start`` has what is to be added to the margins of all labels, or no
    columns. Where lists are cut, ``row_ptr`` and so on have all weights, by label; they are empty
    elsewhere.
    """
    n_labels = biases.shape[0]
    is_cut = row_ptr.shape[0] > 1
    # What no weight was added to is told by the sign of its zero.
    n_sums = min(n_labels, AT_ONCE) if is_cut else n_labels
    sums = np.full(n_sums, UNTOUCHED, dtype=np.float32)
    touched = np.empty(n_sums + 1, dtype=np.int32)
    every = np.arange(n_sums).astype(np.int32)
    room = (
        np.empty(n_sums, dtype=np.float32),
        np.empty(n_sums, dtype=np.int32),
        np.empty(n_sums, dtype=np.int32),
        np.empty(n_sums, dtype=np.float32),
        np.empty(n_sums, dtype=np.int32),
        np.empty(n_sums, dtype=np.int64),
    )
    values = np.zeros(lists[0].shape[0] - 1 if is_cut else 0, dtype=np.float32)
    n_kept = 3 * n_by_margin if is_cut else n_by_margin  # sums of cut lists are not the last word
    best = np.empty(n_kept, dtype=np.int64)
    best_margins = np.empty(n_kept, dtype=np.float32)
    for row in range(indptr.shape[0] - 1):
        features, amounts = indices[indptr[row] : indptr[row + 1]], data[indptr[row] :]
        n_touched = 0
        if is_cut:
            for entry in range(features.shape[0]):
                values[features[entry]] = amounts[entry]
        else:
            if start.shape[1]:
                sums[:] = start[row] + np.float32(0.0)
            n_touched = _add_up(features, amounts, lists, start.shape[1] > 0, sums, touched)
        filled = 0
        for at in range(voted.shape[1]):
            label = voted[row, at]
            if label < 0:
                break
            labels[row, filled] = label
            shares[row, filled] = votes[row, at]
            filled += 1
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
        for at in range(filled):
            label = labels[row, at]
            if is_cut:
                margins[row, at] = _margin(label, values, row_ptr, row_features, row_weights)
            else:
                margins[row, at] = sums[label] + np.float32(0.0)
                # Already a candidate: not to be found again among the highest margins.
                sums[label] = UNTOUCHED
            margins[row, at] += biases[label]
        if is_cut:
            taken = labels[row, :filled]
            n_best = _propose(
                features, amounts, lists, biases, taken, sums, room, best, best_margins
            )
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
            for entry in range(features.shape[0]):
                values[features[entry]] = 0.0
        else:
            met = touched[:n_touched] if n_touched < n_labels else every
            n_best = _largest(met, sums, biases, room, best, best_margins)
            if n_touched < n_labels:
                sums[met] = UNTOUCHED
            else:
                sums[:] = UNTOUCHED
            for at in range(n_best):
                labels[row, filled] = best[at]
                margins[row, filled] = best_margins[at]
                filled += 1
        for at in range(filled):
            cosines[row, at] = _cosine(Z[row], vectors[labels[row, at]], scales[labels[row, at]])


@njit(cache=True, nogil=True)
def _add_up(features, amounts, lists, all_touched, sums, touched):
    """Add up weights by label; return to how many, and write to which unless these are all.

    Where weights are not much fewer than labels, it is quicker to look at all labels afterwards
    than to note each that is met.
    """
    weight_ptr, weight_labels, weights, places, in_full = lists
    n_weights = 0
    for entry in range(features.shape[0]):
        n_weights += weight_ptr[features[entry] + 1] - weight_ptr[features[entry]]
    if all_touched or MANY * n_weights > sums.shape[0]:
        for entry in range(features.shape[0]):
            value, feature = amounts[entry], features[entry]
            if value > 0.0 and places[feature] >= 0:
                own = in_full[places[feature]]
                for label in range(sums.shape[0]):
                    sums[label] += value * own[label]
            else:
                for at in range(weight_ptr[feature], weight_ptr[feature + 1]):
                    sums[weight_labels[at]] += value * weights[at]
        return sums.shape[0]
    bits = sums.view(np.int32)
    n_touched = 0
    for entry in range(features.shape[0]):
        value = amounts[entry]
        for at in range(weight_ptr[features[entry]], weight_ptr[features[entry] + 1]):
            label = weight_labels[at]
            # Without a branch, which would wait for each sum to come from memory.
            touched[n_touched] = label
            n_touched += bits[label] == UNTOUCHED_BITS
            sums[label] += value * weights[at]
    return n_touched


@njit(cache=True, nogil=True)
def _propose(features, amounts, lists, biases, taken, sums, room, best, best_margins):
    """Write the largest margins by lists of weights, but of those taken; return how many.

    Some labels at a time, whose sums stay near the processor; lists are in the order of labels.
    """
    weight_ptr, weight_labels, weights = lists[:3]
    margins, heights, maxima = room[:3]
    n_best, n_kept = 0, best.shape[0]
    floor = np.array([NO_HEIGHT + 1], dtype=np.int32)
    begins = np.empty(features.shape[0], dtype=np.int64)
    for entry in range(features.shape[0]):
        begins[entry] = weight_ptr[features[entry]]
    for first in range(0, biases.shape[0] if n_kept else 0, AT_ONCE):
        n = min(AT_ONCE, biases.shape[0] - first)
        for entry in range(features.shape[0]):
            value, begin = amounts[entry], begins[entry]
            end = weight_ptr[features[entry] + 1]
            end = begin + np.searchsorted(weight_labels[begin:end], first + AT_ONCE)
            some_labels, some_weights = weight_labels[begin:end], weights[begin:end]
            for at in range(some_labels.shape[0]):
                sums[np.uint64(some_labels[at] - first)] += value * some_weights[at]
            begins[entry] = end
        n_groups = _margins(sums[:n], biases[first : first + n], margins, heights, maxima)
        sums[:n] = UNTOUCHED
        for group in range(n_groups):
            if maxima[group] < floor[0]:
                continue
            for at in range(group, n, n_groups):
                if heights[at] >= floor[0] and not _is_among(taken, first + at):
                    n_best = insert(best, best_margins, n_best, np.int64(first + at), margins[at])
                    if n_best == n_kept:
                        write_heights(best_margins[n_kept - 1 :], floor)
    return n_best


@njit(cache=True, nogil=True)
def _is_among(labels, label):
    for at in range(labels.shape[0]):
        if labels[at] == label:
            return True
    return False


@njit(cache=True, nogil=True)
def _margins(sums, biases, margins, heights, maxima):
    """Write margins, their heights and the largest heights of groups; return how many these are.

    What no weight was added to has no height. Group g has numbers g, g + n_groups and so on.
    """
    n = sums.shape[0]
    for at in range(n):
        margins[at] = sums[at] + biases[at]
    write_heights(margins[:n], heights[:n])
    bits = sums.view(np.int32)
    for at in range(n):
        heights[at] = heights[at] if bits[at] != UNTOUCHED_BITS else NO_HEIGHT
    return _maxima(heights[:n], maxima)


@njit(cache=True, nogil=True)
def _maxima(heights, maxima):
    n = heights.shape[0]
    n_groups = (n + GROUP - 1) // GROUP
    maxima[:n_groups] = NO_HEIGHT
    for first in range(0, n, max(n_groups, 1)):
        some = heights[first : min(first + n_groups, n)]
        for group in range(some.shape[0]):
            maxima[group] = some[group] if some[group] > maxima[group] else maxima[group]
    return n_groups


@njit(cache=True, nogil=True)
def _largest(labels, sums, biases, room, best, best_margins):
    """Write the largest margins of labels that were added to, in order; return how many.

    The smallest of as many groups' maxima as are wanted is a bound for all of these.
    """
    margins, heights, maxima, large, large_labels, kept = room
    n, k = labels.shape[0], best.shape[0]
    if n == sums.shape[0]:  # all, in order
        n_groups = _margins(sums, biases, margins, heights, maxima)
    else:
        for at in range(n):
            margins[at] = sums[labels[at]] + biases[labels[at]]
        write_heights(margins[:n], heights[:n])
        bits = sums.view(np.int32)
        for at in range(n):
            heights[at] = heights[at] if bits[labels[at]] != UNTOUCHED_BITS else NO_HEIGHT
        n_groups = _maxima(heights[:n], maxima)
    least = np.int32(NO_HEIGHT + 1)
    if n_groups > k:
        least = max(least, kth_largest(maxima[:n_groups], k))
    n_large = 0
    for group in range(n_groups):
        if maxima[group] >= least:
            for at in range(group, n, n_groups):
                if heights[at] >= least:
                    large[n_large], large_labels[n_large] = margins[at], labels[at]
                    n_large += 1
    keep_largest(large[:n_large], large_labels, heights, kept, best, best_margins)
    return min(n_large, k)


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
