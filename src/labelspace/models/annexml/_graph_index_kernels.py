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
            one = _farthest(keys, rows, start, end, drawn, drawn)
            other = _farthest(keys, rows, start, end, one, drawn)
            middle = start
            for at in range(start, end):
                row = rows[at]
                if square(keys[row], keys[one]) <= square(keys[row], keys[other]):
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
def _farthest(keys, rows, start, end, row, skipped):
    """Return the farthest row of a node, itself where all others are copies of it."""
    farthest, distance = row, np.float32(0.0)
    for at in range(start, end):
        if rows[at] == skipped:
            continue
        here = square(keys[rows[at]], keys[row])
        if here > distance:
            farthest, distance = rows[at], here
    return farthest


@njit(cache=True, nogil=True)
def nearest(products, first, edges):
    """Fill in the rows with the largest products, by row, in the order of a heap: last ones last.

    Row ``at`` of ``products`` belongs to row ``first + at``, which is not its own neighbour.
    """
    width = edges.shape[1]
    squares = np.empty(width, dtype=np.float32)
    for at in range(products.shape[0]):
        height = 0
        for row in range(products.shape[1]):
            if row != first + at:
                distance = np.float32(2.0) - np.float32(2.0) * products[at, row]
                height = keep(edges[at], squares, height, row, distance)


@njit(cache=True, nogil=True, fastmath=FAST, error_model="numpy")
def walk(queries, keys, centroids, children, bounds, rows, edges, k, reach):
    """Return the places and squared distances of the nearest keys that a walk meets.

    A row is done with when it is taken from the stack, not when it is put there: it may lie there
    several times, and counts where it lies highest.
    """
    n, n_queries = keys.shape[0], queries.shape[0]
    places = np.full((n_queries, k), -1, dtype=np.int32)
    squares = np.full((n_queries, k), np.inf, dtype=np.float32)
    done = np.full(n, -1, dtype=np.int64)
    # Each row puts its neighbours there once at most.
    stack = np.empty(edges.size, dtype=np.int32)
    for number in range(n_queries):
        query, heap, distances = queries[number], places[number], squares[number]
        node = 0
        while children[node] >= 0:
            left = children[node]
            nearer = square(query, centroids[left]) < square(query, centroids[left + 1])
            node = left if nearer else left + 1
        # Rows of one leaf are where the walk begins, however far they are.
        size = height = 0
        for at in range(bounds[node, 0], bounds[node, 1]):
            size = keep(heap, distances, size, rows[at], square(query, keys[rows[at]]))
        for at in range(size):
            done[heap[at]] = number
        for at in range(size):
            for neighbor in edges[heap[at]]:
                if neighbor >= 0:
                    stack[height] = neighbor
                    height += 1
        while height > 0:
            height -= 1
            row = stack[height]
            if done[row] == number:
                continue
            done[row] = number
            distance = square(query, keys[row])
            size = keep(heap, distances, size, row, distance)
            # The row itself may be the worst by now: then the walk does not go on from it.
            if distance < reach * distances[0]:
                for neighbor in edges[row]:
                    if neighbor >= 0 and done[neighbor] != number:
                        stack[height] = neighbor
                        height += 1
        order = np.argsort(distances)
        places[number], squares[number] = heap[order], distances[order]
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
def keep(heap, distances, size, row, distance):
    """Put a row on a heap of the nearest, the worst of which is first; returns its size.

    The steps are those of C++'s standard library, since rows are visited in the heap's order: when
    the worst one goes, its place sinks to the bottom before the last row rises from there.
    """
    if size < heap.shape[0]:
        _rise(heap, distances, size, row, distance)
        return size + 1
    if distance < distances[0]:
        last, moved, far = size - 1, heap[size - 1], distances[size - 1]
        hole = 0
        while 2 * hole + 2 < last:
            child = 2 * hole + 2
            if distances[child] < distances[child - 1]:
                child -= 1
            heap[hole], distances[hole] = heap[child], distances[child]
            hole = child
        if 2 * hole + 2 == last:
            heap[hole], distances[hole] = heap[last - 1], distances[last - 1]
            hole = last - 1
        if last > 0:
            _rise(heap, distances, hole, moved, far)
        _rise(heap, distances, last, row, distance)
    return size


@njit(cache=True, nogil=True)
def _rise(heap, distances, hole, row, distance):
    while hole > 0 and distances[(hole - 1) // 2] < distance:
        parent = (hole - 1) // 2
        heap[hole], distances[hole] = heap[parent], distances[parent]
        hole = parent
    heap[hole], distances[hole] = row, distance
