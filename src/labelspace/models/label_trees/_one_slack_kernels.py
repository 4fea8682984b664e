"""Compiled loops that train all nodes of a label tree together, with one slack for each row."""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import seeded, shuffle
from labelspace.compiling import njit
from labelspace.linear._subproblem_kernels import FUSED

MOST_PAIRS = 64  # pairs of siblings that a row can hold at a time: fewer would not converge


@njit(cache=True, nogil=True, fastmath=FUSED)
def train_one_slack(
    indptr,
    data,
    lengths,
    first_child,
    right_ptr,
    right_nodes,
    feature_ptr,
    features,
    block_ptr,
    stay_ptr,
    stay_places,
    C,
    squared,
    tol,
    max_iter,
    seed,
):
    """Dual ascent over rows; returns the blocks of weights and the number of passes."""
    n_rows = indptr.shape[0] - 1
    n_nodes = first_child.shape[0] - 1
    slack = np.float32(0.5 / C) if squared else np.float32(0.0)
    most = np.float32(C)
    weights = np.zeros(block_ptr[-1], dtype=np.float32)
    pair_right = np.empty((n_rows, MOST_PAIRS), dtype=np.int32)
    pair_wrong = np.empty((n_rows, MOST_PAIRS), dtype=np.int32)
    pair_alphas = np.zeros((n_rows, MOST_PAIRS), dtype=np.float32)
    n_pairs = np.zeros(n_rows, dtype=np.int64)
    score = np.zeros(n_nodes, dtype=np.float32)  # of the row at hand
    change = np.zeros(n_nodes, dtype=np.float32)
    scratch = np.zeros(n_nodes, dtype=np.float32)
    is_right = np.zeros(n_nodes, dtype=np.bool_)
    state = seeded(seed, 0, 1)
    order = np.arange(n_rows)
    n_passes = 0
    while n_passes < max_iter:
        n_passes += 1
        state = shuffle(order, order.shape[0], state)
        worst = np.float32(0.0)
        for row in order:
            start, end = right_ptr[row], right_ptr[row + 1]
            if start == end:
                continue
            nodes = right_nodes[start:end]
            stays = stay_ptr[start:end]
            values = data[indptr[row] : indptr[row + 1]]
            for node in nodes:
                is_right[node] = True
            _score_stays(values, nodes, stays, stay_places, first_child, block_ptr, weights, score)
            if squared:
                violation = _improve(
                    first_child,
                    nodes,
                    is_right,
                    score,
                    change,
                    pair_right[row],
                    pair_wrong[row],
                    pair_alphas[row],
                    n_pairs[row : row + 1],
                    2 * lengths[row],
                    lengths[row],
                    slack,
                    tol,
                )
            else:
                violation = _approach(
                    first_child,
                    nodes,
                    is_right,
                    score,
                    change,
                    scratch,
                    pair_right[row],
                    pair_wrong[row],
                    pair_alphas[row],
                    n_pairs[row : row + 1],
                    lengths[row],
                    most,
                    tol,
                )
            worst = max(worst, violation)
            _step_stays(values, nodes, stays, stay_places, first_child, block_ptr, weights, change)
            for node in nodes:
                is_right[node] = False
        if worst <= tol:
            break
    return weights, n_passes


@njit(cache=True, nogil=True, fastmath=FUSED)
def _score_stays(values, nodes, stays, stay_places, first_child, block_ptr, weights, score):
    """Set the scores of all children of the nodes that a row is at."""
    for node, place in zip(nodes, stays):  # noqa: B905
        first, last = first_child[node], first_child[node + 1]
        n_children = last - first
        if n_children == 0:
            continue
        score[first:last] = np.float32(0.0)
        for value in values:
            start = block_ptr[node] + stay_places[place] * n_children
            for child in range(n_children):
                score[first + child] += value * weights[start + child]
            place += 1


@njit(cache=True, nogil=True, fastmath=FUSED)
def _step_stays(values, nodes, stays, stay_places, first_child, block_ptr, weights, change):
    """Add each child's change times the row to its weights, and forget the changes."""
    for node, begin in zip(nodes, stays):  # noqa: B905
        first, last = first_child[node], first_child[node + 1]
        n_children = last - first
        for child in range(n_children):
            step = change[first + child]
            if step == 0:
                continue
            change[first + child] = np.float32(0.0)
            place = begin
            for value in values:
                weights[block_ptr[node] + stay_places[place] * n_children + child] += step * value
                place += 1


@njit(cache=True, nogil=True)
def _improve(
    first_child,
    nodes,
    is_right,
    score,
    change,
    pair_right,
    pair_wrong,
    alphas,
    n_pairs,
    curvature,
    length,
    slack,
    tol,
):
    """Solve a row's part of the dual, nearly: take in the worst pair, then raise and lower all.

    ``score`` follows the changes. Returns by how much the worst pair violated its margin at first.
    """
    total = np.float32(0.0)
    for at in range(n_pairs[0]):
        total += alphas[at]
    reported = np.float32(0.0)
    for turn in range(MOST_PAIRS):
        best_right, best_wrong, violation = _worst_pair(first_child, nodes, is_right, score)
        violation -= total * slack
        if turn == 0:
            reported = max(violation, np.float32(0.0))
        if best_right >= 0 and violation > np.float32(0.1) * tol:
            _take_in(best_right, best_wrong, pair_right, pair_wrong, alphas, n_pairs)
        elif turn > 0 or n_pairs[0] == 0:
            break
        moved = np.float32(0.0)
        for _ in range(3):
            for at in range(n_pairs[0]):
                one, other = pair_right[at], pair_wrong[at]
                gradient = score[one] - score[other] - np.float32(1.0) + total * slack
                new = max(alphas[at] - gradient / (curvature + slack), np.float32(0.0))
                step = new - alphas[at]
                if step != 0:
                    alphas[at] = new
                    total += step
                    change[one] += step
                    change[other] -= step
                    score[one] += step * length
                    score[other] -= step * length
                    moved = max(moved, abs(step))
        if moved * (curvature + slack) <= np.float32(0.1) * tol:
            break
    n_pairs[0] = _keep_weighty(pair_right, pair_wrong, alphas, n_pairs[0])
    return reported


@njit(cache=True, nogil=True)
def _worst_pair(first_child, nodes, is_right, score):
    """Return the right and the wrong sibling with the least margin, and by how much it lacks 1."""
    best_right, best_wrong = -1, -1
    violation = np.float32(-1e30)
    for node in nodes:
        lowest, highest = -1, -1
        for child in range(first_child[node], first_child[node + 1]):
            if is_right[child]:
                if lowest < 0 or score[child] < score[lowest]:
                    lowest = child
            elif highest < 0 or score[child] > score[highest]:
                highest = child
        if lowest >= 0 and highest >= 0:
            here = np.float32(1.0) - score[lowest] + score[highest]
            if here > violation:
                violation, best_right, best_wrong = here, lowest, highest
    return best_right, best_wrong, violation


@njit(cache=True, nogil=True)
def _approach(
    first_child,
    nodes,
    is_right,
    score,
    change,
    scratch,
    pair_right,
    pair_wrong,
    alphas,
    n_pairs,
    length,
    most,
    tol,
):
    """Move a row's share of the dual towards its worst pair, where slacks count as they are.

    The row's variables are convex weights, times ``most``, of its pairs and of nothing at all.
    Towards the corner of the worst pair, the dual rises by gain·t − ½ t² length ‖d‖², with d the
    change of what each node gets. Returns what is still to be gained, as a share of ``most``.
    """
    reported = np.float32(0.0)
    for turn in range(3):
        one, other, violation = _worst_pair(first_child, nodes, is_right, score)
        if one < 0:
            return reported
        corner = most if violation > 0 else np.float32(0.0)
        gain = corner * violation
        for at in range(n_pairs[0]):
            lacks = np.float32(1.0) - score[pair_right[at]] + score[pair_wrong[at]]
            gain -= alphas[at] * lacks
        if turn == 0:
            reported = gain / most
        if gain <= np.float32(0.1) * tol * most:
            break
        if corner > 0:
            _take_in(one, other, pair_right, pair_wrong, alphas, n_pairs)
        place = -1
        for at in range(n_pairs[0]):
            if pair_right[at] == one and pair_wrong[at] == other:
                place = at
        if corner > 0 and place < 0:
            break  # no room for another pair
        for at in range(n_pairs[0]):
            towards = (corner if at == place else np.float32(0.0)) - alphas[at]
            scratch[pair_right[at]] += towards
            scratch[pair_wrong[at]] -= towards
        size = np.float32(0.0)
        for node in nodes:
            for child in range(first_child[node], first_child[node + 1]):
                size += scratch[child] * scratch[child]
        share = min(gain / max(size * length, np.float32(1e-20)), np.float32(1.0))
        for node in nodes:
            for child in range(first_child[node], first_child[node + 1]):
                step = share * scratch[child]
                scratch[child] = np.float32(0.0)
                change[child] += step
                score[child] += step * length
        for at in range(n_pairs[0]):
            alphas[at] *= np.float32(1.0) - share
        if place >= 0:
            alphas[place] += share * corner
        n_pairs[0] = _keep_weighty(pair_right, pair_wrong, alphas, n_pairs[0])
    return reported


@njit(cache=True, nogil=True)
def _keep_weighty(pair_right, pair_wrong, alphas, n_pairs):
    """Let pairs without weight make room; returns how many are left."""
    kept = 0
    for at in range(n_pairs):
        if alphas[at] > 0:
            pair_right[kept] = pair_right[at]
            pair_wrong[kept] = pair_wrong[at]
            alphas[kept] = alphas[at]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _take_in(one, other, pair_right, pair_wrong, alphas, n_pairs):
    """Give a row a pair, unless it has it already or no room is left."""
    for at in range(n_pairs[0]):
        if pair_right[at] == one and pair_wrong[at] == other:
            return
    if n_pairs[0] < MOST_PAIRS:
        pair_right[n_pairs[0]] = one
        pair_wrong[n_pairs[0]] = other
        alphas[n_pairs[0]] = np.float32(0.0)
        n_pairs[0] += 1
