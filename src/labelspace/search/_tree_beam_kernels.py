"""Compiled loops of beam search in a label tree."""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from labelspace._topk_kernels import insert
from labelspace.compiling import njit

LOGISTIC = 0
SOFTMAX = 1
SQUARED_HINGE = 2


@njit(cache=True, nogil=True)
def chunks(indptr, indices, data, parents, n_nodes):
    """Lay weights (features × nodes, by feature) out by parent, then by feature.

    Returns where each parent's features begin, the features, where each one's entries begin, and
    the entries: nodes and values. Features keep their order within a parent.
    """
    n_features = indptr.shape[0] - 1
    n_entries = np.zeros(n_nodes + 1, dtype=np.int64)
    n_chunk = np.zeros(n_nodes + 1, dtype=np.int64)
    last = np.full(n_nodes, -1, dtype=np.int64)
    for feature in range(n_features):
        for at in range(indptr[feature], indptr[feature + 1]):
            parent = parents[indices[at]]
            if parent < 0:
                continue
            n_entries[parent + 1] += 1
            if last[parent] != feature:
                last[parent] = feature
                n_chunk[parent + 1] += 1
    chunk_ptr = np.cumsum(n_chunk)
    filled = np.cumsum(n_entries)
    features = np.empty(chunk_ptr[-1], dtype=np.int32)
    entry_ptr = np.empty(chunk_ptr[-1] + 1, dtype=np.int64)
    entry_ptr[-1] = filled[-1]
    nodes = np.empty(filled[-1], dtype=np.int32)
    values = np.empty(filled[-1], dtype=np.float32)
    next_chunk = chunk_ptr.copy()
    last[:] = -1
    for feature in range(n_features):
        for at in range(indptr[feature], indptr[feature + 1]):
            node = indices[at]
            parent = parents[node]
            if parent < 0:
                continue
            place = filled[parent]
            filled[parent] += 1
            if last[parent] != feature:
                last[parent] = feature
                features[next_chunk[parent]] = feature
                entry_ptr[next_chunk[parent]] = place
                next_chunk[parent] += 1
            nodes[place] = node
            values[place] = data[at]
    return chunk_ptr, features, entry_ptr, nodes, values


@njit(cache=True, nogil=True)
def beam_search(
    rows,
    predictors,
    biases,
    first_child,
    leaf_labels,
    link,
    sharpness,
    beam,
    labels,
    label_scores,
    n_products,
):
    """Fill in the best labels of rows and the inner products that they took.

    ``rows`` and ``predictors`` are what ``score_children`` knows: a sparse matrix's three arrays
    with the five of ``chunks``, or two dense matrices.
    """
    most_children = 0
    for node in range(first_child.shape[0] - 1):
        most_children = max(most_children, first_child[node + 1] - first_child[node])
    scores = np.empty(most_children, dtype=np.float32)
    front = np.empty((2, beam), dtype=np.int64)
    front_scores = np.empty((2, beam), dtype=np.float32)
    k = labels.shape[1]
    for row in range(labels.shape[0]):
        front[0, 0] = 0
        front_scores[0, 0] = np.float32(0.0)
        n_front = 1
        n_found = 0
        turn = 0
        while n_front > 0:
            n_next = 0
            for place in range(n_front):
                if n_found == k and front_scores[turn, place] < label_scores[row, k - 1]:
                    break  # a path's score only falls, and those that follow are lower
                parent = front[turn, place]
                first, last = first_child[parent], first_child[parent + 1]
                for child in range(first, last):
                    scores[child - first] = biases[child]
                score_children(rows, row, predictors, parent, first, last, scores)
                n_products[row] += last - first
                n_found, n_next = _go_on(
                    parent,
                    front_scores[turn, place],
                    scores,
                    first_child,
                    leaf_labels,
                    link,
                    sharpness,
                    labels[row],
                    label_scores[row],
                    n_found,
                    front[1 - turn],
                    front_scores[1 - turn],
                    n_next,
                )
            n_front = n_next
            turn = 1 - turn


def score_children(rows, row, predictors, parent, first, last, scores):
    """Add a row's products with the children of a node to ``scores``; compiled by what rows are."""
    score = _score_dense if isinstance(rows, np.ndarray) else _score_sparse
    score(rows, row, predictors, parent, first, last, scores)


@overload(score_children, jit_options={"fastmath": True})
def _score_children(rows, row, predictors, parent, first, last, scores):
    return _score_dense if isinstance(rows, types.Array) else _score_sparse


def _score_dense(rows, row, predictors, parent, first, last, scores):
    z = rows[row]
    for child in range(first, last):
        vector = predictors[child]
        score = scores[child - first]
        for axis in range(z.shape[0]):
            score += z[axis] * vector[axis]
        scores[child - first] = score


def _score_sparse(rows, row, predictors, parent, first, last, scores):
    indptr, indices, data = rows
    chunk_ptr, features, entry_ptr, nodes, values = predictors
    low, high = chunk_ptr[parent], chunk_ptr[parent + 1]
    for at in range(indptr[row], indptr[row + 1]):
        feature = indices[at]
        low = _first_not_below(features, low, high, feature)
        if low == high:
            break
        if features[low] == feature:
            value = data[at]
            for entry in range(entry_ptr[low], entry_ptr[low + 1]):
                scores[nodes[entry] - first] += value * values[entry]


# The same with additions in the order that they are written in.
score_sparse = njit(cache=True, nogil=True)(_score_sparse)


@njit(cache=True, nogil=True)
def _go_on(
    parent,
    before,
    scores,
    first_child,
    leaf_labels,
    link,
    sharpness,
    labels,
    label_scores,
    n_found,
    front,
    front_scores,
    n_next,
):
    """Give the children of a node their path's score: leaves are found, others stand for next."""
    first, last = first_child[parent], first_child[parent + 1]
    to_log_probabilities(scores, last - first, link, sharpness)
    for child in range(first, last):
        score = before + scores[child - first]
        if leaf_labels[child] >= 0:
            n_found = _insert_once(labels, label_scores, n_found, leaf_labels[child], score)
        else:
            n_next = insert(front, front_scores, n_next, child, score)
    return n_found, n_next


@njit(cache=True, nogil=True)
def to_log_probabilities(scores, n_scores, link, sharpness):
    """Turn the scores of siblings into log probabilities, in place."""
    if link == LOGISTIC:
        for at in range(n_scores):
            turned = -sharpness * scores[at]
            scores[at] = -(max(turned, np.float32(0.0)) + np.log1p(np.exp(-abs(turned))))
    elif link == SQUARED_HINGE:
        for at in range(n_scores):
            missing = max(np.float32(1.0) - sharpness * scores[at], np.float32(0.0))
            scores[at] = -missing * missing
    else:
        highest = np.float32(-np.inf)
        for at in range(n_scores):
            scores[at] *= sharpness
            highest = max(highest, scores[at])
        total = 0.0
        for at in range(n_scores):
            total += np.exp(scores[at] - highest)
        shift = highest + np.float32(np.log(total))
        for at in range(n_scores):
            scores[at] -= shift


@njit(cache=True, nogil=True)
def _first_not_below(values, low, high, wanted):
    """Return the first place in a sorted stretch whose value is not below the one wanted."""
    step = 1
    while low + step < high and values[low + step] < wanted:
        low += step
        step *= 2
    high = min(high, low + step + 1)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _insert_once(ids, scores, filled, one, score):
    """Insert into a short sorted list; what is in it already keeps its better score."""
    if filled == ids.shape[0] and score < scores[filled - 1]:
        return filled
    for at in range(filled):
        if ids[at] == one:
            if scores[at] >= score:
                return filled
            for place in range(at, filled - 1):
                ids[place] = ids[place + 1]
                scores[place] = scores[place + 1]
            filled -= 1
            break
    return insert(ids, scores, filled, one, score)
