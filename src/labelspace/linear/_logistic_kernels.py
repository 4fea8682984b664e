"""The compiled solver of logistic classifiers: one class against another.

``fastmath`` allows fused multiply-add only, so that the answer is the same on every machine.
"""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import shuffle
from labelspace.compiling import njit
from labelspace.linear._subproblem_kernels import FUSED, product

UNTOUCHED = -5.0  # where dual variables begin, on the logistic scale: nearly nothing
MOST_STEPS = 20  # of the search for a dual variable's best value
CLOSE_ENOUGH = 0.01  # of its gradient there


@njit(cache=True, nogil=True, fastmath=FUSED)
def descend(ptr, places, entries, lengths, signs, C, tol, max_iter, weights, state):
    """Dual coordinate descent; ``weights`` begin at zero. Returns the number of passes.

    A row's dual variable is C σ(t). With w = Σ C σ(t_i) y_i x_i the best t_i is −y_i w·x_i, which
    one row after another comes nearer to; the root of

        g(t) = t + y w·x + ‖x‖² C (σ(t) − σ(t before))

    is found by Newton's method, held between bounds that the slope of g gives.
    """
    n_rows = lengths.shape[0]
    order = np.arange(n_rows)
    duals = np.full(n_rows, UNTOUCHED)
    for row in range(n_rows):
        step = np.float32(C * _logistic(UNTOUCHED) * signs[row])
        for entry in range(ptr[row], ptr[row + 1]):
            weights[places[entry]] += step * entries[entry]
    n_passes = 0
    while n_passes < max_iter:
        n_passes += 1
        state = shuffle(order, n_rows, state)
        worst = 0.0
        for row in order:
            margin = signs[row] * product(places, entries, ptr[row], ptr[row + 1], weights)
            reach = C * lengths[row]
            before = _logistic(duals[row])
            t = duals[row]
            violation = t + margin
            worst = max(worst, abs(violation))
            if abs(violation) < CLOSE_ENOUGH:
                continue
            low = -margin - reach * (1.0 - before)
            high = -margin + reach * before
            share = before
            for _ in range(MOST_STEPS):
                gradient = t + margin + reach * (share - before)
                if abs(gradient) < CLOSE_ENOUGH * 0.1:
                    break
                if gradient > 0:
                    high = min(high, t)
                else:
                    low = max(low, t)
                t -= gradient / (1.0 + reach * share * (1.0 - share))
                if not low <= t <= high:
                    t = 0.5 * (low + high)
                share = _logistic(t)
            duals[row] = t
            step = np.float32(C * (share - before) * signs[row])
            for entry in range(ptr[row], ptr[row + 1]):
                weights[places[entry]] += step * entries[entry]
        if worst <= tol:
            break
    return n_passes


@njit(cache=True, nogil=True)
def _logistic(t):
    return 1.0 / (1.0 + np.exp(-t))


@njit(cache=True, nogil=True)
def give_signs(rows, positives, signs):
    """Write 1 for the rows that are among the positives and -1 for the others; both are sorted."""
    at = 0
    for place in range(rows.shape[0]):
        while at < positives.shape[0] and positives[at] < rows[place]:
            at += 1
        right = at < positives.shape[0] and positives[at] == rows[place]
        signs[place] = np.float32(1.0) if right else np.float32(-1.0)
