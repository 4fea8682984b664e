"""Compiled loops of trees of rows: how a tree is grown, and how rows fall through it.

A node holds some rows. A split is a hyperplane: rows with w·x + b > 0 go to the second child, all
others to the first. What differs between the methods is how the two sides are found, by rankings of
labels or by two means; growing, leaves and falling are the same. The nodes of a tree are numbered
level by level, and the children of a node are neighbours.
"""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import seeded
from labelspace._topk_kernels import insert
from labelspace.compiling import njit
from labelspace.row_forest._split_kernels import (
    labels_of,
    separate,
    sides_by_rankings,
    two_means,
)

RANKINGS = 0
MEANS = 1

# Below a hyperplane that splits off one row at a time no tree ends: it does here.
MOST_LEVELS = 200


@njit(cache=True, nogil=True)
def grow(
    indptr, indices, data, n_features, label_ptr, labels, n_labels, gains, row_gains, discounts,
    kind, leaf_size, leaf_labels, C, tol, max_steps, max_passes, most_rows, seed,
):  # fmt: skip
    """Grow a tree on all rows.

    Returns for each node its first child (0: it is a leaf), where its weights begin, and its bias;
    features and values of all weights; where the labels of each leaf begin, labels and their
    shares; and the rows by leaf, with where those of each node begin and end.
    """
    n_rows = indptr.shape[0] - 1
    rows = np.arange(n_rows)
    first_child = np.zeros(2 * n_rows + 1, dtype=np.int32)
    starts = np.zeros(2 * n_rows + 1, dtype=np.int64)
    ends = np.zeros(2 * n_rows + 1, dtype=np.int64)
    levels = np.zeros(2 * n_rows + 1, dtype=np.int64)
    biases = np.zeros(2 * n_rows + 1, dtype=np.float32)
    weight_ptr = np.zeros(2 * n_rows + 2, dtype=np.int64)
    leaf_ptr = np.zeros(2 * n_rows + 2, dtype=np.int64)
    features = np.empty(1024, dtype=np.int32)
    values = np.empty(1024, dtype=np.float32)
    kept = np.empty(1024, dtype=np.int32)
    shares = np.empty(1024, dtype=np.float32)
    sums = np.zeros((2, n_labels))
    place_of = np.full(n_features + 1, -1, dtype=np.int32)
    plane = np.zeros(n_features, dtype=np.float32)
    ends[0] = n_rows
    n_nodes = 1
    node = 0
    while node < n_nodes:
        start, end = starts[node], ends[node]
        weight_ptr[node + 1] = weight_ptr[node]
        leaf_ptr[node + 1] = leaf_ptr[node]
        here = rows[start:end]
        n_first = 0
        if end - start > leaf_size and levels[node] < MOST_LEVELS:
            if kind == RANKINGS:
                sides = sides_by_rankings(
                    here,
                    label_ptr,
                    labels,
                    gains,
                    row_gains,
                    discounts,
                    sums,
                    seeded(seed, node, 1),
                )
                n_ones = np.count_nonzero(sides)
                if 0 < n_ones < here.shape[0]:
                    touched, bias = separate(
                        indptr, indices, data, here, sides, place_of, plane, C, tol, max_steps,
                        max_passes, most_rows, seeded(seed, node, 2),
                    )  # fmt: skip
                else:
                    touched, bias = np.empty(0, dtype=np.int32), -1.0
            else:
                touched, bias = two_means(
                    indptr, indices, data, here, row_gains, place_of, plane, seeded(seed, node, 1)
                )
            n_first = _divide(indptr, indices, data, here, plane, np.float32(bias))
            if 0 < n_first < end - start:
                used = weight_ptr[node]
                features, values = with_room(features, values, used + touched.shape[0])
                for feature in np.sort(touched):
                    if plane[feature] != 0.0:
                        features[used] = feature
                        values[used] = plane[feature]
                        used += 1
                weight_ptr[node + 1] = used
                biases[node] = bias
                first_child[node] = n_nodes
                starts[n_nodes], ends[n_nodes] = start, start + n_first
                starts[n_nodes + 1], ends[n_nodes + 1] = start + n_first, end
                levels[n_nodes] = levels[n_nodes + 1] = levels[node] + 1
                n_nodes += 2
            for feature in touched:
                plane[feature] = 0.0
        if first_child[node] == 0:
            used = leaf_ptr[node]
            kept, shares = with_room(kept, shares, used + leaf_labels)
            leaf_ptr[node + 1] = used + leaf_distribution(
                here, label_ptr, labels, gains, row_gains, kind == MEANS, sums[0], kept[used:],
                shares[used:], leaf_labels,
            )  # fmt: skip
        node += 1
    return (
        first_child[:n_nodes].copy(), weight_ptr[: n_nodes + 1].copy(), biases[:n_nodes].copy(),
        features[: weight_ptr[n_nodes]].copy(), values[: weight_ptr[n_nodes]].copy(),
        leaf_ptr[: n_nodes + 1].copy(), kept[: leaf_ptr[n_nodes]].copy(),
        shares[: leaf_ptr[n_nodes]].copy(), rows, starts[:n_nodes].copy(), ends[:n_nodes].copy(),
    )  # fmt: skip


@njit(cache=True, nogil=True)
def _divide(indptr, indices, data, rows, plane, bias):
    """Put the rows on the first side of the plane before the others; return how many they are."""
    others = np.empty(rows.shape[0], dtype=np.int64)
    n_first = 0
    n_others = 0
    for row in rows:
        score = np.float32(0.0)
        for entry in range(indptr[row], indptr[row + 1]):
            score += plane[indices[entry]] * data[entry]
        if score + bias > 0.0:
            others[n_others] = row
            n_others += 1
        else:
            rows[n_first] = row
            n_first += 1
    rows[n_first:] = others[:n_others]
    return n_first


@njit(cache=True, nogil=True)
def leaf_distribution(
    rows, label_ptr, labels, gains, row_weights, is_weighted, scratch, kept, shares, most
):
    """Put the labels with the largest gains of the rows, per row, into ``kept``; return how many.

    ``row_weights`` count if told. ``scratch`` are zeros, and are so again.
    """
    touched = labels_of(rows, label_ptr, labels, scratch)
    for row in rows:
        weight = row_weights[row] if is_weighted else 1.0
        for entry in range(label_ptr[row], label_ptr[row + 1]):
            scratch[labels[entry]] += weight * gains[labels[entry]]
    n_kept = 0
    for label in touched:
        share = np.float32(scratch[label] / rows.shape[0])
        n_kept = insert(kept[:most], shares[:most], n_kept, label, share)
        scratch[label] = 0.0
    return n_kept


@njit(cache=True, nogil=True)
def with_room(numbers, values, size):
    """Return both arrays, longer if they are too short."""
    if size <= numbers.shape[0]:
        return numbers, values
    longer_numbers = np.empty(2 * size, dtype=numbers.dtype)
    longer_values = np.empty(2 * size, dtype=values.dtype)
    longer_numbers[: numbers.shape[0]] = numbers
    longer_values[: values.shape[0]] = values
    return longer_numbers, longer_values


@njit(cache=True, nogil=True)
def fall(
    indptr, indices, data, first, last, roots, first_child, weight_ptr, features, values, biases,
    n_features, leaves,
):  # fmt: skip
    """Write down for rows, from ``first`` to ``last``, the leaf that each comes to in each tree.

    The rows go together, so that a hyperplane is laid out once for all that meet it.
    """
    plane = np.zeros(n_features, dtype=np.float32)
    rows = np.arange(first, last)
    nodes = np.empty(rows.shape[0] + 1, dtype=np.int64)
    starts = np.empty(rows.shape[0] + 1, dtype=np.int64)
    ends = np.empty(rows.shape[0] + 1, dtype=np.int64)
    for tree in range(roots.shape[0]):
        nodes[0], starts[0], ends[0] = roots[tree], 0, rows.shape[0]
        n_ahead = 1
        while n_ahead > 0:
            n_ahead -= 1
            node, start, end = nodes[n_ahead], starts[n_ahead], ends[n_ahead]
            child = first_child[node]
            if child == 0:
                for row in rows[start:end]:
                    leaves[row, tree] = node
                continue
            low, high = weight_ptr[node], weight_ptr[node + 1]
            for at in range(low, high):
                plane[features[at]] = values[at]
            middle = start + _divide(indptr, indices, data, rows[start:end], plane, biases[node])
            for at in range(low, high):
                plane[features[at]] = 0.0
            if middle > start:
                nodes[n_ahead], starts[n_ahead], ends[n_ahead] = child, start, middle
                n_ahead += 1
            if middle < end:
                nodes[n_ahead], starts[n_ahead], ends[n_ahead] = child + 1, middle, end
                n_ahead += 1


@njit(cache=True, nogil=True)
def add_up(leaves, first, last, leaf_ptr, kept, shares, n_labels, found, scores):
    """Rank labels by the mean of their shares in the leaves that a row comes to."""
    sums = np.zeros(n_labels, dtype=np.float32)
    is_found = np.zeros(n_labels, dtype=np.bool_)
    touched = np.empty(n_labels, dtype=np.int32)
    for row in range(first, last):
        n_touched = 0
        for leaf in leaves[row]:
            for at in range(leaf_ptr[leaf], leaf_ptr[leaf + 1]):
                if not is_found[kept[at]]:
                    is_found[kept[at]] = True
                    touched[n_touched] = kept[at]
                    n_touched += 1
                sums[kept[at]] += shares[at]
        n_found = 0
        for label in touched[:n_touched]:
            score = sums[label] / np.float32(leaves.shape[1])
            n_found = insert(found[row], scores[row], n_found, np.int64(label), score)
            sums[label] = 0.0
            is_found[label] = False
