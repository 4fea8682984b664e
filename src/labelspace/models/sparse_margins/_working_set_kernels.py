"""Compiled loops that train sparse classifiers, a label at a time, on a working set of rows.

A label's classifier is learned from its positives and some negatives; then all rows are scored, by
the lists of rows of the few features that have a weight, and negatives that violate their margin
join, until none does. Feature 0 is a constant one, which is not shrunk.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelspace._random_kernels import seeded, shuffle
from labelspace.compiling import njit
from labelspace.linear._l1_kernels import SQUARED_HINGE, shrunk, train_l1
from labelspace.linear._subproblem_kernels import longer

HINGE_DUAL = 0
SQUARED_HINGE_L1 = 1
SQUARED_HINGE_DUAL = 2

# Negatives that join at a time: as many as positives, but so many at least.
JOIN_AT_LEAST = 500


@njit(cache=True, nogil=True)
def train_labels(
    indptr, indices, data, lengths, n_features, column_ptr, column_rows, column_values,
    positive_ptr, positive_rows, positive_costs, problems, starters, kind, C, shrink, tol,
    max_rounds, max_passes, seed,
):  # fmt: skip
    """Train the classifiers of ``problems``.

    ``positive_costs`` are those of each label's own rows with the squared hinge; all else costs C.

    Returns how many weights each has, their features and values with feature 0 first, and the
    rounds that each took.
    """
    n_rows = indptr.shape[0] - 1
    n_problems = problems.shape[0]
    counts = np.zeros(n_problems, dtype=np.int64)
    rounds = np.zeros(n_problems, dtype=np.int64)
    features = np.empty(4096, dtype=np.int32)
    values = np.empty(4096, dtype=np.float32)
    n_kept = 0
    sums = np.zeros(n_features)
    place_of = np.full(n_features, -1, dtype=np.int32)
    scores = np.zeros(n_rows, dtype=np.float32)
    is_member = np.zeros(n_rows, dtype=np.bool_)
    members = np.empty(n_rows, dtype=np.int32)
    alphas = np.zeros(n_rows)
    most_alpha = C if kind == HINGE_DUAL else np.inf
    ridge = 0.0 if kind == HINGE_DUAL else 0.5 / C
    for number in range(n_problems):
        problem = problems[number]
        positives = positive_rows[positive_ptr[problem] : positive_ptr[problem + 1]]
        n_positive = positives.shape[0]
        n_members = _join(positives, members, 0, is_member)
        n_members = _join(starters, members, n_members, is_member)
        alphas[:n_members] = 0.0
        n_weights = 0
        while True:
            rounds[number] += 1
            here = members[:n_members]
            if kind != SQUARED_HINGE_L1:
                descend(
                    indptr, indices, data, lengths, here, n_positive, alphas, sums, most_alpha,
                    ridge, shrink, tol, max_passes, seeded(seed, problem, rounds[number]),
                )  # fmt: skip
                touched, weights = _shrunk_sums(indptr, indices, here, sums, place_of, shrink)
            else:
                touched, weights = _train_l1(
                    indptr, indices, data, here, n_positive, place_of, C, positive_costs[problem],
                    tol, max_passes, seed + problem, sums,
                )  # fmt: skip
            n_weights = touched.shape[0]
            if rounds[number] == max_rounds:
                break
            most = max(JOIN_AT_LEAST, n_positive)
            joining = violators(
                touched, weights, column_ptr, column_rows, column_values, is_member, scores,
                np.float32(tol - 1.0), most,
            )  # fmt: skip
            if joining.shape[0] == 0:
                break
            if kind != SQUARED_HINGE_L1:
                n_members = _let_go(members, alphas, n_members, n_positive, is_member)
            alphas[n_members : n_members + joining.shape[0]] = 0.0
            n_members = _join(joining, members, n_members, is_member)
        if n_kept + n_weights > features.shape[0]:
            features = longer(features, n_kept, n_kept + n_weights)
            values = longer(values, n_kept, n_kept + n_weights)
        for at in range(n_weights):
            features[n_kept + at] = touched[at]
            values[n_kept + at] = weights[at]
        n_kept += n_weights
        counts[number] = n_weights
        for row in members[:n_members]:
            is_member[row] = False
        sums[:] = 0.0
    return counts, features[:n_kept].copy(), values[:n_kept].copy(), rounds


@njit(cache=True, nogil=True)
def descend(
    indptr, indices, data, lengths, members, n_positive, alphas, sums, most_alpha, ridge, shrink,
    tol, max_passes, state,
):  # fmt: skip
    """Make the dual of the hinge, or of its square, small by coordinates; return the passes made.

    ``sums`` are Σ α_i s_i x_i by feature, and the classifier is that with ``shrink`` taken off. An
    α of the hinge is ``most_alpha`` at most; the square adds ½ ``ridge`` α² instead.
    """
    order = np.arange(members.shape[0])
    for turn in range(max_passes):
        state = shuffle(order, order.shape[0], state)
        worst = 0.0
        for place in order:
            row = members[place]
            side = 1.0 if place < n_positive else -1.0
            score = 0.0
            for at in range(indptr[row], indptr[row + 1]):
                feature = indices[at]
                by = shrink if feature > 0 else 0.0
                score += data[at] * shrunk(sums[feature], by)
            before = alphas[place]
            slope = side * score - 1.0 + ridge * before
            wrong = slope
            if before == 0.0:
                wrong = min(slope, 0.0)
            elif before == most_alpha:
                wrong = max(slope, 0.0)
            worst = max(worst, abs(wrong))
            if wrong == 0.0:
                continue
            alphas[place] = min(max(before - slope / (lengths[row] + ridge), 0.0), most_alpha)
            step = side * (alphas[place] - before)
            if step != 0.0:
                for at in range(indptr[row], indptr[row + 1]):
                    sums[indices[at]] += step * data[at]
        if worst < tol:
            return turn + 1
    return max_passes


@njit(cache=True, nogil=True)
def violators(
    touched, weights, column_ptr, column_rows, column_values, is_member, scores, above, most
):
    """Return the rows outside of the working set that score above a limit, the highest of them.

    ``scores`` are zeros, and are so again.
    """
    constant = np.float32(0.0)
    for at in range(touched.shape[0]):
        feature = touched[at]
        if feature == 0:
            constant = weights[at]
            continue
        for entry in range(column_ptr[feature], column_ptr[feature + 1]):
            scores[column_rows[entry]] += weights[at] * column_values[entry]
    found: NDArray[np.int32] = np.empty(64, dtype=np.int32)
    n_found = 0
    for row in range(scores.shape[0]):
        if scores[row] + constant > above and not is_member[row]:
            if n_found == found.shape[0]:
                found = longer(found, n_found, n_found + 1)
            found[n_found] = row
            n_found += 1
    found = found[:n_found]
    if n_found > most:
        order = np.argsort(-scores[found], kind="mergesort")
        found = found[order[:most]]
    scores[:] = np.float32(0.0)
    return found


@njit(cache=True, nogil=True)
def _shrunk_sums(indptr, indices, members, sums, place_of, shrink):
    """Return the features whose weight is not zero, and the weights; feature 0 comes first."""
    touched: NDArray[np.int32] = np.empty(256, dtype=np.int32)
    n_touched = 0
    for row in members:
        for at in range(indptr[row], indptr[row + 1]):
            feature = indices[at]
            if place_of[feature] < 0 and (feature == 0 or abs(sums[feature]) > shrink):
                place_of[feature] = 0
                if n_touched == touched.shape[0]:
                    touched = longer(touched, n_touched, n_touched + 1)
                touched[n_touched] = feature
                n_touched += 1
    touched = touched[:n_touched]
    weights = np.empty(n_touched, dtype=np.float32)
    for at in range(n_touched):
        place_of[touched[at]] = -1
        weights[at] = shrunk(sums[touched[at]], shrink if touched[at] > 0 else 0.0)
    return touched, weights


@njit(cache=True, nogil=True)
def _train_l1(
    indptr, indices, data, members, n_positive, place_of, C, positive_cost, tol, max_passes, seed,
    by_feature,
):  # fmt: skip
    """Return features and weights of the L1-regularised squared hinge on some rows.

    ``by_feature`` are the weights to begin with, and then those that are found.
    """
    n_members = members.shape[0]
    n_entries = 0
    for row in members:
        n_entries += indptr[row + 1] - indptr[row]
    touched = np.empty(min(n_entries, place_of.shape[0]), dtype=np.int32)
    places = np.zeros(touched.shape[0] + 1, dtype=np.int64)
    n_touched = 0
    for row in members:
        for at in range(indptr[row], indptr[row + 1]):
            feature = indices[at]
            if place_of[feature] < 0:
                place_of[feature] = n_touched
                touched[n_touched] = feature
                n_touched += 1
            places[place_of[feature] + 1] += 1
    column_ptr = np.cumsum(places[: n_touched + 1])
    fill = column_ptr[:-1].copy()
    rows = np.empty(n_entries, dtype=np.int32)
    values = np.empty(n_entries, dtype=np.float32)
    for place in range(n_members):
        for at in range(indptr[members[place]], indptr[members[place] + 1]):
            column = place_of[indices[at]]
            rows[fill[column]] = place
            values[fill[column]] = data[at]
            fill[column] += 1
    sides = np.full(n_members, -1.0)
    sides[:n_positive] = 1.0
    costs = np.full(n_members, C)
    costs[:n_positive] = positive_cost
    start = np.zeros(n_touched)
    for at in range(n_touched):
        start[at] = by_feature[touched[at]]
    weights, _ = train_l1(
        column_ptr, rows, values, sides, costs, SQUARED_HINGE, 0.1 * tol, 50, max_passes, seed,
        start,
    )  # fmt: skip
    n_kept = 0
    kept = np.empty(n_touched, dtype=np.int32)
    found = np.empty(n_touched, dtype=np.float32)
    for at in range(n_touched):
        place_of[touched[at]] = -1
        by_feature[touched[at]] = weights[at]
        if touched[at] == 0 or weights[at] != 0.0:
            kept[n_kept] = touched[at]
            found[n_kept] = weights[at]
            n_kept += 1
    return kept[:n_kept], found[:n_kept]


@njit(cache=True, nogil=True)
def _join(rows, members, n_members, is_member):
    for row in rows:
        if not is_member[row]:
            is_member[row] = True
            members[n_members] = row
            n_members += 1
    return n_members


@njit(cache=True, nogil=True)
def _let_go(members, alphas, n_members, n_positive, is_member):
    """Drop negatives whose α is zero; return how many members stay."""
    n_kept = n_positive
    for place in range(n_positive, n_members):
        if alphas[place] > 0.0:
            members[n_kept] = members[place]
            alphas[n_kept] = alphas[place]
            n_kept += 1
        else:
            is_member[members[place]] = False
    return n_kept
