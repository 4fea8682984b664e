"""Compiled loops of the search among points by distance."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def search_lists(
    queries, centroids, centroid_gaps, n_probes, starts, points, gaps, found, nearness
):
    """Fill ``found`` with positions of the nearest points in the nearest lists of each query.

    ``nearness`` gets −‖u − v‖² / gap(v), which orders points as their distance from u does.
    """
    n_neighbors = found.shape[1]
    probes = np.empty(n_probes, dtype=np.int64)
    near = np.empty(n_probes)
    for at in range(queries.shape[0]):
        query = queries[at]
        filled = 0
        for number in range(centroids.shape[0]):
            square = _square(query, centroids[number]) / centroid_gaps[number]
            filled = insert(probes, near, filled, number, -square)
        filled = 0
        for probe in range(n_probes):
            number = probes[probe]
            for position in range(starts[number], starts[number + 1]):
                square = _square(query, points[position]) / gaps[position]
                if filled < n_neighbors or -square >= nearness[at, n_neighbors - 1]:
                    filled = insert(found[at], nearness[at], filled, position, -square)


@njit(cache=True, fastmath=True, nogil=True)
def _square(query, point):
    # The difference is taken before the square: unlike ‖u‖² + ‖v‖² − 2u·v it does not cancel.
    total = 0.0
    for t in range(query.shape[0]):
        apart = query[t] - point[t]
        total += apart * apart
    return total
