"""Compiled loops that train the logistic classifiers of a label tree.

``fastmath`` allows fused multiply-add only, so that the answer is the same on every machine.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelspace.training._problem_kernels import FUSED, copy, keep, longer, product
from labelspace.training._random_kernels import seeded, shuffle

GROWTH = 0.25  # how C grows as rows get fewer on the way down: paths are long, doubts multiply
UNTOUCHED = -5.0  # where dual variables begin, on the logistic scale: nearly nothing
MOST_STEPS = 20  # of the search for a dual variable's best value
CLOSE_ENOUGH = 0.01  # of its gradient there


@njit(cache=True, nogil=True)
def train_siblings(
    indptr,
    indices,
    data,
    lengths,
    n_features,
    first_child,
    node_ptr,
    node_rows,
    parents,
    C,
    tol,
    max_iter,
    min_weight,
    seed,
):
    """Train the children of ``parents``, on the rows of these; feature 0 is the constant one.

    Returns the nodes trained, how many weights each keeps, their biases, the features and values
    of the weights, and the most passes that a node took.
    """
    n_nodes = 0
    most_rows = 0
    for parent in parents:
        n_nodes += first_child[parent + 1] - first_child[parent]
        most_rows = max(most_rows, node_ptr[parent + 1] - node_ptr[parent])
    nodes = np.empty(n_nodes, dtype=np.int64)
    counts = np.zeros(n_nodes, dtype=np.int64)
    biases = np.zeros(n_nodes, dtype=np.float32)
    features = np.empty(4096, dtype=np.int32)
    values = np.empty(4096, dtype=np.float32)
    n_kept = 0
    local = np.full(n_features, -1, dtype=np.int32)
    feature_of = np.empty(n_features, dtype=np.int32)
    ptr = np.empty(most_rows + 1, dtype=np.int64)
    signs = np.empty(most_rows, dtype=np.float32)
    n_done = 0
    n_passes = 0
    for parent in parents:
        rows = node_rows[node_ptr[parent] : node_ptr[parent + 1]]
        n_entries = 0
        for row in rows:
            n_entries += indptr[row + 1] - indptr[row]
        places = np.empty(n_entries, dtype=np.int32)
        entries = np.empty(n_entries, dtype=np.float32)
        n_local = copy(
            indptr, indices, data, rows, rows.shape[0], local, feature_of, ptr, places, entries
        )
        for child in range(first_child[parent], first_child[parent + 1]):
            _give_signs(rows, node_rows[node_ptr[child] : node_ptr[child + 1]], signs)
            weights = np.zeros(n_local, dtype=np.float32)
            taken = descend(
                ptr,
                places,
                entries,
                lengths[rows],
                signs,
                C * (lengths.shape[0] / max(rows.shape[0], 1)) ** GROWTH,
                tol,
                max_iter,
                weights,
                seeded(seed, child, 1),
            )
            n_passes = max(n_passes, taken)
            if n_kept + n_local > features.shape[0]:
                features = longer(features, n_kept, n_kept + n_local)
                values = longer(values, n_kept, n_kept + n_local)
            if n_local > 0:
                # Feature 0 is the first that the first row has.
                biases[n_done] = weights[0]
                weights[0] = np.float32(0.0)
            kept = keep(weights, feature_of, n_local, min_weight, n_kept, features, values)
            nodes[n_done] = child
            counts[n_done] = kept - n_kept
            n_kept = kept
            n_done += 1
        for at in range(n_local):
            local[feature_of[at]] = -1
    return nodes, counts, biases, features[:n_kept].copy(), values[:n_kept].copy(), n_passes


@njit(cache=True, nogil=True, fastmath=FUSED)
def descend(ptr, places, entries, lengths, signs, C, tol, max_iter, weights, state):
    """Dual coordinate descent; ``weights`` begin at zero. Returns the number of passes.

    A row's dual variable is C σ(t). With w = Σ C σ(t_i) y_i x_i the best t_i is −y_i w·x_i, which
    one row after another comes nearer to; the root of

        g(t) = t + y w·x + ‖x‖² C (σ(t) − σ(t before))

    is found by Newton's method, held between bounds that the slope of g gives.
    """
    n_rows = lengths.shape[0]
    order = np.arange(n_rows)
    duals = np.full(n_rows, UNTOUCHED)
    for row in range(n_rows):
        step = np.float32(C * _logistic(UNTOUCHED) * signs[row])
        for entry in range(ptr[row], ptr[row + 1]):
            weights[places[entry]] += step * entries[entry]
    n_passes = 0
    while n_passes < max_iter:
        n_passes += 1
        state = shuffle(order, n_rows, state)
        worst = 0.0
        for row in order:
            margin = signs[row] * product(places, entries, ptr[row], ptr[row + 1], weights)
            reach = C * lengths[row]
            before = _logistic(duals[row])
            t = duals[row]
            violation = t + margin
            worst = max(worst, abs(violation))
            if abs(violation) < CLOSE_ENOUGH:
                continue
            low = -margin - reach * (1.0 - before)
            high = -margin + reach * before
            share = before
            for _ in range(MOST_STEPS):
                gradient = t + margin + reach * (share - before)
                if abs(gradient) < CLOSE_ENOUGH * 0.1:
                    break
                if gradient > 0:
                    high = min(high, t)
                else:
                    low = max(low, t)
                t -= gradient / (1.0 + reach * share * (1.0 - share))
                if not low <= t <= high:
                    t = 0.5 * (low + high)
                share = _logistic(t)
            duals[row] = t
            step = np.float32(C * (share - before) * signs[row])
            for entry in range(ptr[row], ptr[row + 1]):
                weights[places[entry]] += step * entries[entry]
        if worst <= tol:
            break
    return n_passes


@njit(cache=True, nogil=True)
def _logistic(t):
    return 1.0 / (1.0 + np.exp(-t))


@njit(cache=True, nogil=True)
def _give_signs(rows, positives, signs):
    """Write 1 for the rows that are among the positives and -1 for the others; both are sorted."""
    at = 0
    for place in range(rows.shape[0]):
        while at < positives.shape[0] and positives[at] < rows[place]:
            at += 1
        right = at < positives.shape[0] and positives[at] == rows[place]
        signs[place] = np.float32(1.0) if right else np.float32(-1.0)
