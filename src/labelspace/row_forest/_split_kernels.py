"""Compiled loops that split the rows of a node in two: by rankings of labels, or by two means.

Both leave the weights of a hyperplane in ``plane``, which is zero elsewhere, and return the
features that it has and its bias.
"""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import below, next_state, shuffle
from labelspace.compiling import njit
from labelspace.linear._l1_kernels import LOGISTIC, train_l1

# Turns of ranking and choosing sides at most; means settle in fewer.
MOST_TURNS = 50
MEAN_TURNS = 10


@njit(cache=True, nogil=True)
def sides_by_rankings(rows, label_ptr, labels, gains, row_gains, discounts, sums, state):
    """Return the side, 0 or 1, of each row, such that each side's ranking of labels suits its rows.

    Sides begin at random. Then each side ranks labels by the gains of its rows, every row takes
    the side whose ranking gives it the larger DCG, and so on while the total grows. ``row_gains``
    is 1 over the best DCG of each row, ``sums`` is a scratch of zeros, (2, n_labels).
    """
    n_rows = rows.shape[0]
    sides = np.zeros(n_rows, dtype=np.int8)
    for at in range(n_rows):
        state = next_state(state)
        sides[at] = below(state, 2)
    touched = labels_of(rows, label_ptr, labels, sums[0])
    rankings = np.empty((2, touched.shape[0]))
    before = -1.0
    for _ in range(MOST_TURNS):
        for at in range(n_rows):
            row = rows[at]
            for entry in range(label_ptr[row], label_ptr[row + 1]):
                label = labels[entry]
                sums[sides[at], label] += gains[label] * row_gains[row]
        total = 0.0
        for side in range(2):
            for at in range(touched.shape[0]):
                rankings[side, at] = -sums[side, touched[at]]
            order = np.argsort(rankings[side], kind="mergesort")
            for rank in range(order.shape[0]):
                total -= rankings[side, order[rank]] * discounts[rank]
                sums[side, touched[order[rank]]] = discounts[rank]
        for at in range(n_rows):
            row = rows[at]
            better = 0.0
            for entry in range(label_ptr[row], label_ptr[row + 1]):
                label = labels[entry]
                better += gains[label] * (sums[1, label] - sums[0, label])
            if better > 0.0:
                sides[at] = 1
            elif better < 0.0:
                sides[at] = 0
        for label in touched:
            sums[0, label] = 0.0
            sums[1, label] = 0.0
        if total / n_rows - before < 1e-6:
            break
        before = total / n_rows
    return sides


@njit(cache=True, nogil=True)
def labels_of(rows, label_ptr, labels, scratch):
    """Return the labels that the rows have; ``scratch`` are zeros, and are so again."""
    touched = np.empty(64, dtype=np.int32)
    n_touched = 0
    for row in rows:
        for entry in range(label_ptr[row], label_ptr[row + 1]):
            label = labels[entry]
            if scratch[label] == 0.0:
                scratch[label] = 1.0
                if n_touched == touched.shape[0]:
                    longer = np.empty(2 * n_touched, dtype=np.int32)
                    longer[:n_touched] = touched
                    touched = longer
                touched[n_touched] = label
                n_touched += 1
    for label in touched[:n_touched]:
        scratch[label] = 0.0
    return touched[:n_touched]


@njit(cache=True, nogil=True)
def separate(
    indptr, indices, data, rows, sides, place_of, plane, C, tol, max_steps, max_passes, most_rows,
    state,
):  # fmt: skip
    """Put the weights that tell the sides apart into ``plane``; return their features and the bias.

    L1-regularised logistic regression, in which both sides weigh the same; where there are more
    than ``most_rows`` it sees so many of them.
    """
    seen = np.arange(rows.shape[0])
    if seen.shape[0] > most_rows:
        shuffle(seen, seen.shape[0], state)
        seen = seen[:most_rows]
    n_seen = seen.shape[0]
    n_ones = 0
    for at in seen:
        n_ones += sides[at]
    if n_ones == 0 or n_ones == n_seen:
        return np.empty(0, dtype=np.int32), -1.0
    costs = np.empty(n_seen)
    signs = np.empty(n_seen)
    for at in range(n_seen):
        one = sides[seen[at]] == 1
        signs[at] = 1.0 if one else -1.0
        costs[at] = C * n_seen / (n_ones if one else n_seen - n_ones)
    touched, column_ptr, column_rows, values = _by_columns(
        indptr, indices, data, rows, seen, costs, place_of
    )
    weights, _ = train_l1(
        column_ptr, column_rows, values, signs, costs, LOGISTIC, tol, max_steps, max_passes,
        np.int64(state >> np.uint64(33)), np.zeros(touched.shape[0] + 1),
    )  # fmt: skip
    for at in range(touched.shape[0]):
        plane[touched[at]] = weights[at]
    return touched, weights[touched.shape[0]]


@njit(cache=True, nogil=True)
def _by_columns(indptr, indices, data, rows, seen, costs, place_of):
    """Return the features that can matter, and their matrix by columns; the last is all ones.

    A row pulls at a weight by its cost times its value at most. A feature at which all rows
    together cannot pull by more than 1, the slope of the penalty, has no weight and is left out.
    ``place_of`` are -1 for all features, and are so again.
    """
    met = _features_of(indptr, indices, rows[seen], place_of)
    pulls = np.zeros(met.shape[0])
    counts = np.zeros(met.shape[0], dtype=np.int64)
    for at in range(seen.shape[0]):
        row = rows[seen[at]]
        for entry in range(indptr[row], indptr[row + 1]):
            place = place_of[indices[entry]]
            pulls[place] += costs[at] * abs(data[entry])
            counts[place] += 1
    touched = met[pulls > 1.0]
    n_features = touched.shape[0]
    column_ptr = np.zeros(n_features + 2, dtype=np.int64)
    n_kept = 0
    for place in range(met.shape[0]):
        place_of[met[place]] = -1
        if pulls[place] > 1.0:
            place_of[met[place]] = n_kept
            n_kept += 1
            column_ptr[n_kept] = column_ptr[n_kept - 1] + counts[place]
    column_ptr[n_features + 1] = column_ptr[n_features] + seen.shape[0]
    fill = column_ptr[:-1].copy()
    column_rows = np.empty(column_ptr[-1], dtype=np.int32)
    values = np.empty(column_ptr[-1], dtype=np.float32)
    for at in range(seen.shape[0]):
        row = rows[seen[at]]
        for entry in range(indptr[row], indptr[row + 1]):
            column = place_of[indices[entry]]
            if column >= 0:
                column_rows[fill[column]] = at
                values[fill[column]] = data[entry]
                fill[column] += 1
        column_rows[fill[n_features]] = at
        values[fill[n_features]] = 1.0
        fill[n_features] += 1
    for feature in touched:
        place_of[feature] = -1
    return touched, column_ptr, column_rows, values


@njit(cache=True, nogil=True)
def two_means(indptr, indices, data, rows, row_weights, place_of, plane, state):
    """Put the plane that lies between two means of the rows into ``plane``.

    The means begin as two rows. ``row_weights`` say how much each row counts; ``place_of`` are -1
    for all features, and are so again.
    """
    touched = _features_of(indptr, indices, rows, place_of)
    means = np.zeros((2, touched.shape[0]))
    state = next_state(state)
    one = below(state, rows.shape[0])
    state = next_state(state)
    other = (one + 1 + below(state, rows.shape[0] - 1)) % rows.shape[0]
    sides = np.full(rows.shape[0], -1, dtype=np.int8)
    sides[one], sides[other] = 0, 1
    normal = np.zeros(touched.shape[0])
    bias = 0.0
    for _ in range(MEAN_TURNS):
        means[:] = 0.0
        counts = np.zeros(2)
        for at in range(rows.shape[0]):
            if sides[at] >= 0:
                row = rows[at]
                counts[sides[at]] += row_weights[row]
                for entry in range(indptr[row], indptr[row + 1]):
                    means[sides[at], place_of[indices[entry]]] += row_weights[row] * data[entry]
        if counts.min() == 0.0:
            break
        bias = 0.0
        for place in range(touched.shape[0]):
            first, second = means[0, place] / counts[0], means[1, place] / counts[1]
            normal[place] = second - first
            bias += 0.5 * (first * first - second * second)
        n_moved = 0
        for at in range(rows.shape[0]):
            row = rows[at]
            score = bias
            for entry in range(indptr[row], indptr[row + 1]):
                score += normal[place_of[indices[entry]]] * data[entry]
            side = 1 if score > 0.0 else 0
            n_moved += side != sides[at]
            sides[at] = side
        if n_moved == 0:
            break
    for place in range(touched.shape[0]):
        plane[touched[place]] = normal[place]
        place_of[touched[place]] = -1
    return touched, bias


@njit(cache=True, nogil=True)
def _features_of(indptr, indices, rows, place_of):
    """Return the features that the rows have, and number them in ``place_of``."""
    n_entries = 0
    for row in rows:
        n_entries += indptr[row + 1] - indptr[row]
    touched = np.empty(min(n_entries, place_of.shape[0]), dtype=np.int32)
    n_touched = 0
    for row in rows:
        for entry in range(indptr[row], indptr[row + 1]):
            feature = indices[entry]
            if place_of[feature] < 0:
                place_of[feature] = n_touched
                touched[n_touched] = feature
                n_touched += 1
    return touched[:n_touched]
