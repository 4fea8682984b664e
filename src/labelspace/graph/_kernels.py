"""Compiled loops of the label graph."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit

POSITION_BITS = 31
POSITION_MASK = (1 << POSITION_BITS) - 1


@njit(cache=True, nogil=True)
def label_neighbors(
    start,
    end,
    first_query,
    query_indptr,
    query_indices,
    column_indptr,
    column_indices,
    kept,
    query_norms,
    norms,
    seed,
    by_rarest,
    neighbors,
    similarities,
):
    """Give the most similar rows of queries start..end; equal ones in a random order.

    A query none of whose labels is kept gets rows of its rarest one, if ``by_rarest``.
    """
    shared = np.zeros(norms.shape[0], dtype=np.float32)
    found = np.empty(norms.shape[0], dtype=np.int32)
    # The random rank of a row, then its position among those found: equal ones are told apart.
    keys = np.empty(neighbors.shape[1], dtype=np.int64)
    for query in range(start, end):
        itself = first_query + query if first_query >= 0 else -1
        n_found = 0
        for at in range(query_indptr[query], query_indptr[query + 1]):
            label = query_indices[at]
            if not kept[label]:
                continue
            for place in range(column_indptr[label], column_indptr[label + 1]):
                row = column_indices[place]
                if row == itself:
                    continue
                if shared[row] == 0.0:
                    found[n_found] = row
                    n_found += 1
                shared[row] += 1.0
        n_best = 0
        for at in range(n_found):
            row = found[at]
            similarity = shared[row] / (query_norms[query] * norms[row])
            shared[row] = 0.0
            key = (np.int64(mixed(seed, query, np.int64(row))) << POSITION_BITS) | at
            n_best = insert(keys, similarities[query - start], n_best, key, similarity)
        for at in range(n_best):
            neighbors[query - start, at] = found[keys[at] & POSITION_MASK]
        if n_best == 0 and by_rarest:
            _draw_from_rarest(
                query,
                itself,
                query_indptr,
                query_indices,
                column_indptr,
                column_indices,
                query_norms,
                norms,
                seed,
                neighbors[query - start],
                similarities[query - start],
            )


@njit(cache=True, nogil=True)
def _draw_from_rarest(
    query,
    itself,
    query_indptr,
    query_indices,
    column_indptr,
    column_indices,
    query_norms,
    norms,
    seed,
    rows,
    similarities,
):
    """Give random rows of the query's rarest label, each counted as sharing that label alone."""
    rarest, length = -1, 0
    for at in range(query_indptr[query], query_indptr[query + 1]):
        label = query_indices[at]
        n_rows = column_indptr[label + 1] - column_indptr[label]
        if n_rows > 0 and (rarest < 0 or n_rows < length):
            rarest, length = label, n_rows
    if rarest < 0:
        return
    n_drawn = 0
    for attempt in range(3 * rows.shape[0]):
        place = column_indptr[rarest] + mixed(seed, query, attempt) % length
        row = column_indices[place]
        repeated = row == itself
        for at in range(n_drawn):
            repeated |= rows[at] == row
        if repeated:
            continue
        rows[n_drawn] = row
        similarities[n_drawn] = 1.0 / (query_norms[query] * norms[row])
        n_drawn += 1
        if n_drawn == rows.shape[0]:
            return


@njit(cache=True, nogil=True)
def mixed(seed, one, other):
    """Return 32 bits that look random: the same for the same numbers, on any thread."""
    bits = (
        np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15)
        + np.uint64(one) * np.uint64(0xBF58476D1CE4E5B9)
        + np.uint64(other) * np.uint64(0x94D049BB133111EB)
    )
    bits ^= bits >> np.uint64(31)
    bits *= np.uint64(0xD6E8FEB86659FD93)
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0xD6E8FEB86659FD93)
    return np.uint32(bits >> np.uint64(32))


@njit(cache=True, nogil=True)
def dense_block(indptr, indices, data, labels, places, block):
    """Copy the rows and columns ``labels`` of a sparse matrix; ``places`` is scratch, all -1."""
    for at in range(labels.shape[0]):
        places[labels[at]] = at
    for at in range(labels.shape[0]):
        for entry in range(indptr[labels[at]], indptr[labels[at] + 1]):
            place = places[indices[entry]]
            if place >= 0:
                block[at, place] = data[entry]
