"""Compiled loops of the search among places by distance."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def search_lists(
    queries, centroids, centroid_gaps, n_probes, starts, places, gaps, found, nearness
):
    """Fill ``found`` with positions of the nearest places in the nearest lists of each query.

    ``nearness`` gets −‖u − v‖² / gap(v), which orders places as their distance from u does.
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
            for place in range(starts[number], starts[number + 1]):
                square = _square(query, places[place]) / gaps[place]
                if filled < n_neighbors or -square >= nearness[at, n_neighbors - 1]:
                    filled = insert(found[at], nearness[at], filled, place, -square)


@njit(cache=True, nogil=True)
def rank_again(queries, candidates, places, gaps, found, nearness):
    """Fill ``found`` with the nearest of each query's candidates (positions; −1 for none)."""
    for at in range(queries.shape[0]):
        filled = 0
        for one in range(candidates.shape[1]):
            place = candidates[at, one]
            if place >= 0:
                square = _square(queries[at], places[place]) / gaps[place]
                filled = insert(found[at], nearness[at], filled, place, -square)


@njit(cache=True, fastmath=True, nogil=True)
def _square(query, place):
    # The difference is taken before the square: unlike ‖u‖² + ‖v‖² − 2u·v it does not cancel.
    total = 0.0
    for t in range(query.shape[0]):
        apart = query[t] - place[t]
        total += apart * apart
    return total
