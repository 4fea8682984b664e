"""Compiled loops of skip-gram with negative sampling."""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import below, next_state, seeded, shuffle
from labelspace.compiling import njit

# σ between −6 and 6, as a table: an exponential takes as long as an inner product.
_END = np.float32(6.0)
# Vectors are kept from growing beyond this: far more than any needs.
_LONGEST = np.float32(10.0)
_STEPS = 1024
_SIGMOID = (1.0 / (1.0 + np.exp(-(np.arange(_STEPS) + 0.5) * 12.0 / _STEPS + 6.0))).astype(
    np.float32
)


@njit(cache=True, nogil=True)
def group_pairs(walks, n_blocks, per_block, window, seed):
    """Return the contexts of all pairs, sorted by cell and node, and where each node's begin.

    Node i is in block i % n_blocks, at place i // n_blocks of it. Keys run over the blocks of
    nodes, the blocks of contexts and the places of nodes, in this order.
    """
    starts = np.zeros(n_blocks * n_blocks * per_block + 1, dtype=np.int64)
    _count_or_fill(
        walks, n_blocks, per_block, window, seed, starts, np.empty(0, dtype=np.int32), False
    )
    for key in range(1, starts.shape[0]):
        starts[key] += starts[key - 1]
    contexts = np.empty(starts[-1], dtype=np.int32)
    ends = starts[:-1].copy()
    _count_or_fill(walks, n_blocks, per_block, window, seed, ends, contexts, True)
    return contexts, starts


@njit(cache=True, nogil=True)
def _count_or_fill(walks, n_blocks, per_block, window, seed, places, contexts, fill):
    """Count the pairs of each key, one place further on, or put them where ``places`` says."""
    for number in range(walks.shape[0]):
        state = next_state(seeded(seed, number, 1))
        for middle in range(walks.shape[1]):
            node = walks[number, middle]
            if node < 0:
                break
            state = next_state(state)
            reach = 1 + below(state, window)
            row_key = (node % n_blocks) * n_blocks * per_block + node // n_blocks
            for at in range(max(middle - reach, 0), min(middle + reach + 1, walks.shape[1])):
                context = walks[number, at]
                if context < 0:
                    break
                if at == middle:
                    continue
                key = row_key + (context % n_blocks) * per_block
                if fill:
                    contexts[places[key]] = context
                    places[key] += 1
                else:
                    places[key + 1] += 1


@njit(cache=True, nogil=True, fastmath=True)
def train_cell(
    contexts,
    starts,
    row_block,
    column_block,
    noise,
    n_negatives,
    group,
    rates,
    seed,
    inputs,
    outputs,
):
    """Learn all pairs of a cell, in groups of one node, the groups in a random order."""
    n_blocks = noise.shape[0]
    per_block = (starts.shape[0] - 1) // (n_blocks * n_blocks)
    first_key = (row_block * n_blocks + column_block) * per_block
    n_groups = 0
    for place in range(per_block):
        n_groups += -(-(starts[first_key + place + 1] - starts[first_key + place]) // group)
    if n_groups == 0:
        return
    places = np.empty(n_groups, dtype=np.int64)
    begins = np.empty(n_groups, dtype=np.int64)
    order = np.arange(n_groups)
    filled = 0
    for place in range(per_block):
        for begin in range(starts[first_key + place], starts[first_key + place + 1], group):
            places[filled] = place
            begins[filled] = begin
            filled += 1
    state = next_state(seeded(seed, row_block, column_block + 1))
    state = shuffle(order, n_groups, state)
    dim = inputs.shape[1]
    step = np.empty(dim, dtype=np.float32)
    for number in range(n_groups):
        rate = rates[0] + (rates[1] - rates[0]) * np.float32(number / n_groups)
        chosen = order[number]
        place, begin = places[chosen], begins[chosen]
        end = min(begin + group, starts[first_key + place + 1])
        node = place * n_blocks + row_block
        for d in range(dim):
            step[d] = 0.0
        for at in range(begin, end):
            context = contexts[at]
            slope = rate * (np.float32(1.0) - _sigmoid_of_product(inputs, node, outputs, context))
            _add_gradients(slope, inputs, node, outputs, context, step)
        # Large steps along one vector, taken again and again, would end in the infinite.
        weight = min(rate * np.float32(end - begin), np.float32(0.5))
        for _ in range(n_negatives):
            state = next_state(state)
            drawn = noise[column_block, below(state, noise.shape[1])]
            slope = -weight * _sigmoid_of_product(inputs, node, outputs, drawn)
            _add_gradients(slope, inputs, node, outputs, drawn, step)
        square = np.float32(0.0)
        for d in range(dim):
            inputs[node, d] += step[d]
            square += inputs[node, d] * inputs[node, d]
        # One node on almost every walk is drawn again and again; its steps would swing ever wider.
        if square > _LONGEST * _LONGEST:
            for d in range(dim):
                inputs[node, d] *= _LONGEST / np.sqrt(square)


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _sigmoid_of_product(inputs, node, outputs, context):
    product = np.float32(0.0)
    for d in range(inputs.shape[1]):
        product += inputs[node, d] * outputs[context, d]
    if product >= _END:
        return np.float32(1.0)
    if product <= -_END:
        return np.float32(0.0)
    return _SIGMOID[int((product + _END) * np.float32(_STEPS / 12.0))]


@njit(cache=True, nogil=True, fastmath=True, inline="always")
def _add_gradients(slope, inputs, node, outputs, context, step):
    for d in range(inputs.shape[1]):
        step[d] += slope * outputs[context, d]
        outputs[context, d] += slope * inputs[node, d]
