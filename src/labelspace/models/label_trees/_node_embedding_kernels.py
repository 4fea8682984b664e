"""Compiled loops that learn a small space for rows and the nodes of a label tree."""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import below, next_state
from labelspace.compiling import njit

FAST = {"contract", "reassoc", "nsz"}
ONE = np.float32(1.0)


@njit(cache=True, nogil=True)
def unit_rows(vectors):
    """Scale rows to length one, in place; zeros stay."""
    for row in range(vectors.shape[0]):
        length = np.float32(0.0)
        for value in vectors[row]:
            length += value * value
        if length > 0:
            vectors[row] /= np.sqrt(length)
    return vectors


@njit(cache=True, nogil=True)
def begin(weights, vectors):
    """Return AdaGrad's sums of squares for each row of the map, each vector and each bias."""
    return (
        np.full(weights.shape[0], np.float32(1e-4)),
        np.full(vectors.shape[0], np.float32(1e-4)),
        np.full(vectors.shape[0], np.float32(1e-4)),
    )


@njit(cache=True, nogil=True, fastmath=FAST)
def epoch(
    rows, indptr, indices, data, first_child, parents, right_ptr, right_nodes, near_ptr, near_nodes,
    weights, vectors, biases, weight_sums, vector_sums, bias_sums, fixed, each, margin, squared,
    n_sampled, rate, decays, seed,
):  # fmt: skip
    """Take one step for each of ``rows``; returns the sum of their losses.

    ``decays`` has γ times all rows over those that have a feature: a row stands for γ‖W‖² only by
    its own features. Weights shrink by dividing, which is stable for steps of any length.
    """
    dim = weights.shape[1]
    n_nodes = vectors.shape[0]
    z = np.empty(dim, dtype=np.float32)
    pull = np.empty(dim, dtype=np.float32)
    is_right = np.zeros(n_nodes, dtype=np.bool_)
    candidates = np.empty(n_nodes, dtype=np.int64)
    slopes = np.empty(n_nodes, dtype=np.float32)
    state = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(88172645463325252)
    total = 0.0
    for row in rows:
        at_nodes = right_nodes[right_ptr[row] : right_ptr[row + 1]]
        encode(indices, data, indptr[row], indptr[row + 1], weights, z)
        n_candidates, state = _candidates(
            at_nodes, first_child, parents, near_ptr, near_nodes, is_right, n_sampled, state,
            candidates,
        )  # fmt: skip
        total += row_slopes(
            z,
            candidates[:n_candidates],
            parents,
            is_right,
            vectors,
            biases,
            each,
            margin,
            squared,
            slopes,
        )
        for node in at_nodes:
            is_right[node] = False
        pull[:] = np.float32(0.0)
        length = np.float32(0.0)
        for axis in range(dim):
            length += z[axis] * z[axis]
        for at in range(n_candidates):
            slope = slopes[at]
            if slope == 0:
                continue
            node = candidates[at]
            vector = vectors[node]
            for axis in range(dim):
                pull[axis] += slope * vector[axis]
            if fixed:
                continue
            vector_sums[node] += slope * slope * length / np.float32(dim)
            step = rate * slope / np.sqrt(vector_sums[node])
            norm = np.float32(0.0)
            for axis in range(dim):
                vector[axis] -= step * z[axis]
                norm += vector[axis] * vector[axis]
            if norm > ONE:
                shrink = ONE / np.sqrt(norm)
                for axis in range(dim):
                    vector[axis] *= shrink
            bias_sums[node] += slope * slope
            biases[node] -= rate * slope / np.sqrt(bias_sums[node])
        strength = np.float32(0.0)
        for axis in range(dim):
            strength += pull[axis] * pull[axis]
        for place in range(indptr[row], indptr[row + 1]):
            feature = indices[place]
            value = data[place]
            weight_sums[feature] += value * value * strength / np.float32(dim)
            step = rate / np.sqrt(weight_sums[feature])
            of_feature = weights[feature]
            shrink = ONE / (ONE + step * decays[feature])
            for axis in range(dim):
                of_feature[axis] = shrink * (of_feature[axis] - step * value * pull[axis])
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def encode(indices, data, start, end, weights, z):
    """Set ``z`` to the place of a row."""
    z[:] = np.float32(0.0)
    for place in range(start, end):
        of_feature = weights[indices[place]]
        for axis in range(z.shape[0]):
            z[axis] += data[place] * of_feature[axis]


@njit(cache=True, nogil=True, fastmath=FAST)
def row_slopes(
    z, candidates, parents, is_right, vectors, biases, each, margin, squared, slopes
):  # fmt: skip
    """Return a row's loss, and by how much it changes with each candidate's score.

    ``candidates`` hold siblings side by side. The loss is half the squared hinge of each
    candidate's yes or no, or that of the worst pair of siblings, which may lack the ``margin``; if
    not ``squared`` it is what that pair lacks, as it is.
    """
    loss = np.float32(0.0)
    worst = np.float32(0.0)
    worst_right, worst_wrong = -1, -1
    lowest, highest = -1, -1
    lowest_score, highest_score = np.float32(0.0), np.float32(0.0)
    before = -1
    for at in range(candidates.shape[0]):
        node = candidates[at]
        vector = vectors[node]
        score = np.float32(0.0)
        for axis in range(z.shape[0]):
            score += z[axis] * vector[axis]
        score += biases[node]
        slopes[at] = np.float32(0.0)
        if each:
            sign = ONE if is_right[node] else -ONE
            missing = ONE - sign * score
            if missing > 0:
                loss += np.float32(0.5) * missing * missing
                slopes[at] = -sign * missing
            continue
        if parents[node] != before:
            before = parents[node]
            lowest, highest = -1, -1
        if is_right[node]:
            if lowest < 0 or score < lowest_score:
                lowest, lowest_score = at, score
        elif highest < 0 or score > highest_score:
            highest, highest_score = at, score
        if lowest >= 0 and highest >= 0:
            missing = margin - lowest_score + highest_score
            if missing > worst:
                worst, worst_right, worst_wrong = missing, lowest, highest
    if worst > 0:
        slope = worst if squared else ONE
        loss += np.float32(0.5) * worst * worst if squared else worst
        slopes[worst_right] = -slope
        slopes[worst_wrong] = slope
    return loss


@njit(cache=True, nogil=True)
def _candidates(
    at_nodes, first_child, parents, near_ptr, near_nodes, is_right, n_sampled, state, candidates
):  # fmt: skip
    """List the children that a row is compared with, and mark the right ones."""
    for node in at_nodes:
        is_right[node] = True
    n_candidates = 0
    for node in at_nodes:
        first, last = first_child[node], first_child[node + 1]
        if last - first <= n_sampled:
            for child in range(first, last):
                candidates[n_candidates] = child
                n_candidates += 1
            continue
        start = n_candidates
        for child in at_nodes:
            if parents[child] == node:
                candidates[n_candidates] = child
                n_candidates += 1
                # Half of the room is for labels that are easily confused with the right ones.
                for place in range(near_ptr[child], near_ptr[child + 1]):
                    other = near_nodes[place]
                    if n_candidates - start >= n_sampled // 2:
                        break
                    if parents[other] == node and not is_right[other]:
                        candidates[n_candidates] = other
                        n_candidates += 1
        while n_candidates - start < n_sampled:
            state = next_state(state)
            child = first + below(state, last - first)
            if is_right[child]:
                # Right ones are there already; a row that has all children never ends otherwise.
                n_sampled -= 1
                continue
            candidates[n_candidates] = child
            n_candidates += 1
    return n_candidates, state
