"""Compiled loops of best-first search in a label tree."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit
from labelspace.search._tree_beam_kernels import LOGISTIC, score_sparse, to_log_probabilities

LOOK_UPS = 4  # features of a node's list that are read in the time of one search in it


@njit(cache=True, nogil=True)
def best_first(
    rows,
    first_child,
    leaf_labels,
    chunks,
    biases,
    n_features,
    least,
    labels,
    label_scores,
    n_products,
):
    """Fill in the likeliest labels of sparse rows and how many nodes were asked for them."""
    indptr, indices, data = rows
    chunk_ptr, chunk_features, entry_ptr, entry_nodes, entry_values = chunks
    n_nodes = leaf_labels.shape[0]
    most_children = 0
    for node in range(first_child.shape[0] - 1):
        most_children = max(most_children, first_child[node + 1] - first_child[node])
    scores = np.empty(most_children, dtype=np.float32)
    heap_nodes = np.empty(n_nodes + 1, dtype=np.int64)
    heap_scores = np.empty(n_nodes + 1, dtype=np.float32)
    row_values = np.zeros(n_features, dtype=np.float32)
    k = labels.shape[1]
    for row in range(indptr.shape[0] - 1):
        start, end = indptr[row], indptr[row + 1]
        row_values[indices[start:end]] = data[start:end]
        heap_nodes[0] = 0
        heap_scores[0] = np.float32(0.0)
        n_heap = 1
        n_found = 0
        while n_heap > 0 and n_found < k:
            node, before = heap_nodes[0], heap_scores[0]
            n_heap = _pop(heap_nodes, heap_scores, n_heap)
            if leaf_labels[node] >= 0:
                # Nothing that is left can be likelier: a path's probability only falls.
                n_found = insert(labels[row], label_scores[row], n_found, leaf_labels[node], before)
                continue
            first, last = first_child[node], first_child[node + 1]
            for child in range(first, last):
                scores[child - first] = biases[child]
            low, high = chunk_ptr[node], chunk_ptr[node + 1]
            if high - low < LOOK_UPS * (end - start):
                for place in range(low, high):
                    value = row_values[chunk_features[place]]
                    if value != 0:
                        for entry in range(entry_ptr[place], entry_ptr[place + 1]):
                            scores[entry_nodes[entry] - first] += value * entry_values[entry]
            else:
                score_sparse(rows, row, chunks, node, first, last, scores)
            n_products[row] += last - first
            to_log_probabilities(scores, last - first, LOGISTIC, np.float32(1.0))
            for child in range(first, last):
                if scores[child - first] < least:
                    continue
                n_heap = _push(
                    heap_nodes, heap_scores, n_heap, child, before + scores[child - first]
                )
        row_values[indices[start:end]] = np.float32(0.0)


@njit(cache=True, nogil=True)
def _push(nodes, scores, size, node, score):
    """Put a node on the heap, whose first has the largest score; return its size."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if scores[above] >= score:
            break
        nodes[at], scores[at] = nodes[above], scores[above]
        at = above
    nodes[at], scores[at] = node, score
    return size + 1


@njit(cache=True, nogil=True)
def _pop(nodes, scores, size):
    """Take the first node off the heap; return its size."""
    size -= 1
    node, score = nodes[size], scores[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and scores[below + 1] > scores[below]:
            below += 1
        if scores[below] <= score:
            break
        nodes[at], scores[at] = nodes[below], scores[below]
        at = below
    nodes[at], scores[at] = node, score
    return size
