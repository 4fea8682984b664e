"""Loops of SMCE: many small sparse problems, solved by coordinate descent in pairs."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

# Two directions that are this alike are one: a step between them is bounded by the L1 term alone.
_FLAT = 1e-12
# Steps in pairs after which the coordinates in use are solved for together.
_PAIRS = 32


@njit(cache=True, nogil=True)
def sparse_weights(
    start,
    end,
    queries,
    points,
    candidates,
    penalty,
    tolerance,
    max_steps,
    coefficients,
    distances,
    n_steps,
):
    """Fill rows ``start`` to ``end`` of ``coefficients``, ``distances`` and ``n_steps``.

    A candidate that coincides with its query has no direction: it alone gets weight.
    """
    n_candidates = candidates.shape[1]
    directions = np.empty((n_candidates, points.shape[1]))
    gram = np.empty((n_candidates, n_candidates))
    costs = np.empty(n_candidates)
    for row in range(start, end):
        coincident = -1
        total = 0.0
        for at in range(n_candidates):
            squared = 0.0
            for axis in range(points.shape[1]):
                difference = points[candidates[row, at], axis] - queries[row, axis]
                directions[at, axis] = difference
                squared += difference * difference
            length = np.sqrt(squared)
            distances[row, at] = length
            total += length
            if length == 0.0:
                if coincident < 0:
                    coincident = at
            else:
                for axis in range(points.shape[1]):
                    directions[at, axis] /= length
        if coincident >= 0:
            coefficients[row] = 0.0
            coefficients[row, coincident] = 1.0
            n_steps[row] = 0
            continue
        for at in range(n_candidates):
            costs[at] = penalty * distances[row, at] / total
        for at in range(n_candidates):
            for other in range(at + 1):
                gram[at, other] = _product(directions[at], directions[other])
                gram[other, at] = gram[at, other]
        n_steps[row] = descend_in_pairs(gram, costs, tolerance, max_steps, coefficients[row])


# Sums may be taken in any order, so that several terms are added at a time.
@njit(cache=True, nogil=True, fastmath=True)
def _product(one, other):
    total = 0.0
    for axis in range(one.size):
        total += one[axis] * other[axis]
    return total


@njit(cache=True, nogil=True)
def descend_in_pairs(gram, costs, tolerance, max_steps, c):
    """Minimise costs·|c| + ½ c·gram·c with Σ c = 1 into ``c``; return the steps taken.

    Each step moves mass from one coordinate to another, so that the sum stays: to where more costs
    least, from where less saves most. Where nothing is saved any more, c is the minimum. Pairs find
    out which coordinates are in use but are slow to settle their values where directions are alike,
    so now and then these are solved for.
    """
    n = costs.size
    first = np.argmin(costs)
    c[:] = 0.0
    c[first] = 1.0
    gradient = gram[first].copy()
    for step in range(1, max_steps + 1):
        if step % _PAIRS == 0:
            settle(gram, costs, c, gradient)
        up, cheapest = 0, np.inf
        for j in range(n):
            price = gradient[j] + costs[j] if c[j] >= 0.0 else gradient[j] - costs[j]
            if price < cheapest:
                up, cheapest = j, price
        down, best, worst, slope = -1, 0.0, 0.0, 0.0
        for j in range(n):
            saved = gradient[j] + costs[j] if c[j] > 0.0 else gradient[j] - costs[j]
            gain = saved - cheapest
            if gain <= 0.0 or j == up:
                continue
            worst = max(worst, gain)
            curvature = max(gram[up, up] + gram[j, j] - 2.0 * gram[up, j], _FLAT)
            # Of a long flat way only the part to the next kink of |c| is gone.
            length = gain / curvature
            if c[j] > 0.0:
                length = min(length, c[j])
            if c[up] < 0.0:
                length = min(length, -c[up])
            decrease = length * (gain - 0.5 * length * curvature)
            if decrease > best:
                down, best, slope = j, decrease, length
        if worst <= tolerance or down < 0:
            return step
        if c[down] > 0.0 and slope == c[down]:
            c[down] = 0.0
        else:
            c[down] -= slope
        if c[up] < 0.0 and slope == -c[up]:
            c[up] = 0.0
        else:
            c[up] += slope
        for j in range(n):
            gradient[j] += slope * (gram[up, j] - gram[down, j])
    return max_steps + 1


@njit(cache=True, nogil=True)
def settle(gram, costs, c, gradient):
    """Go to the minimum over the coordinates in use, or as far as all of them keep their sign."""
    used = np.flatnonzero(c)
    m = used.size
    system = np.ones((m + 1, m + 1))
    right = np.empty(m + 1)
    for a in range(m):
        for b in range(m):
            system[a, b] = gram[used[a], used[b]]
        system[a, a] += 1e-11  # more directions than dimensions have no one minimum
        right[a] = -np.sign(c[used[a]]) * costs[used[a]] - gradient[used[a]]
    system[m, m] = 0.0
    right[m] = 0.0
    move = np.linalg.solve(system, right)
    length, first = 1.0, -1
    for a in range(m):
        value = c[used[a]]
        if value * move[a] < 0.0 and -value / move[a] < length:
            length, first = -value / move[a], a
    for a in range(m):
        step = length * move[a]
        c[used[a]] = 0.0 if a == first else c[used[a]] + step
        for j in range(gradient.size):
            gradient[j] += step * gram[used[a], j]
