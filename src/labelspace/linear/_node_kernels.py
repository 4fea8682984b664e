"""Compiled loops that train the children of each node of a label tree by themselves."""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import seeded
from labelspace.compiling import njit
from labelspace.linear import _hinge_kernels, _logistic_kernels
from labelspace.linear._subproblem_kernels import copy, keep, longer

SQUARED_HINGE = 0
LOGISTIC = 1
HINGE = 2
GROWTH = 0.25  # how C grows as rows get fewer on the way down: paths are long, doubts multiply


@njit(cache=True, nogil=True)
def train_children(
    indptr, indices, data, lengths, n_features, first_child, node_ptr, node_rows, parents, loss, C,
    tol, max_iter, min_weight, seed,
):  # fmt: skip
    """Train the children of ``parents``, each on the rows at its parent; feature 0 is the one.

    Returns the nodes trained, how many weights each keeps, their biases, the features and values
    of the weights, and the most passes that a node took.
    """
    slack = np.float32(0.0) if loss == HINGE else np.float32(0.5 / C)
    most = np.float32(C) if loss == HINGE else _hinge_kernels.FAR
    no_dense = np.empty((0, 0), dtype=np.float32)
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
    order = np.empty(most_rows, dtype=np.int32)
    alphas = np.empty(most_rows, dtype=np.float32)
    signs = np.empty(most_rows, dtype=np.float32)
    n_done = 0
    n_passes = 1
    for parent in parents:
        rows = node_rows[node_ptr[parent] : node_ptr[parent + 1]]
        n_entries = 0
        for row in rows:
            n_entries += indptr[row + 1] - indptr[row]
        places = np.empty(n_entries, dtype=np.uint32)
        entries = np.empty(n_entries, dtype=np.float32)
        n_local = copy(
            indptr, indices, data, rows, rows.shape[0], local, feature_of, ptr, places, entries
        )
        row_lengths = np.empty(rows.shape[0], dtype=np.float32)
        for at in range(rows.shape[0]):
            row_lengths[at] = lengths[rows[at]]
        weights = np.empty(n_local, dtype=np.float32)
        first, last = first_child[parent], first_child[parent + 1]
        for child in range(first, last):
            nodes[n_done] = child
            positives = node_rows[node_ptr[child] : node_ptr[child + 1]]
            weights[:] = np.float32(0.0)
            if loss == LOGISTIC:
                _logistic_kernels.give_signs(rows, positives, signs)
                taken = _logistic_kernels.descend(
                    ptr,
                    places,
                    entries,
                    row_lengths,
                    signs,
                    C * (lengths.shape[0] / max(rows.shape[0], 1)) ** GROWTH,
                    tol,
                    max_iter,
                    weights,
                    seeded(seed, child, 1),
                )
            elif last - first > 1 and n_local > 0:
                n_positive = _positives_first(rows, positives, order)
                alphas[: rows.shape[0]] = np.float32(0.0)
                taken = _hinge_kernels.descend(
                    ptr, places, entries, no_dense, row_lengths, order, alphas, rows.shape[0],
                    n_positive, slack, most, tol, max_iter, weights, seeded(seed, child, 1),
                )  # fmt: skip
            else:
                # An only child is always right.
                taken = 0
                biases[n_done] = np.float32(1.0)
            n_passes = max(n_passes, taken)
            if n_kept + n_local > features.shape[0]:
                features = longer(features, n_kept, n_kept + n_local)
                values = longer(values, n_kept, n_kept + n_local)
            if taken > 0 and n_local > 0:
                # Feature 0 is the first that the first row has.
                biases[n_done] = weights[0]
                weights[0] = np.float32(0.0)
            kept = keep(weights, feature_of, n_local, min_weight, n_kept, features, values)
            counts[n_done] = kept - n_kept
            n_kept = kept
            n_done += 1
        for at in range(n_local):
            local[feature_of[at]] = -1
    return nodes, counts, biases, features[:n_kept].copy(), values[:n_kept].copy(), n_passes


@njit(cache=True, nogil=True)
def _positives_first(rows, positives, order):
    """Put the places of ``positives`` among the sorted ``rows`` first; return how many."""
    n_positive = 0
    n_negative = positives.shape[0]
    for at in range(rows.shape[0]):
        if n_positive < positives.shape[0] and positives[n_positive] == rows[at]:
            order[n_positive] = at
            n_positive += 1
        else:
            order[n_negative] = at
            n_negative += 1
    return n_positive
