"""Compiled loops of complete-link clustering on a sparse graph."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

NOBODY = -1


@njit(cache=True, nogil=True)
def complete_link(indptr, indices, data, weights, room, join_all):
    """Return pairs of slots that merge, and how alike they are, in the order of a chain.

    Follows nearest neighbours until two are each other's, and merges these; the merged cluster
    takes the larger slot. Ties go to the one before in the chain, else to the smaller slot.
    Clusters whose ``weights`` add up to more than ``room`` do not merge. What has no links merges
    at likeness 0 with ``join_all``, else stays by itself.

    A cluster's links are a list that points on. Merging hangs one list behind the other. When a
    cluster is looked at, links that lead to one cluster by now become one, with the smallest
    likeness and the number of pairs of points behind it; links without all pairs are dropped.
    """
    n = indptr.shape[0] - 1
    link_to = np.empty(data.shape[0], dtype=np.int64)
    likeness = np.empty(data.shape[0])
    n_pairs = np.ones(data.shape[0], dtype=np.int64)
    behind = np.full(data.shape[0], NOBODY, dtype=np.int64)
    first = np.full(n, NOBODY, dtype=np.int64)
    last = np.full(n, NOBODY, dtype=np.int64)
    for point in range(n):
        for at in range(indptr[point], indptr[point + 1]):
            if indices[at] == point or data[at] <= 0:
                continue
            link_to[at] = indices[at]
            likeness[at] = data[at]
            if first[point] == NOBODY:
                first[point] = at
            else:
                behind[last[point]] = at
            last[point] = at

    weights = weights.copy()
    slot_of = np.arange(n)
    sizes = np.ones(n, dtype=np.int64)
    seen_at = np.full(n, NOBODY, dtype=np.int64)
    after = np.arange(1, n + 1)  # the next slot in use
    before = np.arange(-1, n - 1)
    lowest = 0
    chain = np.empty(n + 1, dtype=np.int64)
    n_chain = 0
    pairs = np.empty((max(n - 1, 0), 2), dtype=np.int64)
    alike = np.empty(max(n - 1, 0))
    n_merges = 0
    while lowest < n and after[lowest] < n:
        if n_chain == 0:
            chain[0] = lowest
            n_chain = 1
        while True:
            one = chain[n_chain - 1]
            previous = chain[n_chain - 2] if n_chain > 1 else NOBODY
            _group(one, link_to, likeness, n_pairs, behind, first, slot_of, seen_at)
            _drop(one, link_to, n_pairs, behind, first, last, sizes, seen_at, weights, room)
            other, best = previous, 0.0
            at = first[one]
            while at != NOBODY:
                if likeness[at] > best or (
                    likeness[at] == best and other != previous and link_to[at] < other
                ):
                    other, best = link_to[at], likeness[at]
                if link_to[at] == previous and likeness[at] >= best:
                    other, best = previous, likeness[at]
                at = behind[at]
            if other == NOBODY and join_all:
                other = after[lowest] if one == lowest else lowest
            if other == previous:
                break
            chain[n_chain] = other
            n_chain += 1
        low = one
        if other == NOBODY:
            n_chain = 0
        else:
            n_chain -= 2
            low, high = min(one, other), max(one, other)
            pairs[n_merges, 0], pairs[n_merges, 1] = low, high
            alike[n_merges] = best
            n_merges += 1
            slot_of[low] = high
            sizes[high] += sizes[low]
            weights[high] += weights[low]
            if first[low] != NOBODY:
                if first[high] == NOBODY:
                    first[high] = first[low]
                else:
                    behind[last[high]] = first[low]
                last[high] = last[low]
        # The smaller slot is no longer in use, nor is one that can merge with nobody.
        if before[low] == NOBODY:
            lowest = after[low]
        else:
            after[before[low]] = after[low]
        if after[low] < n:
            before[after[low]] = before[low]
    return pairs[:n_merges], alike[:n_merges]


@njit(cache=True, nogil=True)
def _group(one, link_to, likeness, n_pairs, behind, first, slot_of, seen_at):
    """Make one link of those of a cluster that lead to the same one by now."""
    at, kept = first[one], NOBODY
    while at != NOBODY:
        following = behind[at]
        other = _slot(slot_of, link_to[at])
        link_to[at] = other
        same = seen_at[other]
        if same != NOBODY:
            likeness[same] = min(likeness[same], likeness[at])
            n_pairs[same] += n_pairs[at]
            behind[kept] = following
        else:
            seen_at[other] = at
            kept = at
        at = following


@njit(cache=True, nogil=True)
def _drop(one, link_to, n_pairs, behind, first, last, sizes, seen_at, weights, room):
    """Drop the links of a cluster that stand for too few pairs, or for too large a cluster."""
    at, kept = first[one], NOBODY
    first[one] = NOBODY
    while at != NOBODY:
        following = behind[at]
        other = link_to[at]
        seen_at[other] = NOBODY
        complete = other != one and n_pairs[at] == sizes[one] * sizes[other]
        if complete and weights[one] + weights[other] <= room:
            if kept == NOBODY:
                first[one] = at
            else:
                behind[kept] = at
            behind[at] = NOBODY
            kept = at
        at = following
    last[one] = kept


@njit(cache=True, nogil=True)
def _slot(slot_of, one):
    """Return the slot of the cluster that ``one`` has gone into, and shorten the way there."""
    while slot_of[one] != one:
        slot_of[one] = slot_of[slot_of[one]]
        one = slot_of[one]
    return one


@njit(cache=True, nogil=True)
def to_linkage(pairs, alike, n):
    """Return scipy's form of merges that are sorted by falling likeness."""
    linkage = np.empty((n - 1, 4))
    slot_of = np.arange(2 * n - 1)
    sizes = np.ones(2 * n - 1, dtype=np.int64)
    for merge in range(n - 1):
        one = _slot(slot_of, pairs[merge, 0])
        other = _slot(slot_of, pairs[merge, 1])
        new = n + merge
        slot_of[one] = new
        slot_of[other] = new
        sizes[new] = sizes[one] + sizes[other]
        linkage[merge, 0] = min(one, other)
        linkage[merge, 1] = max(one, other)
        linkage[merge, 2] = 0.0 - alike[merge]
        linkage[merge, 3] = sizes[new]
    return linkage
