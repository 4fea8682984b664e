"""Compiled loops that train all labels together, a row at a time, on its active labels.

Rows search among all labels by lists of the weights that are not zero, which are drawn up a number
of times in a pass; what they find is then scored exactly, by the tables of sums. Memory grows with
the pairs of a feature and a label that the tables have, not with features × labels.
"""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import seeded, shuffle
from labelspace.compiling import njit
from labelspace.models.sparse_margins._label_tables_kernels import (
    add_products,
    closed_tables,
    lists_above,
    open_tables,
    score_all,
    score_some,
    take_in,
)
from labelspace.models.sparse_margins._row_margins_kernels import THRESHOLD, row_steps

# Active labels of a row at most, beside its own.
MOST_ACTIVE = 256
# Lists of weights are drawn up after so many rows at first, then each time after twice as many, and
# at last so many times in a pass.
FIRST_LISTS, LISTS_PER_PASS = 32, 16


@njit(cache=True, nogil=True)
def train_rows(
    indptr, indices, data, lengths, n_features, label_ptr, labels, n_labels, pair_ptr, pair_labels,
    C, loss, shrink, tol, max_searches, max_passes, n_joining, slack, n_post_passes, seed,
):  # fmt: skip
    """Return features, labels and values of all weights, the biases, and the searches made.

    Weights are for the pairs of a feature and a label that are given, or for all if there are none.
    """
    n_rows = indptr.shape[0] - 1
    rows = indptr, indices, data, lengths
    truth = label_ptr, labels
    duals = (
        np.zeros(labels.shape[0], dtype=np.float32),
        np.full((n_rows, 0), -1, dtype=np.int32),
        np.zeros((n_rows, 0), dtype=np.float32),
        np.zeros(n_rows, dtype=np.int64),
        np.full(n_rows, 0.0 if loss == THRESHOLD else -1.0),
    )
    order = np.arange(n_rows)
    state = seeded(seed, n_rows, n_labels)
    is_open = pair_labels.shape[0] == 0
    tables, counts = open_tables(n_features)
    if not is_open:
        sums = np.zeros(pair_labels.shape[0], dtype=np.float32)
        tables = closed_tables(pair_ptr, pair_labels, sums, n_labels)
    used = tables[2].shape[0]
    n_searches = 0
    while n_searches < max_searches:
        n_searches += 1
        duals = _with_room(duals, min(MOST_ACTIVE, n_labels), n_joining)
        moved_most = 0.0
        for turn in range(max_passes):
            state = shuffle(order, n_rows, state)
            tables, used, moved = _pass(
                rows, truth, n_labels, duals, tables, is_open, counts, used, order, C, loss, shrink,
                n_joining if turn == 0 else 0, slack,
            )  # fmt: skip
            moved_most = max(moved_most, moved)
            if moved <= tol:
                break
        if moved_most <= tol:
            break
    if n_post_passes > 0:
        ptr, keys, sums = lists_above(tables, shrink, 0.0)
        tables = closed_tables(ptr, keys, sums, n_labels)
        shrink = 0.0
        for _ in range(n_post_passes):
            state = shuffle(order, n_rows, state)
            tables, used, moved = _pass(
                rows, truth, n_labels, duals, tables, False, counts, used, order, C, loss, shrink,
                0, slack,
            )  # fmt: skip
            if moved <= tol:
                break
    return _weights(lists_above(tables, shrink, shrink), n_labels), n_searches


@njit(cache=True, nogil=True)
def _with_room(duals, most, n_joining):
    """Return the duals with places for labels that join in one search, in every row as many."""
    own_alphas, others, other_alphas, n_others, bars = duals
    n_rows, n_before = others.shape
    n_places = min(most, n_others.max() + n_joining) if n_rows > 0 else 0
    if n_places <= n_before:
        return duals
    wider = np.full((n_rows, n_places), -1, dtype=np.int32)
    wider[:, :n_before] = others
    wider_alphas = np.zeros((n_rows, n_places), dtype=np.float32)
    wider_alphas[:, :n_before] = other_alphas
    return own_alphas, wider, wider_alphas, n_others, bars


@njit(cache=True, nogil=True)
def _pass(
    rows, truth, n_labels, duals, tables, is_open, counts, used, order, C, loss, shrink, n_joining,
    slack,
):  # fmt: skip
    """Settle the α of each row once, after a search if any labels may join.

    Returns the tables, how many places of their store are used, and by which share of their sum the
    α of own labels and others have moved.
    """
    indptr, indices, data, lengths = rows
    label_ptr, labels = truth
    own_alphas, others, other_alphas, n_others, bars = duals
    scores = np.zeros(n_labels, dtype=np.float32)
    active = np.empty(n_labels + MOST_ACTIVE, dtype=np.int32)
    lists = lists_above(tables, np.inf if n_joining == 0 else shrink, shrink)
    n_since, n_between = 0, FIRST_LISTS
    moved, mass = 0.0, 0.0
    for row in order:
        first, last = label_ptr[row], label_ptr[row + 1]
        n_own = last - first
        if n_own == 0 or n_own == n_labels:
            continue
        own = labels[first:last]
        features, values = (
            indices[indptr[row] : indptr[row + 1]],
            data[indptr[row] : indptr[row + 1]],
        )
        if n_joining > 0:
            if n_since >= n_between:
                lists = lists_above(tables, shrink, shrink)
                n_since = 0
                n_between = min(2 * n_between, order.shape[0] // LISTS_PER_PASS + FIRST_LISTS)
            n_since += 1
            score_all(lists, features, values, scores)
            bar = bars[row] if loss == THRESHOLD else scores[own].min() - np.float32(1.0)
            n_others[row] = join_best(
                scores, own, others[row], other_alphas[row], n_others[row], n_joining, bar + slack
            )
        n_active = n_own + n_others[row]
        active[:n_own] = own
        active[n_own:n_active] = others[row, : n_others[row]]
        here = active[:n_active]
        score_some(tables, features, values, shrink, here, scores)
        steps, bars[row] = row_steps(
            scores, here, n_own, own_alphas[first:last], other_alphas[row],
            max(lengths[row], 1e-12), C, loss,
        )  # fmt: skip
        n_others[row] = _drop_idle(others[row], other_alphas[row], n_others[row])
        mass += own_alphas[first:last].sum()
        change = np.abs(steps).sum()
        if change > 0.0:
            moved += change
            if is_open:
                tables, used = take_in(tables, counts, used, features, here, steps, n_labels)
            add_products(tables, features, values, here, steps, n_labels)
    return tables, used, moved / max(mass, 1e-12)


@njit(cache=True, nogil=True)
def join_best(scores, own, others, alphas, n_others, n_joining, bar):
    """Let the labels that score highest join, of those that score more than the bar.

    Returns how many are active then, beside the row's own. ``scores`` of active labels are lost.
    """
    n_free = min(n_joining, others.shape[0] - n_others)
    if n_free <= 0:
        return n_others
    scores[own] = -np.inf
    scores[others[:n_others]] = -np.inf
    best = np.empty(n_free, dtype=np.float32)
    n_found = 0
    for label in range(scores.shape[0]):
        score = scores[label]
        if score <= bar or (n_found == n_free and score <= best[n_free - 1]):
            continue
        n_found = min(n_found + 1, n_free)
        at = n_found - 1
        while at > 0 and best[at - 1] < score:
            best[at] = best[at - 1]
            others[n_others + at] = others[n_others + at - 1]
            at -= 1
        best[at] = score
        others[n_others + at] = label
    alphas[n_others : n_others + n_found] = 0.0
    return n_others + n_found


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
def _weights(lists, n_labels):
    """Return features, labels and values of the weights that are not zero, and the biases."""
    ptr, labels, weights = lists
    biases = np.zeros(n_labels, dtype=np.float32)
    biases[labels[: ptr[1]]] = weights[: ptr[1]]
    features = np.empty(labels.shape[0] - ptr[1], dtype=np.int32)
    for feature in range(1, ptr.shape[0] - 1):
        features[ptr[feature] - ptr[1] : ptr[feature + 1] - ptr[1]] = feature
    return features, labels[ptr[1] :].copy(), weights[ptr[1] :].copy(), biases
