"""Compiled loops that lay out the weights of a label tree's nodes in blocks, and read them off."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit
from labelspace.linear._subproblem_kernels import longer


@njit(cache=True, nogil=True)
def lay_out_blocks(indptr, indices, n_features, first_child, right_ptr, right_nodes):
    """Give each inner node a block of weights: the features of its rows × its children.

    Returns where each node's features begin, the features, where each node's block begins, and
    for each row's stay at an inner node where it begins, followed by its features' places in the
    node's list.
    """
    n_nodes = first_child.shape[0] - 1
    n_rows = indptr.shape[0] - 1
    # Rows of each node, as lists that point on.
    head = np.full(n_nodes, -1, dtype=np.int64)
    behind = np.full(right_nodes.shape[0], -1, dtype=np.int64)
    row_of = np.empty(right_nodes.shape[0], dtype=np.int64)
    stay_ptr = np.zeros(right_nodes.shape[0] + 1, dtype=np.int64)
    for row in range(n_rows):
        for at in range(right_ptr[row], right_ptr[row + 1]):
            node = right_nodes[at]
            row_of[at] = row
            inner = first_child[node] < first_child[node + 1]
            stay_ptr[at + 1] = stay_ptr[at] + (indptr[row + 1] - indptr[row] if inner else 0)
            behind[at] = head[node]
            head[node] = at
    stay_places = np.empty(stay_ptr[-1], dtype=np.int32)
    local = np.full(n_features, -1, dtype=np.int32)
    feature_ptr = np.zeros(n_nodes + 1, dtype=np.int64)
    block_ptr = np.zeros(n_nodes + 1, dtype=np.int64)
    features = np.empty(4096, dtype=np.int32)
    for node in range(n_nodes):
        start = feature_ptr[node]
        n_children = first_child[node + 1] - first_child[node]
        n_local = 0
        if n_children > 0:
            if start + n_features > features.shape[0]:
                features = longer(features, start, start + n_features)
            features[start] = 0
            local[0] = 0
            n_local = 1
            at = head[node]
            while at >= 0:
                row = row_of[at]
                filled = stay_ptr[at]
                for place in range(indptr[row], indptr[row + 1]):
                    feature = indices[place]
                    if local[feature] < 0:
                        local[feature] = n_local
                        features[start + n_local] = feature
                        n_local += 1
                    stay_places[filled] = local[feature]
                    filled += 1
                at = behind[at]
            for place in range(n_local):
                local[features[start + place]] = -1
        feature_ptr[node + 1] = start + n_local
        block_ptr[node + 1] = block_ptr[node] + n_local * n_children
    return feature_ptr, features[: feature_ptr[-1]].copy(), block_ptr, stay_ptr, stay_places


@njit(cache=True, nogil=True)
def from_blocks(weights, first_child, feature_ptr, features, block_ptr, min_weight):
    """Return the nodes, numbers of weights, biases, features and values of blocks of weights."""
    n_nodes = first_child.shape[0] - 1
    nodes = np.arange(1, n_nodes)
    counts = np.zeros(n_nodes - 1, dtype=np.int64)
    biases = np.zeros(n_nodes - 1, dtype=np.float32)
    n_kept = 0
    for value in weights:
        n_kept += value != 0 and abs(value) >= min_weight
    kept_features = np.empty(n_kept, dtype=np.int32)
    kept_values = np.empty(n_kept, dtype=np.float32)
    n_kept = 0
    for node in range(n_nodes):
        first, last = first_child[node], first_child[node + 1]
        for child in range(first, last):
            before = n_kept
            for place in range(feature_ptr[node + 1] - feature_ptr[node]):
                value = weights[block_ptr[node] + place * (last - first) + child - first]
                if place == 0:
                    biases[child - 1] = value
                elif value != 0 and abs(value) >= min_weight:
                    kept_features[n_kept] = features[feature_ptr[node] + place]
                    kept_values[n_kept] = value
                    n_kept += 1
            counts[child - 1] = n_kept - before
    return nodes, counts, biases, kept_features[:n_kept], kept_values[:n_kept]
