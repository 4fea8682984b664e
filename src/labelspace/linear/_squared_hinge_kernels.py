"""Compiled loops that train linear classifiers with squared hinge loss.

``solve`` trains many labels, up to ``n_slots`` of them at a time. The labels in the slots take
turns in coordinate descent, each on its own working set of rows; then one pass over all rows
serves all slots together, which is where the time would go otherwise. A slot whose label is done
takes the next label at once, so every pass is a full one.
"""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import seeded
from labelspace.compiling import njit
from labelspace.linear import _hinge_kernels
from labelspace.linear._slot_rows_kernels import ONE, admit, admit_positives, drop_idle
from labelspace.linear._subproblem_kernels import FUSED, add_dense, longer

NOBODY = -1
BLOCK = 64  # rows whose dense parts are multiplied at once


@njit(cache=True, nogil=True)
def solve(
    indptr, indices, data, lengths, n_sparse, dense, positive_ptr, positive_rows, held_out,
    problems, starters, C, tol, max_iter, min_weight, n_slots, seed,
):  # fmt: skip
    """Train the classifiers of ``problems``; feature 0 is the constant one.

    ``dense`` has the features that every row has, which come after the ``n_sparse`` others and
    whose weights are all kept. ``lengths`` are the squared lengths of the rows. A working set
    begins with the positives, which stay, and the ``starters``, a few rows taken as negatives.
    Where rows are held out, each problem is solved twice: without them, and from there on with
    them.

    Returns of both solutions, in the order of ``problems``, how many weights are kept and the
    biases, (2, n_problems); then the features and values of the first and of the second, the
    passes made and whether they were enough.
    """
    n_rows = indptr.shape[0] - 1
    n_features = n_sparse + dense.shape[1]
    n_problems = problems.shape[0]
    slack = np.float32(0.5 / C)
    first_turn = 0 if held_out.any() else 1
    turns = np.zeros(n_slots, dtype=np.int64)
    surprised = np.zeros(n_slots, dtype=np.bool_)
    n_positives = np.zeros(n_slots, dtype=np.int64)
    weights = np.empty(n_features, dtype=np.float32)
    slot_weights = np.zeros((n_features, n_slots), dtype=np.float32)
    held = np.full(n_slots, NOBODY, dtype=np.int64)
    in_slots = np.zeros(n_rows, dtype=np.uint64)
    n_passes = np.zeros(n_slots, dtype=np.int64)
    reached = np.zeros(n_slots, dtype=np.float32)
    violations = np.zeros(n_slots, dtype=np.float32)
    set_sizes = np.zeros(n_slots, dtype=np.int64)
    set_rows = np.empty((n_slots, 1024), dtype=np.int32)
    set_alphas = np.empty((n_slots, 1024), dtype=np.float32)
    heap_caps = np.zeros(n_slots, dtype=np.int64)
    heap_sizes = np.zeros(n_slots, dtype=np.int64)
    heap_rows = np.empty((n_slots, 1024), dtype=np.int32)
    heap_scores = np.empty((n_slots, 1024), dtype=np.float32)

    starts = np.zeros((2, n_problems), dtype=np.int64)
    counts = np.zeros((2, n_problems), dtype=np.int64)
    biases = np.zeros((2, n_problems), dtype=np.float32)
    passes = np.zeros(n_problems, dtype=np.int64)
    converged = np.zeros(n_problems, dtype=np.bool_)
    kept_features = np.empty(4096, dtype=np.int32)
    kept_values = np.empty(4096, dtype=np.float32)
    n_kept = 0

    n_begun = 0
    n_done = 0
    while n_done < n_problems:
        for slot in range(n_slots):
            fresh = held[slot] == NOBODY
            if fresh:
                if n_begun == n_problems:
                    continue
                held[slot] = n_begun
                n_begun += 1
            problem = problems[held[slot]]
            positives = positive_rows[positive_ptr[problem] : positive_ptr[problem + 1]]
            if fresh:
                turns[slot] = first_turn
                n_passes[slot] = 0
                violations[slot] = np.float32(1.0)
                set_sizes[slot] = 0
                heap_sizes[slot] = 0
                heap_caps[slot] = max(
                    min(n_rows - positives.size, max(1000, 2 * positives.size)), 1
                )
                heap_rows, heap_scores = _with_room(heap_rows, heap_scores, heap_caps[slot])
                needed = positives.shape[0] + starters.shape[0]
            else:
                needed = set_sizes[slot] + heap_sizes[slot] + positives.shape[0]
            set_rows, set_alphas = _with_room(set_rows, set_alphas, needed)
            rows = set_rows[slot]
            alphas = set_alphas[slot]
            size = set_sizes[slot]
            if fresh:
                size = admit(positives, held_out, turns[slot], rows, alphas, size, in_slots, slot)
                n_positives[slot] = size
                size = admit(starters, held_out, turns[slot], rows, alphas, size, in_slots, slot)
            else:
                if turns[slot] == 1 and first_turn == 0 and n_positives[slot] < positives.shape[0]:
                    size = admit_positives(
                        positives, held_out, rows, alphas, n_positives[slot], size, in_slots, slot
                    )
                    n_positives[slot] = positives.shape[0]
                found = heap_rows[slot, : heap_sizes[slot]]
                size = admit(found, held_out, turns[slot], rows, alphas, size, in_slots, slot)
            n_positive = n_positives[slot]

            _sum_up(indptr, indices, data, dense, rows, alphas, size, n_positive, weights)
            # While far from the answer there is no use in being exact.
            reached[slot] = max(tol, 0.3 * violations[slot])
            n_passes[slot] += _hinge_kernels.descend(
                indptr, indices, data, dense, lengths, rows, alphas, size, n_positive, slack,
                _hinge_kernels.FAR, reached[slot], max_iter - n_passes[slot], weights,
                seeded(seed, problem, n_passes[slot] + 1),
            )  # fmt: skip
            for feature in range(n_features):
                slot_weights[feature, slot] = weights[feature]
            set_sizes[slot] = drop_idle(rows, alphas, size, n_positive, in_slots, slot)

        heap_sizes[:] = 0
        surprised[:] = False
        _find_violations(
            indptr, indices, data, dense, slot_weights, in_slots, held, held_out, turns, surprised,
            np.float32(0.5 * tol), heap_caps, heap_sizes, heap_scores, heap_rows,
        )  # fmt: skip

        for slot in range(n_slots):
            number = held[slot]
            if number == NOBODY:
                continue
            violations[slot] = np.float32(0.0)
            for at in range(heap_sizes[slot]):
                violations[slot] = max(violations[slot], heap_scores[slot, at] + np.float32(1.0))
            converged[number] = violations[slot] <= tol and reached[slot] <= tol
            if not converged[number] and n_passes[slot] < max_iter:
                continue
            turn = turns[slot]
            if n_kept + n_features > kept_features.shape[0]:
                kept_features = longer(kept_features, n_kept, n_kept + n_features)
                kept_values = longer(kept_values, n_kept, n_kept + n_features)
            starts[turn, number] = n_kept
            biases[turn, number] = slot_weights[0, slot]
            passes[number] = n_passes[slot]
            for feature in range(1, n_features):
                value = slot_weights[feature, slot]
                if value != 0 and (feature >= n_sparse or abs(value) >= min_weight):
                    kept_features[n_kept] = feature
                    kept_values[n_kept] = value
                    n_kept += 1
            counts[turn, number] = n_kept - starts[turn, number]
            problem = problems[number]
            n_all = positive_ptr[problem + 1] - positive_ptr[problem]
            if turn == 0 and (surprised[slot] or n_positives[slot] < n_all):
                turns[slot] = 1
                violations[slot] = np.float32(1.0)
                continue
            if turn == 0:
                # The rows held out have nothing to add: they are negatives that it gets right.
                starts[1, number], counts[1, number] = starts[0, number], counts[0, number]
                biases[1, number] = biases[0, number]
            n_done += 1
            held[slot] = NOBODY
            for at in range(set_sizes[slot]):
                in_slots[set_rows[slot, at]] &= ~(ONE << np.uint64(slot))

    honest = _in_order(starts[0], counts[0], kept_features, kept_values)
    every = _in_order(starts[1], counts[1], kept_features, kept_values)
    return counts, biases, honest[0], honest[1], every[0], every[1], passes, converged


@njit(cache=True, nogil=True)
def _in_order(starts, counts, kept_features, kept_values):
    """Return the weights of all problems, one after the other."""
    n_kept = counts.sum()
    features = np.empty(n_kept, dtype=np.int32)
    values = np.empty(n_kept, dtype=np.float32)
    filled = 0
    for number in range(starts.shape[0]):
        for at in range(starts[number], starts[number] + counts[number]):
            features[filled] = kept_features[at]
            values[filled] = kept_values[at]
            filled += 1
    return features, values


@njit(cache=True, nogil=True, fastmath=FUSED)
def _sum_up(indptr, indices, data, dense, rows, alphas, size, n_positive, weights):
    """Set ``weights`` to the sum of alpha · y · x over a working set."""
    of_dense = weights[weights.shape[0] - dense.shape[1] :]
    weights[:] = np.float32(0.0)
    for at in range(size):
        if alphas[at] != 0:
            step = alphas[at] if at < n_positive else -alphas[at]
            for place in range(indptr[rows[at]], indptr[rows[at] + 1]):
                weights[indices[place]] += step * data[place]
            if dense.shape[1] > 0:
                add_dense(of_dense, step, dense[rows[at]])


@njit(cache=True, nogil=True, fastmath=FUSED)
def _find_violations(
    indptr, indices, data, dense, slot_weights, in_slots, held, held_out, turns, surprised, tol,
    heap_caps, heap_sizes, heap_scores, heap_rows,
):  # fmt: skip
    """Collect for each slot the negatives outside its working set with the highest scores.

    Only scores above -1 + tol violate; the largest are kept in a heap, smallest first. A slot in
    its first turn is only told that it is ``surprised`` by rows held out.
    """
    n_slots = slot_weights.shape[1]
    floor = tol - np.float32(1.0)
    n_rows = indptr.shape[0] - 1
    of_dense = slot_weights[slot_weights.shape[0] - dense.shape[1] :]
    of_block = np.zeros((BLOCK, n_slots), dtype=np.float32)
    for row in range(n_rows):
        if dense.shape[1] == 0:
            of_block[row % BLOCK] = np.float32(0.0)
        elif row % BLOCK == 0:
            size = min(BLOCK, n_rows - row)
            np.dot(dense[row : row + size], of_dense, of_block[:size])
        scores = of_block[row % BLOCK]
        place = indptr[row]
        end = indptr[row + 1]
        # Four features at a time: a score is then loaded and stored once for four products.
        while place + 3 < end:
            value0, value1 = data[place], data[place + 1]
            value2, value3 = data[place + 2], data[place + 3]
            weights0 = slot_weights[indices[place]]
            weights1 = slot_weights[indices[place + 1]]
            weights2 = slot_weights[indices[place + 2]]
            weights3 = slot_weights[indices[place + 3]]
            for slot in range(n_slots):
                scores[slot] += (
                    value0 * weights0[slot]
                    + value1 * weights1[slot]
                    + value2 * weights2[slot]
                    + value3 * weights3[slot]
                )
            place += 4
        while place < end:
            value = data[place]
            weights = slot_weights[indices[place]]
            for slot in range(n_slots):
                scores[slot] += value * weights[slot]
            place += 1
        members = in_slots[row]
        for slot in range(n_slots):
            if scores[slot] > floor and held[slot] != NOBODY:
                if held_out[row] and turns[slot] == 0:
                    surprised[slot] = True
                elif not (members >> np.uint64(slot)) & ONE:
                    heap_sizes[slot] = _push(
                        heap_scores[slot],
                        heap_rows[slot],
                        heap_sizes[slot],
                        heap_caps[slot],
                        scores[slot],
                        row,
                    )


@njit(cache=True, nogil=True)
def _push(values, rows, size, cap, value, row):
    """Put a row on a heap whose smallest is first; when full, it takes the smallest's place."""
    if size < cap:
        at = size
        while at > 0:
            parent = (at - 1) >> 1
            if values[parent] <= value:
                break
            values[at] = values[parent]
            rows[at] = rows[parent]
            at = parent
        values[at] = value
        rows[at] = row
        return size + 1
    if value > values[0]:
        at = 0
        while True:
            child = 2 * at + 1
            if child >= cap:
                break
            if child + 1 < cap and values[child + 1] < values[child]:
                child += 1
            if values[child] >= value:
                break
            values[at] = values[child]
            rows[at] = rows[child]
            at = child
        values[at] = value
        rows[at] = row
    return size


@njit(cache=True, nogil=True)
def _with_room(rows, values, needed):
    """Return the two tables with at least ``needed`` columns, their content kept."""
    n_slots, room = rows.shape
    if needed <= room:
        return rows, values
    new_rows = np.empty((n_slots, needed + needed // 2), dtype=np.int32)
    new_values = np.empty((n_slots, needed + needed // 2), dtype=np.float32)
    for slot in range(n_slots):
        for at in range(room):
            new_rows[slot, at] = rows[slot, at]
            new_values[slot, at] = values[slot, at]
    return new_rows, new_values
