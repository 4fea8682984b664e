"""Compiled loops of classifiers that learn on."""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import seeded, shuffle
from labelspace.compiling import njit
from labelspace.linear._subproblem_kernels import FUSED, ONE, choose, copy, keep, longer

FAR_OFF = np.float32(0.25)


@njit(cache=True, nogil=True)
def solve(
    indptr, indices, data, lengths, n_features, positive_ptr, positive_rows, hard_ptr, hard_rows,
    start_ptr, start_features, start_values, biases, problems, n_drawn, n_choices, stand_for, C,
    moves_bias, heaviest, n_passes, min_weight, seed,
):  # fmt: skip
    """Train the classifiers of ``problems`` on; their new biases replace ``biases``.

    ``lengths`` are the squared lengths of the rows. Each problem draws ``n_drawn`` negatives among
    the first ``n_choices`` rows, which stand for ``stand_for``, and moves its bias at the rate
    ``moves_bias``. Returns where the weights of each problem end, their features and their values.
    """
    n_rows = indptr.shape[0] - 1
    n_problems = problems.shape[0]
    mark = np.full(n_rows, -1, dtype=np.int32)
    local = np.full(n_features, -1, dtype=np.int32)
    feature_of = np.empty(n_features, dtype=np.int32)
    weights = np.empty(n_features, dtype=np.float32)
    rows = np.empty(n_rows, dtype=np.int32)
    slacks = np.empty(n_rows, dtype=np.float32)
    places = np.empty(4096, dtype=np.int32)
    values = np.empty(4096, dtype=np.float32)
    ends = np.zeros(n_problems, dtype=np.int64)
    features = np.empty(4096, dtype=np.int32)
    kept = np.empty(4096, dtype=np.float32)
    n_kept = 0
    for number in range(n_problems):
        label = problems[number]
        positives = positive_rows[positive_ptr[label] : positive_ptr[label + 1]]
        hard = hard_rows[hard_ptr[label] : hard_ptr[label + 1]]
        state = seeded(seed, label, 0)
        size = choose(
            positives, hard, n_drawn[number], stand_for[number], heaviest, C[number],
            n_choices[number], number, state, mark, rows, slacks,
        )  # fmt: skip
        n_entries = 0
        for at in range(size):
            n_entries += indptr[rows[at] + 1] - indptr[rows[at]]
        if n_entries > places.shape[0]:
            places = np.empty(n_entries + n_entries // 2, dtype=np.int32)
            values = np.empty(places.shape[0], dtype=np.float32)
        ptr = np.empty(size + 1, dtype=np.int64)
        n_local = copy(indptr, indices, data, rows, size, local, feature_of, ptr, places, values)
        weights[:n_local] = np.float32(0.0)
        for entry in range(start_ptr[number], start_ptr[number + 1]):
            feature = start_features[entry]
            if local[feature] < 0:
                local[feature] = n_local
                feature_of[n_local] = feature
                n_local += 1
            weights[local[feature]] = start_values[entry]
        biases[number] = _descend(
            ptr, places, values, lengths, rows, slacks, positives.shape[0], size, biases[number],
            moves_bias[number], n_passes, weights, state,
        )  # fmt: skip
        if n_kept + n_local > features.shape[0]:
            features = longer(features, n_kept, n_kept + n_local)
            kept = longer(kept, n_kept, n_kept + n_local)
        n_kept = keep(weights, feature_of, n_local, min_weight, n_kept, features, kept)
        for at in range(n_local):
            local[feature_of[at]] = -1
        ends[number] = n_kept
    return ends, features[:n_kept].copy(), kept[:n_kept].copy()


@njit(cache=True, nogil=True, fastmath=FUSED)
def _descend(
    ptr, places, values, lengths, rows, slacks, n_positive, size, bias, moves_bias, n_passes,
    weights, state,
):  # fmt: skip
    """Dual coordinate descent from the weights and the bias that are there; return the bias."""
    alphas = np.zeros(size, dtype=np.float32)
    order = np.arange(size)
    n_active = size
    for _ in range(n_passes):
        state = shuffle(order, n_active, state)
        visit = 0
        while visit < n_active:
            at = order[visit]
            sign = ONE if at < n_positive else -ONE
            score = bias
            for entry in range(ptr[at], ptr[at + 1]):
                score += values[entry] * weights[places[entry]]
            gradient = sign * score - ONE + alphas[at] * slacks[at]
            if alphas[at] == 0 and gradient > FAR_OFF:
                # Well on its side: not looked at again.
                n_active -= 1
                order[visit], order[n_active] = order[n_active], at
                continue
            visit += 1
            if alphas[at] == 0 and gradient >= 0:
                continue
            steepness = lengths[rows[at]] + moves_bias + slacks[at]
            new = max(alphas[at] - gradient / steepness, np.float32(0.0))
            step = (new - alphas[at]) * sign
            alphas[at] = new
            bias += moves_bias * step
            for entry in range(ptr[at], ptr[at + 1]):
                weights[places[entry]] += step * values[entry]
    return bias
