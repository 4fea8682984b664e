"""Compiled loops that train all labels together, a row at a time, on its active labels.

Of each feature there is a small hash table of the labels that it has met, so that memory grows with
what has been met and not with features × labels. A table has 2^n places; its place is found by a
label's hash and, if that is taken, the next free one; in one with a place for every label it is the
label's number. Tables that get full move to the end of the store, twice as large. Rows search among
all labels by lists of the weights that are not zero, which are drawn up many times in a pass; what
they find is then scored exactly. Feature 0 is a constant one, which is not shrunk.
"""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import seeded, shuffle
from labelspace.compiling import njit
from labelspace.linear._l1_kernels import shrunk

FIRST_PLACES = 4
# Active labels of a row at most, beside its own: room for those that joined in one search.
MOST_ACTIVE = 64
HALVINGS = 50
# Lists of weights are drawn up after so many rows at first, then each time after twice as many, and
# at last so many times in a pass.
FIRST_LISTS, LISTS_PER_PASS = 32, 64


@njit(cache=True, nogil=True)
def train_rows(
    indptr, indices, data, lengths, n_features, label_ptr, labels, n_labels, C, shared, shrink, tol,
    max_searches, max_passes, n_joining, seed,
):  # fmt: skip
    """Return features, labels and values of all weights, the biases, and the searches made."""
    n_rows = indptr.shape[0] - 1
    starts = np.arange(n_features) * FIRST_PLACES
    places = np.full(n_features, FIRST_PLACES, dtype=np.int64)
    counts = np.zeros(n_features, dtype=np.int64)
    used = n_features * FIRST_PLACES
    keys = np.full(2 * used, -1, dtype=np.int32)
    values = np.zeros(2 * used, dtype=np.float32)
    others = np.full((n_rows, MOST_ACTIVE), -1, dtype=np.int32)
    n_others = np.zeros(n_rows, dtype=np.int64)
    other_alphas = np.zeros((n_rows, MOST_ACTIVE), dtype=np.float32)
    own_alphas = np.zeros(labels.shape[0], dtype=np.float32)
    scores = np.zeros(n_labels, dtype=np.float32)
    order = np.arange(n_rows)
    active = np.empty(n_labels + MOST_ACTIVE, dtype=np.int32)
    state = seeded(seed, n_rows, n_labels)
    lists = _lists(starts, places, keys, values, shrink)
    n_since, n_between = 0, FIRST_LISTS
    n_searches = 0
    while n_searches < max_searches:
        n_searches += 1
        moved_in_search = 0.0
        for turn in range(max_passes):
            state = shuffle(order, n_rows, state)
            moved, mass = 0.0, 0.0
            for row in order:
                first, last = label_ptr[row], label_ptr[row + 1]
                n_own = last - first
                if n_own == 0 or n_own == n_labels:
                    continue
                if turn == 0:
                    if n_since >= n_between:
                        lists = _lists(starts, places, keys, values, shrink)
                        n_since = 0
                        n_between = min(2 * n_between, n_rows // LISTS_PER_PASS + FIRST_LISTS)
                    n_since += 1
                    scores[:] = np.float32(0.0)
                    _score_all(indptr, indices, data, row, lists, scores)
                    n_others[row] = _join_best(
                        scores, labels[first:last], others[row], other_alphas[row], n_others[row],
                        n_joining,
                    )  # fmt: skip
                n_active = n_own + n_others[row]
                for at in range(n_own):
                    active[at] = labels[first + at]
                for at in range(n_others[row]):
                    active[n_own + at] = others[row, at]
                here = active[:n_active]
                _score_some(
                    indptr, indices, data, row, starts, places, keys, values, shrink, here, scores
                )
                steps = _row_steps(
                    scores, here, n_own, own_alphas[first:last], other_alphas[row],
                    max(lengths[row], 1e-12), C, shared,
                )  # fmt: skip
                n_others[row] = _drop_idle(others[row], other_alphas[row], n_others[row])
                change = np.abs(steps).sum()
                moved += change
                mass += own_alphas[first:last].sum()
                if change == 0.0:
                    continue
                for at in range(indptr[row], indptr[row + 1]):
                    feature = indices[at]
                    needed = min(2 * (counts[feature] + n_active), n_labels)
                    if needed > places[feature]:
                        keys, values, used = _with_room(
                            keys, values, used, starts, places, feature, needed, n_labels
                        )
                    counts[feature] += _add(
                        keys, values, starts[feature], places[feature], here, steps, data[at],
                        n_labels,
                    )  # fmt: skip
            moved_in_search = max(moved_in_search, moved)
            if moved <= tol * mass:
                break
        if moved_in_search <= tol * mass:
            break
    return _weights(starts, places, keys, values, n_features, n_labels, shrink), n_searches


@njit(cache=True, nogil=True)
def balanced(own, others, C, shared):
    """Move both lists, in place, to the nearest with equal sums and no value below 0.

    No value of ``own`` is above C; if ``shared``, neither is their sum. With μ the multiplier of
    the equal sums, the nearest are min(C, max(0, own + μ)) and max(0, others − μ): the first sum
    grows with μ and the second falls, so that μ is found by halving.
    """
    low, high = -own.max(), others.max()
    if high <= low:
        own[:] = 0.0
        others[:] = 0.0
        return
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _sum_above(own, -middle, C) < _sum_above(others, middle, np.inf):
            low = middle
        else:
            high = middle
    middle = 0.5 * (low + high)
    shift_own, shift_others = middle, -middle
    if shared and _sum_above(own, -middle, C) > C:
        shift_own = -_level(own, C)
        shift_others = -_level(others, C)
    for at in range(own.shape[0]):
        own[at] = min(max(own[at] + shift_own, 0.0), C)
    for at in range(others.shape[0]):
        others[at] = max(others[at] + shift_others, 0.0)


@njit(cache=True, nogil=True)
def _level(values, total):
    """Return the level above which the values sum up to ``total``."""
    low, high = values.max() - total, values.max()
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _sum_above(values, middle, np.inf) > total:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@njit(cache=True, nogil=True)
def _sum_above(values, level, most):
    total = 0.0
    for value in values:
        total += min(max(value - level, 0.0), most)
    return total


@njit(cache=True, nogil=True)
def _row_steps(scores, active, n_own, own_alphas, other_alphas, length, C, shared):
    """Move the α of a row's active labels; return by how much each label's weights move.

    The dual along the α of one row is at most a parabola of curvature ‖x‖², whose minimum under the
    constraints is the point nearest to a step down the slope.
    """
    n_active = active.shape[0]
    steps = np.zeros(n_active, dtype=np.float32)
    if n_active == n_own:
        return steps
    own, others = np.empty(n_own), np.empty(n_active - n_own)
    for at in range(n_own):
        own[at] = own_alphas[at] + (1.0 - scores[active[at]]) / length
    for at in range(n_own, n_active):
        others[at - n_own] = other_alphas[at - n_own] + scores[active[at]] / length
    balanced(own, others, C, shared)
    for at in range(n_own):
        steps[at] = own[at] - own_alphas[at]
        own_alphas[at] = own[at]
    for at in range(n_own, n_active):
        steps[at] = other_alphas[at - n_own] - others[at - n_own]
        other_alphas[at - n_own] = others[at - n_own]
    return steps


@njit(cache=True, nogil=True)
def _lists(starts, places, keys, values, shrink):
    """Return the labels and the values of each feature's weights that are not zero, and where."""
    n_features = starts.shape[0]
    ptr = np.zeros(n_features + 1, dtype=np.int64)
    for feature in range(n_features):
        by = np.float32(shrink if feature > 0 else 0.0)
        n_kept = 0
        for place in range(starts[feature], starts[feature] + places[feature]):
            n_kept += abs(values[place]) > by
        ptr[feature + 1] = ptr[feature] + n_kept
    labels = np.empty(ptr[n_features], dtype=np.int32)
    weights = np.empty(ptr[n_features], dtype=np.float32)
    at = 0
    for feature in range(n_features):
        by = np.float32(shrink if feature > 0 else 0.0)
        for place in range(starts[feature], starts[feature] + places[feature]):
            if abs(values[place]) > by:
                labels[at] = keys[place]
                weights[at] = shrunk(values[place], by)
                at += 1
    return ptr, labels, weights


@njit(cache=True, nogil=True)
def _score_all(indptr, indices, data, row, lists, scores):
    """Add up the scores of all labels for a row, by lists of weights."""
    ptr, labels, weights = lists
    for at in range(indptr[row], indptr[row + 1]):
        feature = indices[at]
        for entry in range(ptr[feature], ptr[feature + 1]):
            scores[labels[entry]] += data[at] * weights[entry]


@njit(cache=True, nogil=True)
def _score_some(indptr, indices, data, row, starts, places, keys, values, shrink, active, scores):
    """Write down the scores of the active labels for a row."""
    for label in active:
        scores[label] = 0.0
    for at in range(indptr[row], indptr[row + 1]):
        feature = indices[at]
        by = np.float32(shrink if feature > 0 else 0.0)
        for label in active:
            place = _place_of(keys, starts[feature], places[feature], label, scores.shape[0])
            if keys[place] == label:
                scores[label] += data[at] * shrunk(values[place], by)


@njit(cache=True, nogil=True)
def _join_best(scores, own, others, alphas, n_others, n_joining):
    """Let the labels that score highest join, of those that violate the margin of the row.

    Returns how many are active then, beside the row's own. ``scores`` are as before.
    """
    own_scores = np.empty(own.shape[0], dtype=np.float32)
    other_scores = np.empty(MOST_ACTIVE, dtype=np.float32)
    lowest = np.float32(np.inf)
    for at in range(own.shape[0]):
        own_scores[at] = scores[own[at]]
        lowest = min(lowest, own_scores[at])
        scores[own[at]] = -np.inf
    for at in range(n_others):
        other_scores[at] = scores[others[at]]
        scores[others[at]] = -np.inf
    for _ in range(min(n_joining, MOST_ACTIVE - n_others)):
        best = np.argmax(scores)
        if scores[best] <= lowest - 1.0:
            break
        others[n_others] = best
        alphas[n_others] = 0.0
        other_scores[n_others] = scores[best]
        scores[best] = -np.inf
        n_others += 1
    for at in range(own.shape[0]):
        scores[own[at]] = own_scores[at]
    for at in range(n_others):
        scores[others[at]] = other_scores[at]
    return n_others


@njit(cache=True, nogil=True)
def _drop_idle(others, alphas, n_others):
    """Let go of active labels whose α is zero; return how many stay."""
    n_kept = 0
    for at in range(n_others):
        if alphas[at] > 0.0:
            others[n_kept] = others[at]
            alphas[n_kept] = alphas[at]
            n_kept += 1
    return n_kept


@njit(cache=True, nogil=True)
def _place_of(keys, start, n_places, label, n_labels):
    """Return where a label is in a table, or where it would be."""
    if n_places >= n_labels:
        return start + np.int64(label)
    mask = n_places - 1
    place = ((label * 0x9E3779B1) >> 8) & mask
    while keys[start + place] != label and keys[start + place] >= 0:
        place = (place + 1) & mask
    return start + place


@njit(cache=True, nogil=True)
def _add(keys, values, start, n_places, labels, steps, by, n_labels):
    """Add steps to the sums of labels in a table; return how many are new in it."""
    n_new = 0
    for at in range(labels.shape[0]):
        if steps[at] == 0.0:
            continue
        place = _place_of(keys, start, n_places, labels[at], n_labels)
        if keys[place] < 0:
            keys[place] = labels[at]
            n_new += 1
        values[place] += steps[at] * by
    return n_new


@njit(cache=True, nogil=True)
def _with_room(keys, values, used, starts, places, feature, needed, n_labels):
    """Move a table to the end of the store, so large that ``needed`` places fit."""
    start, size = starts[feature], places[feature]
    larger = size
    while larger < needed:
        larger *= 2
    if used + larger > keys.shape[0]:
        n_places = 2 * max(keys.shape[0], larger)
        more_keys = np.full(n_places, -1, dtype=np.int32)
        more_values = np.zeros(n_places, dtype=np.float32)
        more_keys[:used] = keys[:used]
        more_values[:used] = values[:used]
        keys, values = more_keys, more_values
    starts[feature], places[feature] = used, larger
    for place in range(start, start + size):
        if keys[place] >= 0:
            new = _place_of(keys, used, larger, keys[place], n_labels)
            keys[new] = keys[place]
            values[new] = values[place]
    return keys, values, used + larger


@njit(cache=True, nogil=True)
def _weights(starts, places, keys, values, n_features, n_labels, shrink):
    """Return features, labels and values of the weights that are not zero, and the biases."""
    ptr, labels, weights = _lists(starts, places, keys, values, shrink)
    biases = np.zeros(n_labels, dtype=np.float32)
    biases[labels[: ptr[1]]] = weights[: ptr[1]]
    features = np.empty(labels.shape[0] - ptr[1], dtype=np.int32)
    for feature in range(1, n_features):
        features[ptr[feature] - ptr[1] : ptr[feature + 1] - ptr[1]] = feature
    return features, labels[ptr[1] :].copy(), weights[ptr[1] :].copy(), biases
