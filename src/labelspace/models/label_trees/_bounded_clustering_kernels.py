"""Compiled loops of clustering with bounded sizes."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def kmeans_plus_plus(points, n_parts, chances):
    """Return points to begin k-means with: each far from those before, by ``chances`` in [0, 1)."""
    n, dim = points.shape
    chosen = np.empty((n_parts, dim), dtype=np.float32)
    nearest = np.full(n, np.float32(1e30))
    at = min(np.int64(chances[0] * n), n - 1)
    for part in range(n_parts):
        for axis in range(dim):
            chosen[part, axis] = points[at, axis]
        total = 0.0
        for point in range(n):
            distance = np.float32(0.0)
            for axis in range(dim):
                difference = points[point, axis] - chosen[part, axis]
                distance += difference * difference
            nearest[point] = min(nearest[point], distance)
            total += nearest[point]
        if part + 1 < n_parts:
            rest = chances[part + 1] * total
            at = 0
            while at < n - 1 and rest >= nearest[at]:
                rest -= nearest[at]
                at += 1
    return chosen


@njit(cache=True, nogil=True)
def bounded_kmeans(points, centers, room, max_iter):
    """Return each point's part; no part has more than ``room`` points.

    Those that would lose most by their second choice choose first.
    """
    n, dim = points.shape
    n_parts = centers.shape[0]
    centers = centers.copy()
    part_of = np.full(n, -1, dtype=np.int64)
    distances = np.empty((n, n_parts), dtype=np.float32)
    urgency = np.empty(n, dtype=np.float32)
    sizes = np.zeros(n_parts, dtype=np.int64)
    for _ in range(max_iter):
        for point in range(n):
            best = np.float32(1e30)
            second = np.float32(1e30)
            for part in range(n_parts):
                distance = np.float32(0.0)
                for axis in range(dim):
                    difference = points[point, axis] - centers[part, axis]
                    distance += difference * difference
                distances[point, part] = distance
                if distance < best:
                    second = best
                    best = distance
                elif distance < second:
                    second = distance
            urgency[point] = best - second
        order = np.argsort(urgency, kind="mergesort") if room < n else np.arange(n)
        sizes[:] = 0
        n_moved = 0
        for point in order:
            best_part = -1
            for part in range(n_parts):
                if sizes[part] < room and (
                    best_part < 0 or distances[point, part] < distances[point, best_part]
                ):
                    best_part = part
            sizes[best_part] += 1
            if part_of[point] != best_part:
                part_of[point] = best_part
                n_moved += 1
        if n_moved == 0:
            break
        centers[:] = np.float32(0.0)
        for point in range(n):
            for axis in range(dim):
                centers[part_of[point], axis] += points[point, axis]
        for part in range(n_parts):
            if sizes[part] > 0:
                for axis in range(dim):
                    centers[part, axis] /= np.float32(sizes[part])
            else:
                # A part that lost all its points begins again at the point worst served.
                worst = 0
                for point in range(n):
                    if distances[point, part_of[point]] > distances[worst, part_of[worst]]:
                        worst = point
                for axis in range(dim):
                    centers[part, axis] = points[worst, axis]
    return part_of


@njit(cache=True, nogil=True)
def bounded_choice(gains, room):
    """Return for each row of ``gains`` a column of large value; no column is taken too often.

    Those that would lose most by their second choice choose first.
    """
    n, n_parts = gains.shape
    urgency = np.empty(n, dtype=np.float32)
    for one in range(n):
        best = np.float32(-1.0)
        second = np.float32(-1.0)
        for part in range(n_parts):
            if gains[one, part] > best:
                second = best
                best = gains[one, part]
            elif gains[one, part] > second:
                second = gains[one, part]
        urgency[one] = second - best
    chosen = np.empty(n, dtype=np.int64)
    sizes = np.zeros(n_parts, dtype=np.int64)
    for one in np.argsort(urgency, kind="mergesort"):
        best_part = -1
        for part in range(n_parts):
            if sizes[part] < room and (
                best_part < 0
                or gains[one, part] > gains[one, best_part]
                or (gains[one, part] == gains[one, best_part] and sizes[part] < sizes[best_part])
            ):
                best_part = part
        sizes[best_part] += 1
        chosen[one] = best_part
    return chosen
