"""Compiled loops that train the children of each node of a label tree by themselves."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelspace.training._problem_kernels import longer
from labelspace.training._random_kernels import seeded
from labelspace.training._squared_hinge_kernels import _descend


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
    """Train the children of ``parents``, each on the rows at its parent; feature 0 is the one.

    Returns the nodes trained, how many weights each keeps, their biases, the features and values
    of the weights, and the most passes that a node took.
    """
    slack = np.float32(0.5 / C)
    n_nodes = 0
    longest = 0
    for parent in parents:
        n_nodes += first_child[parent + 1] - first_child[parent]
        longest = max(longest, node_ptr[parent + 1] - node_ptr[parent])
    nodes = np.empty(n_nodes, dtype=np.int64)
    counts = np.zeros(n_nodes, dtype=np.int64)
    biases = np.zeros(n_nodes, dtype=np.float32)
    kept_features = np.empty(4096, dtype=np.int32)
    kept_values = np.empty(4096, dtype=np.float32)
    n_kept = 0
    local = np.full(n_features, -1, dtype=np.int32)
    global_of = np.empty(n_features, dtype=np.int32)
    order = np.empty(longest, dtype=np.int64)
    alphas = np.empty(longest, dtype=np.float32)
    n_done = 0
    n_passes = 1
    for parent in parents:
        rows = node_rows[node_ptr[parent] : node_ptr[parent + 1]]
        n_rows = rows.shape[0]
        # The parent's rows by themselves, with the features that they have: these fit a cache.
        part_ptr = np.zeros(n_rows + 1, dtype=np.int64)
        for at in range(n_rows):
            part_ptr[at + 1] = part_ptr[at] + indptr[rows[at] + 1] - indptr[rows[at]]
        part_indices = np.empty(part_ptr[-1], dtype=np.int32)
        part_data = np.empty(part_ptr[-1], dtype=np.float32)
        part_lengths = np.empty(n_rows, dtype=np.float32)
        local[0] = 0
        global_of[0] = 0
        n_local = 1
        filled = 0
        for at in range(n_rows):
            part_lengths[at] = lengths[rows[at]]
            for place in range(indptr[rows[at]], indptr[rows[at] + 1]):
                feature = indices[place]
                if local[feature] < 0:
                    local[feature] = n_local
                    global_of[n_local] = feature
                    n_local += 1
                part_indices[filled] = local[feature]
                part_data[filled] = data[place]
                filled += 1
        weights = np.empty(n_local, dtype=np.float32)
        first, last = first_child[parent], first_child[parent + 1]
        for child in range(first, last):
            nodes[n_done] = child
            if last - first > 1 and n_rows > 0:
                n_positive = _positives_first(
                    rows, node_rows[node_ptr[child] : node_ptr[child + 1]], order
                )
                alphas[:n_rows] = np.float32(0.0)
                weights[:] = np.float32(0.0)
                taken = _descend(
                    part_ptr,
                    part_indices,
                    part_data,
                    part_lengths,
                    order,
                    alphas,
                    n_rows,
                    n_positive,
                    slack,
                    tol,
                    max_iter,
                    weights,
                    seeded(seed, child, 1),
                )
                n_passes = max(n_passes, taken)
                biases[n_done] = weights[0]
                if n_kept + n_local > kept_features.shape[0]:
                    kept_features = longer(kept_features, n_kept, n_kept + n_local)
                    kept_values = longer(kept_values, n_kept, n_kept + n_local)
                before = n_kept
                for feature in range(1, n_local):
                    if weights[feature] != 0 and abs(weights[feature]) >= min_weight:
                        kept_features[n_kept] = global_of[feature]
                        kept_values[n_kept] = weights[feature]
                        n_kept += 1
                counts[n_done] = n_kept - before
            else:
                # An only child is always right.
                biases[n_done] = np.float32(1.0)
            n_done += 1
        for feature in range(n_local):
            local[global_of[feature]] = -1
    features, values = kept_features[:n_kept].copy(), kept_values[:n_kept].copy()
    return nodes, counts, biases, features, values, n_passes


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
