"""Compiled loops that settle the α of one row's active labels, under the rules of a loss.

With the scores of all else as they are, the dual along the α of one row is at most a parabola of
curvature ‖x‖², so that its minimum is found label by label, but for one number that all share.
"""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

EACH, WORST, THRESHOLD = 0, 1, 2
HALVINGS = 50


@njit(cache=True, nogil=True)
def row_steps(scores, active, n_own, own_alphas, other_alphas, length, C, loss):
    """Move the α of a row's active labels, its own first.

    Returns by how much each label's weights move, and the bar: other labels violate the margin that
    score more.
    """
    n_active = active.shape[0]
    steps = np.zeros(n_active, dtype=np.float32)
    bar = np.inf
    for label in active[:n_own]:
        bar = min(bar, scores[label] - 1.0)
    if n_active == n_own and loss != THRESHOLD:
        return steps, bar
    # The square of a miss adds α²/(4C) to the dual, which is that much more curvature.
    margin = 1.0 if loss == THRESHOLD else 0.0
    curve = length + 0.5 * margin / C
    own, others = np.empty(n_own), np.empty(n_active - n_own)
    for at in range(n_own):
        own[at] = (own_alphas[at] * length + 1.0 - scores[active[at]]) / curve
    for at in range(n_own, n_active):
        alpha = other_alphas[at - n_own]
        others[at - n_own] = (alpha * length + margin + scores[active[at]]) / curve
    if loss == THRESHOLD:
        bar = curve * separated(own, others, 1.0 / curve) - 1.0
    else:
        balanced(own, others, C, loss == WORST)
    for at in range(n_own):
        steps[at] = own[at] - own_alphas[at]
        own_alphas[at] = own[at]
    for at in range(n_own, n_active):
        steps[at] = other_alphas[at - n_own] - others[at - n_own]
        other_alphas[at - n_own] = others[at - n_own]
    return steps, bar


@njit(cache=True, nogil=True)
def separated(own, others, least):
    """Move both lists, in place, to max(0, own + μ) and max(0, others − μ); return μ.

    Their sums are the same, or μ is ``least`` and the first is larger.
    """
    level = least
    if others.shape[0] > 0:
        level = max(least, _equal_sums(own, others, np.inf))
    for at in range(own.shape[0]):
        own[at] = max(own[at] + level, 0.0)
    for at in range(others.shape[0]):
        others[at] = max(others[at] - level, 0.0)
    return level


@njit(cache=True, nogil=True)
def balanced(own, others, C, shared):
    """Move both lists, in place, to the nearest with equal sums and no value below 0.

    No value of ``own`` is above C; if ``shared``, neither is their sum. With μ the multiplier of
    the equal sums, the nearest are min(C, max(0, own + μ)) and max(0, others − μ).
    """
    level = _equal_sums(own, others, C)
    shift_own, shift_others = level, -level
    if shared and _sum_above(own, -level, C) > C:
        shift_own = -_level(own, C)
        shift_others = -_level(others, C)
    for at in range(own.shape[0]):
        own[at] = min(max(own[at] + shift_own, 0.0), C)
    for at in range(others.shape[0]):
        others[at] = max(others[at] + shift_others, 0.0)


@njit(cache=True, nogil=True)
def _equal_sums(own, others, C):
    """Return the μ for which min(C, max(0, own + μ)) and max(0, others − μ) have the same sum.

    The first sum grows with μ and the second falls, so that it is found by halving.
    """
    low, high = -own.max(), others.max()
    if high <= low:
        return 0.5 * (low + high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _sum_above(own, -middle, C) < _sum_above(others, middle, np.inf):
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@njit(cache=True, nogil=True)
def _level(values, total):
    """Return the level above which the values sum up to ``total``."""
    low, high = values.max() - total, values.max()
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if _sum_above(values, middle, np.inf) > total:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@njit(cache=True, nogil=True)
def _sum_above(values, level, most):
    total = 0.0
    for value in values:
        total += min(max(value - level, 0.0), most)
    return total
