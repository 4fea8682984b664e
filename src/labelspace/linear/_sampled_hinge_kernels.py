"""Compiled loops of classifiers that learn from a sample of the negatives."""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import seeded, shuffle
from labelspace.compiling import njit
from labelspace.linear._subproblem_kernels import (
    FUSED,
    ONE,
    add_dense,
    choose,
    copy,
    dense_product,
    keep,
    longer,
    product,
)

FAR = np.float32(1e30)
RESTS = np.float32(0.2)


@njit(cache=True, nogil=True)
def solve(
    indptr, indices, data, lengths, n_sparse, dense, positive_ptr, positive_rows, hard_ptr,
    hard_rows, held_out, problems, per_positive, fewest, heaviest, C, tol, max_passes, more_passes,
    min_weight, seed,
):  # fmt: skip
    """Train the classifiers of ``problems``, first without the rows held out, then with them.

    ``dense`` has the features that every row has, which come after the ``n_sparse`` others and
    whose weights are all kept. ``lengths`` are the squared lengths of the rows. Returns for both
    trainings, in this order, the biases, where the weights of each problem end, their features and
    their values.
    """
    n_rows = indptr.shape[0] - 1
    n_problems = problems.shape[0]
    mark = np.full(n_rows, -1, dtype=np.int32)
    n_dense = dense.shape[1]
    local = np.full(n_sparse, -1, dtype=np.int32)
    feature_of = np.empty(n_sparse, dtype=np.int32)
    weights = np.empty(n_sparse, dtype=np.float32)
    of_dense = np.empty(n_dense, dtype=np.float32)
    rows = np.empty(1024, dtype=np.int32)
    slacks = np.empty(1024, dtype=np.float32)
    signs = np.empty(1024, dtype=np.float32)
    places = np.empty(4096, dtype=np.uint32)
    values = np.empty(4096, dtype=np.float32)

    biases = np.full((2, n_problems), -ONE)
    ends = np.zeros((2, n_problems), dtype=np.int64)
    partial_features = np.empty(4096, dtype=np.int32)
    partial_values = np.empty(4096, dtype=np.float32)
    full_features = np.empty(4096, dtype=np.int32)
    full_values = np.empty(4096, dtype=np.float32)
    n_partial = 0
    n_full = 0

    for number in range(n_problems):
        label = problems[number]
        positives = positive_rows[positive_ptr[label] : positive_ptr[label + 1]]
        hard = hard_rows[hard_ptr[label] : hard_ptr[label + 1]]
        n_positive = positives.shape[0]
        if n_positive > 0:
            state = seeded(seed, label, 0)
            wanted = min(np.int64(fewest + per_positive * n_positive), n_rows)
            room = n_positive + hard.shape[0] + wanted
            if room > rows.shape[0]:
                rows = np.empty(room + room // 2, dtype=np.int32)
                slacks = np.empty(rows.shape[0], dtype=np.float32)
                signs = np.empty(rows.shape[0], dtype=np.float32)
            size = choose(
                positives, hard, wanted, n_rows, heaviest, C, n_rows, number, state, mark, rows,
                slacks,
            )  # fmt: skip
            for at in range(size):
                signs[at] = ONE if at < n_positive else -ONE
            n_first = _move_last(held_out, rows, slacks, signs, size)

            n_entries = 0
            for at in range(size):
                n_entries += indptr[rows[at] + 1] - indptr[rows[at]]
            if n_entries > places.shape[0]:
                places = np.empty(n_entries + n_entries // 2, dtype=np.uint32)
                values = np.empty(places.shape[0], dtype=np.float32)
            ptr = np.empty(size + 1, dtype=np.int64)
            n_local = copy(
                indptr, indices, data, rows, size, local, feature_of, ptr, places, values
            )
            steps = np.empty(size, dtype=np.float32)
            for at in range(size):
                steps[at] = ONE / (lengths[rows[at]] + ONE + slacks[at])
            for at in range(n_local):
                weights[at] = np.float32(0.0)
            of_dense[:] = np.float32(0.0)
            alphas = np.zeros(size, dtype=np.float32)
            bias = _descend(
                ptr, places, values, dense, rows, signs, slacks, steps, n_first, np.float32(0.0),
                tol, max_passes, weights, of_dense, alphas, state,
            )  # fmt: skip
            biases[0, number] = bias
            biases[1, number] = bias
            most = n_local + n_dense
            if n_partial + most > partial_features.shape[0]:
                partial_features = longer(partial_features, n_partial, n_partial + most)
                partial_values = longer(partial_values, n_partial, n_partial + most)
            n_partial = keep(
                weights, feature_of, n_local, min_weight, n_partial, partial_features,
                partial_values,
            )  # fmt: skip
            n_partial = _keep_dense(of_dense, n_sparse, n_partial, partial_features, partial_values)
            if n_first < size:
                bias = _descend(
                    ptr, places, values, dense, rows, signs, slacks, steps, size, bias, tol,
                    more_passes, weights, of_dense, alphas, state,
                )  # fmt: skip
                biases[1, number] = bias
            if n_full + most > full_features.shape[0]:
                full_features = longer(full_features, n_full, n_full + most)
                full_values = longer(full_values, n_full, n_full + most)
            n_full = keep(
                weights, feature_of, n_local, min_weight, n_full, full_features, full_values
            )
            n_full = _keep_dense(of_dense, n_sparse, n_full, full_features, full_values)
            for at in range(n_local):
                local[feature_of[at]] = -1
        ends[0, number] = n_partial
        ends[1, number] = n_full
    return (
        biases,
        ends,
        partial_features[:n_partial].copy(),
        partial_values[:n_partial].copy(),
        full_features[:n_full].copy(),
        full_values[:n_full].copy(),
    )


@njit(cache=True, nogil=True)
def _move_last(held_out, rows, slacks, signs, size):
    """Put the rows held out behind the others; return how many others there are."""
    last = size
    at = 0
    while at < last:
        if held_out[rows[at]]:
            last -= 1
            rows[at], rows[last] = rows[last], rows[at]
            slacks[at], slacks[last] = slacks[last], slacks[at]
            signs[at], signs[last] = signs[last], signs[at]
        else:
            at += 1
    return last


@njit(cache=True, nogil=True)
def _keep_dense(of_dense, n_sparse, n_kept, features, values):
    """Append all weights of dense features; return how many are kept in all."""
    for at in range(of_dense.shape[0]):
        features[n_kept + at] = n_sparse + at
        values[n_kept + at] = of_dense[at]
    return n_kept + of_dense.shape[0]


@njit(cache=True, nogil=True, fastmath=FUSED)
def _descend(
    ptr, places, values, dense, rows, signs, slacks, steps, size, bias, tol, max_passes, weights,
    of_dense, alphas, state,
):  # fmt: skip
    """Dual coordinate descent with shrinking on the first ``size`` rows; return the bias.

    ``weights``, those ``of_dense`` features and the bias are kept equal to the sum of
    alpha · sign · row. A row that is right with room to spare rests until the rows that are
    visited agree, or passes run out.
    """
    has_dense = dense.shape[1] > 0
    order = np.arange(size)
    n_active = size
    ceiling = FAR
    for turn in range(max_passes):
        if turn == max_passes - 2:
            n_active = size
            ceiling = FAR
        state = shuffle(order, n_active, state)
        highest = -FAR
        lowest = FAR
        visit = 0
        while visit < n_active:
            at = order[visit]
            score = bias + product(places, values, ptr[at], ptr[at + 1], weights)
            if has_dense:
                score += dense_product(dense[rows[at]], of_dense)
            old = alphas[at]
            gradient = signs[at] * score - ONE + old * slacks[at]
            if old == 0 and gradient > 0:
                if gradient > ceiling:
                    n_active -= 1
                    order[visit] = order[n_active]
                    order[n_active] = at
                    continue
                highest = max(highest, np.float32(0.0))
                lowest = min(lowest, np.float32(0.0))
            else:
                highest = max(highest, gradient)
                lowest = min(lowest, gradient)
                new = max(old - gradient * steps[at], np.float32(0.0))
                alphas[at] = new
                step = (new - old) * signs[at]
                bias += step
                for entry in range(ptr[at], ptr[at + 1]):
                    weights[places[entry]] += step * values[entry]
                if has_dense:
                    add_dense(of_dense, step, dense[rows[at]])
            visit += 1
        if highest - lowest <= tol:
            if n_active == size:
                break
            n_active = size
            ceiling = FAR
        else:
            ceiling = min(highest, RESTS) if highest > 0 else RESTS
    return bias
