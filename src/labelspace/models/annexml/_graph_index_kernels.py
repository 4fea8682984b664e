"""Compiled loops of the original program's search: growing the tree, walking tree and graph."""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import below, next_state, seeded
from labelspace.compiling import njit

FAST = {"contract", "reassoc", "nsz"}


@njit(cache=True, nogil=True)
def grow(keys, leaf_size, seed):
    """Return a tree of halves: centroids, first children (-1 at leaves), bounds, and the rows.

    A random row's farthest row a, and the farthest row b from that, share out the rows of a node
    by which of them is nearer.
    """
    n, dim = keys.shape
    rows = np.arange(n)
    centroids = np.zeros((2 * n + 1, dim), dtype=np.float32)
    children = np.full(2 * n + 1, -1, dtype=np.int64)
    bounds = np.zeros((2 * n + 1, 2), dtype=np.int64)
    bounds[0, 1] = n
    state = seeded(seed, 0, 1)
    n_nodes = 1
    node = 0
    while node < n_nodes:
        start, end = bounds[node]
        for at in range(start, end):
            centroids[node] += keys[rows[at]] / np.float32(end - start)
        if end - start > leaf_size:
            state = next_state(state)
            drawn = rows[start + below(state, end - start)]
            one = _farthest(keys, rows, start, end, drawn)
            other = _farthest(keys, rows, start, end, one)
            middle = start
            for at in range(start, end):
                row = rows[at]
                if square(keys[row], keys[one]) < square(keys[row], keys[other]):
                    rows[at], rows[middle] = rows[middle], rows[at]
                    middle += 1
            if start < middle < end:
                children[node] = n_nodes
                bounds[n_nodes] = (start, middle)
                bounds[n_nodes + 1] = (middle, end)
                n_nodes += 2
        node += 1
    return centroids[:n_nodes].copy(), children[:n_nodes].copy(), bounds[:n_nodes].copy(), rows


@njit(cache=True, nogil=True)
def _farthest(keys, rows, start, end, row):
    farthest, distance = row, np.float32(-1.0)
    for at in range(start, end):
        here = square(keys[rows[at]], keys[row])
        if here > distance:
            farthest, distance = rows[at], here
    return farthest


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def walk(queries, keys, centroids, children, bounds, rows, edges, k, reach):
    """Return the places and squared distances of the nearest keys that a walk meets."""
    n, n_queries = keys.shape[0], queries.shape[0]
    places = np.full((n_queries, k), -1, dtype=np.int64)
    squares = np.full((n_queries, k), np.inf, dtype=np.float32)
    seen = np.full(n, -1, dtype=np.int64)
    stack = np.empty(n, dtype=np.int64)
    for number in range(n_queries):
        query = queries[number]
        node = 0
        while children[node] >= 0:
            left = children[node]
            nearer = square(query, centroids[left]) <= square(query, centroids[left + 1])
            node = left if nearer else left + 1
        # Rows of one leaf are where the walk begins, however far they are.
        height = 0
        for at in range(bounds[node, 0], bounds[node, 1]):
            row = rows[at]
            seen[row] = number
            _keep(places[number], squares[number], row, square(query, keys[row]))
        for at in range(bounds[node, 0], bounds[node, 1]):
            height = _push(edges[rows[at]], seen, number, stack, height)
        while height > 0:
            height -= 1
            row = stack[height]
            distance = square(query, keys[row])
            if distance < reach * squares[number, k - 1]:
                _keep(places[number], squares[number], row, distance)
                height = _push(edges[row], seen, number, stack, height)
    return places, squares


@njit(cache=True, nogil=True, fastmath=FAST)
def square(one, other):
    """Return the squared distance of two vectors."""
    total = np.float32(0.0)
    for at in range(one.shape[0]):
        difference = one[at] - other[at]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def _push(neighbors, seen, number, stack, height):
    """Put neighbours that were not seen on the stack; returns its height."""
    for neighbor in neighbors:
        if neighbor >= 0 and seen[neighbor] != number:
            seen[neighbor] = number
            stack[height] = neighbor
            height += 1
    return height


@njit(cache=True, nogil=True)
def _keep(places, squares, row, distance):
    """Put a row among the nearest so far, which are in order, if it is near enough."""
    k = places.shape[0]
    if not distance < squares[k - 1]:
        return
    at = k - 1
    while at > 0 and squares[at - 1] > distance:
        places[at], squares[at] = places[at - 1], squares[at - 1]
        at -= 1
    places[at], squares[at] = row, distance
