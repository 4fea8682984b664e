"""Compiled loops of the WARP loss."""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import below, next_state, seeded
from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def harmonic(n):
    """Return 1 + 1/2 + … + 1/n by place, from 0."""
    sums = np.zeros(n + 1, dtype=np.float32)
    for rank in range(1, n + 1):
        sums[rank] = sums[rank - 1] + np.float32(1.0 / rank)
    return sums


@njit(cache=True, fastmath=True, nogil=True)
def epoch(
    indptr,
    indices,
    data,
    label_ptr,
    label_ids,
    order,
    weights,
    W,
    V,
    squares_w,
    squares_v,
    rate,
    longest,
    max_trials,
    seed,
    turn,
):
    """Take a step for each pair of a row and a label of it; return the loss that was met.

    ``order`` has the pairs, as places in ``label_ids``, and ``weights`` what a rank costs.
    """
    dim = W.shape[1]
    n_labels = V.shape[0]
    z = np.empty(dim, dtype=np.float32)
    pull = np.empty(dim, dtype=np.float32)
    met = 0.0
    for at in range(order.shape[0]):
        pair = order[at]
        row = _row_of(label_ptr, pair)
        right = label_ids[pair]
        encode(indptr, indices, data, row, W, z)
        wrong, n_trials = sample_violation(
            z,
            V,
            right,
            label_ids,
            label_ptr[row],
            label_ptr[row + 1],
            max_trials,
            seeded(seed, pair, turn),
        )
        if wrong < 0:
            continue
        n_wrong = n_labels - (label_ptr[row + 1] - label_ptr[row])
        cost = weights[max(n_wrong // n_trials, 1)]
        gap = np.float32(1.0)
        for t in range(dim):
            gap += z[t] * (V[wrong, t] - V[right, t])
        met += cost * max(gap, np.float32(0.0))
        for t in range(dim):
            pull[t] = cost * (V[right, t] - V[wrong, t])
        _move(V, squares_v, right, z, cost, rate, longest)
        _move(V, squares_v, wrong, z, -cost, rate, longest)
        for place in range(indptr[row], indptr[row + 1]):
            _move(W, squares_w, indices[place], pull, data[place], rate, longest)
    return met


@njit(cache=True, fastmath=True, nogil=True)
def encode(indptr, indices, data, row, W, z):
    """Put a row's place into ``z``."""
    z[:] = np.float32(0.0)
    for at in range(indptr[row], indptr[row + 1]):
        value = data[at]
        weight = W[indices[at]]
        for t in range(z.shape[0]):
            z[t] += value * weight[t]


@njit(cache=True, fastmath=True, nogil=True)
def sample_violation(z, V, right, label_ids, first, last, max_trials, state):
    """Draw labels that a row has not until one scores within 1 of the right one.

    Returns it and the number of draws; -1 if there was none.
    """
    dim = z.shape[0]
    floor = np.float32(-1.0)
    for t in range(dim):
        floor += z[t] * V[right, t]
    n_trials = 0
    n_draws = 0
    while n_trials < max_trials and n_draws < 10 * max_trials:
        state = next_state(state)
        drawn = below(state, V.shape[0])
        n_draws += 1
        if _holds(label_ids, first, last, drawn):
            continue
        n_trials += 1
        score = np.float32(0.0)
        for t in range(dim):
            score += z[t] * V[drawn, t]
        if score > floor:
            return drawn, n_trials
    return np.int64(-1), n_trials


@njit(cache=True, nogil=True)
def _holds(label_ids, first, last, wanted):
    """Tell whether a row has a label; labels are in order."""
    while first < last:
        middle = (first + last) >> 1
        if label_ids[middle] < wanted:
            first = middle + 1
        elif label_ids[middle] > wanted:
            last = middle
        else:
            return True
    return False


@njit(cache=True, nogil=True)
def _row_of(label_ptr, pair):
    low, high = 0, label_ptr.shape[0] - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if label_ptr[middle] <= pair:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, fastmath=True, nogil=True)
def _move(vectors, squares, number, direction, amount, rate, longest):
    """Move a vector along a direction by AdaGrad, and back into the ball if it leaves it.

    Steps are made smaller by the sum of squared lengths so far; where there are no ``squares``
    they are not.
    """
    dim = vectors.shape[1]
    step = rate * amount
    if squares.shape[0]:
        square = np.float32(0.0)
        for t in range(dim):
            square += direction[t] * direction[t]
        squares[number] += amount * amount * square / dim
        step = step / np.float32(np.sqrt(squares[number] + np.float32(1e-8)))
    length = np.float32(0.0)
    for t in range(dim):
        vectors[number, t] += step * direction[t]
        length += vectors[number, t] * vectors[number, t]
    if length > longest * longest:
        scale = longest / np.float32(np.sqrt(length))
        for t in range(dim):
            vectors[number, t] *= scale
