"""Compiled loops that train one L1-regularised linear classifier, by coordinate descent.

The problem, with costs c_i, sides s_i = ±1 and the logistic loss ln(1 + e^−m) or the squared hinge
max(0, 1 − m)², is

    min_w  ‖w‖₁ + Σ_i c_i ℓ(s_i w·x_i)

Each step replaces the loss by its second-order model at w, makes a few passes of coordinate descent
over the features that can matter, and goes as far along the way as the true objective falls (Yuan,
Ho and Lin, 2012). A feature whose weight is zero and whose slope is well within ±1 sits out.
"""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import seeded, shuffle
from labelspace.compiling import njit

LOGISTIC = 0
SQUARED_HINGE = 1

# What a coordinate's curvature is at least, so that a step is finite.
LEAST_CURVE = 1e-12
# Share of the promised fall of the objective that a step has to bring, and halvings at most.
SUFFICIENT = 0.01
MOST_HALVINGS = 20
# No coordinate moves further at a time.
LONGEST_STEP = 10.0


@njit(cache=True, nogil=True)
def train_l1(
    column_ptr, rows, values, sides, costs, loss, tol, max_steps, max_passes, seed, start
):  # fmt: skip
    """Return the weights of the columns and the steps made.

    The matrix comes by columns; ``sides`` are ±1 for each row; ``start`` are the weights to begin
    with. Learning ends when the violations of optimality are ``tol`` of those of zero weights.
    """
    n_columns = column_ptr.shape[0] - 1
    n_rows = sides.shape[0]
    weights = start.copy()
    goals = start.copy()
    slopes = np.zeros(n_columns)
    curves = np.zeros(n_columns)
    margins = np.zeros(n_rows)
    moved = np.zeros(n_rows)
    row_slopes = np.empty(n_rows)
    row_curves = np.empty(n_rows)
    order = np.arange(n_columns)
    objective = derivatives(margins, sides, costs, loss, row_slopes, row_curves)
    length = np.abs(weights).sum()
    at_start = -1.0
    if length > 0.0:
        at_start = _violations_of_zero(column_ptr, rows, values, row_slopes)
        _add_products(column_ptr, rows, values, weights, margins)
        objective = derivatives(margins, sides, costs, loss, row_slopes, row_curves)
    largest_before = np.inf
    enough = -1.0
    state = seeded(seed, n_columns, n_rows)
    n_steps = 0
    while n_steps < max_steps:
        n_active = n_columns
        total = 0.0
        largest = 0.0
        at = 0
        while at < n_active:
            column = order[at]
            slope = 0.0
            curve = LEAST_CURVE
            for entry in range(column_ptr[column], column_ptr[column + 1]):
                value = values[entry]
                slope += value * row_slopes[rows[entry]]
                curve += value * value * row_curves[rows[entry]]
            slopes[column] = slope
            curves[column] = curve
            wrong = violation(weights[column], slope)
            if weights[column] == 0.0 and abs(slope) < 1.0 - largest_before / n_rows:
                n_active -= 1
                order[at], order[n_active] = order[n_active], order[at]
                continue
            largest = max(largest, wrong)
            total += wrong
            at += 1
        if at_start < 0.0:
            at_start = total
        if enough < 0.0:
            enough = total
        if total <= tol * at_start:
            break
        moved[:] = 0.0
        n_passes, state = _minimize_model(
            column_ptr, rows, values, weights, goals, slopes, curves, row_curves, moved, order,
            n_active, enough, max_passes, state,
        )  # fmt: skip
        n_steps += 1
        promised = 0.0
        goal_length = 0.0
        for column in range(n_columns):
            promised += slopes[column] * (goals[column] - weights[column])
            goal_length += abs(goals[column])
        promised += goal_length - length
        share = 1.0
        for _ in range(MOST_HALVINGS):
            reached = value_at(margins, moved, share, sides, costs, loss)
            # The length is convex: on the way it is at most what lies between.
            between = length + share * (goal_length - length)
            if reached + between - objective - length <= SUFFICIENT * share * promised:
                break
            share *= 0.5
        length = 0.0
        for column in range(n_columns):
            weights[column] += share * (goals[column] - weights[column])
            goals[column] = weights[column]
            length += abs(weights[column])
        for row in range(n_rows):
            margins[row] += share * moved[row]
        objective = derivatives(margins, sides, costs, loss, row_slopes, row_curves)
        if n_passes == 1:
            enough *= 0.25
        largest_before = largest
    return weights, n_steps


@njit(cache=True, nogil=True)
def _violations_of_zero(column_ptr, rows, values, row_slopes):
    """Return how far weights of zero are from optimal, given the slopes of the rows' losses."""
    total = 0.0
    for column in range(column_ptr.shape[0] - 1):
        slope = 0.0
        for entry in range(column_ptr[column], column_ptr[column + 1]):
            slope += values[entry] * row_slopes[rows[entry]]
        total += violation(0.0, slope)
    return total


@njit(cache=True, nogil=True)
def _add_products(column_ptr, rows, values, weights, margins):
    """Add what weights say of each row to ``margins``."""
    for column in range(weights.shape[0]):
        if weights[column] != 0.0:
            for entry in range(column_ptr[column], column_ptr[column + 1]):
                margins[rows[entry]] += weights[column] * values[entry]


@njit(cache=True, nogil=True)
def _minimize_model(
    column_ptr, rows, values, weights, goals, slopes, curves, row_curves, moved, order, n_active,
    enough, max_passes, state,
):  # fmt: skip
    """Move ``goals`` from the weights towards the minimum of the second-order model."""
    n_rows = moved.shape[0]
    n_kept = n_active
    largest_before = np.inf
    n_passes = 0
    while n_passes < max_passes:
        state = shuffle(order, n_kept, state)
        total = 0.0
        largest = 0.0
        at = 0
        while at < n_kept:
            column = order[at]
            first, last = column_ptr[column], column_ptr[column + 1]
            goal = goals[column]
            slope = slopes[column] + (goal - weights[column]) * LEAST_CURVE
            for entry in range(first, last):
                row = rows[entry]
                slope += values[entry] * row_curves[row] * moved[row]
            if goal == 0.0 and abs(slope) < 1.0 - largest_before / n_rows:
                n_kept -= 1
                order[at], order[n_kept] = order[n_kept], order[at]
                continue
            at += 1
            wrong = violation(goal, slope)
            largest = max(largest, wrong)
            total += wrong
            step = shrunk(goal - slope / curves[column], 1.0 / curves[column]) - goal
            if abs(step) < 1e-12:
                continue
            step = min(max(step, -LONGEST_STEP), LONGEST_STEP)
            goals[column] = goal + step
            for entry in range(first, last):
                moved[rows[entry]] += step * values[entry]
        n_passes += 1
        largest_before = largest
        if total <= enough:
            if n_kept == n_active:
                break
            n_kept = n_active
            largest_before = np.inf
    return n_passes, state


@njit(cache=True, nogil=True)
def shrunk(value, by):
    """Return the proximal point of ``by`` · |·|: a value nearer to zero, or zero."""
    if value > by:
        return value - by
    if value < -by:
        return value + by
    return value * 0


@njit(cache=True, nogil=True)
def violation(weight, slope):
    """Return how far a coordinate is from optimal, given the slope of the loss."""
    if weight > 0.0:
        return abs(slope + 1.0)
    if weight < 0.0:
        return abs(slope - 1.0)
    return max(abs(slope) - 1.0, 0.0)


@njit(cache=True, nogil=True)
def derivatives(margins, sides, costs, loss, row_slopes, row_curves):
    """Fill in the first and second derivatives of each row's loss; return the losses' sum."""
    total = 0.0
    for row in range(margins.shape[0]):
        signed = sides[row] * margins[row]
        if loss == LOGISTIC:
            wrong = 1.0 / (1.0 + np.exp(signed))
            total += costs[row] * _log_loss(signed)
            row_slopes[row] = -costs[row] * sides[row] * wrong
            row_curves[row] = costs[row] * wrong * (1.0 - wrong)
        else:
            missing = max(1.0 - signed, 0.0)
            total += costs[row] * missing * missing
            row_slopes[row] = -2.0 * costs[row] * sides[row] * missing
            row_curves[row] = 2.0 * costs[row] if missing > 0.0 else 0.0
    return total


@njit(cache=True, nogil=True)
def value_at(margins, moved, share, sides, costs, loss):
    """Return the losses' sum once the margins have gone a share of their way."""
    total = 0.0
    for row in range(margins.shape[0]):
        signed = sides[row] * (margins[row] + share * moved[row])
        if loss == LOGISTIC:
            total += costs[row] * _log_loss(signed)
        else:
            missing = max(1.0 - signed, 0.0)
            total += costs[row] * missing * missing
    return total


@njit(cache=True, nogil=True)
def _log_loss(signed):
    if signed > 0.0:
        return np.log1p(np.exp(-signed))
    return np.log1p(np.exp(signed)) - signed
