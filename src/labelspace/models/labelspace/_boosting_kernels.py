"""Compiled loops of boosted trees: growing them on binned columns, and asking them."""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import below, next_state, seeded
from labelspace.compiling import njit

N_FEATURES = 29  # figures of a candidate that trees ask about
NO_SPLIT = 255
SMALLEST_CURVATURE = 1e-6


@njit(cache=True, nogil=True)
def boost(columns, n_bins, rows, is_true, logits, rate, l2, fewest, splits, cuts, values):
    """Grow one tree after the other on the gradient of the log loss; ``logits`` move with them.

    ``columns`` are the bins of each feature, (n_features, n). Tree t asks feature ``splits[t, d]``
    at level d whether its bin is above ``cuts[t, d]``; its leaves are ``values[t]``. It is grown on
    about half of the cases, all or none of those that have the same number in ``rows``.
    """
    n_trees, depth = splits.shape
    n = columns.shape[1]
    leaf_of = np.empty(n, dtype=np.int32)
    drawn = np.empty(n, dtype=np.int64)
    # What a tree is grown on, without the rest: it is gone through for each feature and level.
    slopes = np.empty(n)
    curvatures = np.empty(n)
    leaves = np.empty(n, dtype=np.int32)
    bins = np.empty(columns.shape, dtype=np.uint8)
    for tree in range(n_trees):
        n_drawn = 0
        for at in range(n):
            state = next_state(next_state(seeded(1, rows[at], tree + 1)))
            if below(state, 2) == 0:
                p = 1.0 / (1.0 + np.exp(-logits[at]))
                slopes[n_drawn] = p - is_true[at]
                curvatures[n_drawn] = max(p * (1.0 - p), SMALLEST_CURVATURE)
                drawn[n_drawn] = at
                n_drawn += 1
        for feature in range(columns.shape[0]):
            for number in range(n_drawn):
                bins[feature, number] = columns[feature, drawn[number]]
        leaf_of[:] = 0
        leaves[:] = 0
        some = slopes[:n_drawn], curvatures[:n_drawn], leaves[:n_drawn]
        for level in range(depth):
            split, cut = _best_split(bins, n_bins, *some, 1 << level, l2, fewest)
            splits[tree, level] = split
            cuts[tree, level] = cut
            for at in range(n):
                leaf_of[at] = 2 * leaf_of[at] + (1 if columns[split, at] > cut else 0)
            for number in range(n_drawn):
                leaves[number] = leaf_of[drawn[number]]
        _fill_leaves(*some, rate, l2, values[tree])
        for at in range(n):
            logits[at] += values[tree, leaf_of[at]]


@njit(cache=True, nogil=True)
def _best_split(bins, n_bins, slopes, curvatures, leaves, n_leaves, l2, fewest):
    """Return the feature and bin that, asked in every leaf, make the loss smallest."""
    best, best_split, best_cut = -1.0, 0, NO_SPLIT
    # Slopes and curvatures beside each other, bin after bin and leaf after leaf.
    sums = np.empty((n_leaves * (NO_SPLIT + 1), 2))
    for feature in range(bins.shape[0]):
        last = n_bins[feature] - 1
        if last < 1:
            continue
        width = last + 1
        sums[: n_leaves * width] = 0.0
        own = bins[feature]
        for number in range(slopes.shape[0]):
            place = leaves[number] * width + own[number]
            sums[place, 0] += slopes[number]
            sums[place, 1] += curvatures[number]
        for leaf in range(n_leaves):
            for place in range(leaf * width + 1, (leaf + 1) * width):
                sums[place, 0] += sums[place - 1, 0]
                sums[place, 1] += sums[place - 1, 1]
        for cut in range(last):
            gain = 0.0
            for leaf in range(n_leaves):
                below = sums[leaf * width + cut, 0]
                below_weight = sums[leaf * width + cut, 1]
                above = sums[leaf * width + last, 0] - below
                above_weight = sums[leaf * width + last, 1] - below_weight
                if below_weight < fewest or above_weight < fewest:
                    both = below + above
                    gain += both * both / (below_weight + above_weight + l2)
                else:
                    gain += below * below / (below_weight + l2)
                    gain += above * above / (above_weight + l2)
            if gain > best * (1.0 + 1e-9):
                best, best_split, best_cut = gain, feature, cut
    return best_split, best_cut


@njit(cache=True, nogil=True)
def _fill_leaves(slopes, curvatures, leaves, rate, l2, values):
    """Write what each leaf adds to the log odds: a Newton step, some of the way."""
    slope_sums = np.zeros(values.shape[0])
    curvature_sums = np.zeros(values.shape[0])
    for number in range(slopes.shape[0]):
        slope_sums[leaves[number]] += slopes[number]
        curvature_sums[leaves[number]] += curvatures[number]
    for leaf in range(values.shape[0]):
        values[leaf] = -rate * slope_sums[leaf] / (curvature_sums[leaf] + l2)


@njit(cache=True, nogil=True)
def ask(features, splits, thresholds, values, columns, leaves, added):
    """Write what all trees add to the log odds of some candidates.

    Each tree asks all of them at a time. ``columns``, (n_features, n) at least, and ``leaves`` are
    room to work in.
    """
    n = features.shape[0]
    for number in range(n):
        added[number] = np.float32(0.0)
        for feature in range(features.shape[1]):
            columns[feature, number] = features[number, feature]
    for tree in range(splits.shape[0]):
        leaves[:n] = 0
        for level in range(splits.shape[1]):
            column = columns[splits[tree, level]]
            threshold = thresholds[tree, level]
            for number in range(n):
                leaves[number] = 2 * leaves[number] + np.int32(column[number] > threshold)
        for number in range(n):
            added[number] += values[tree, leaves[number]]


@njit(cache=True, nogil=True)
def losses_by_tree(features, is_true, logits, splits, thresholds, values, losses):
    """Add the log loss of all cases after none, one, two … of the trees to ``losses``."""
    for at in range(features.shape[0]):
        logit = logits[at]
        sign = -1.0 if is_true[at] else 1.0
        losses[0] += np.log1p(np.exp(sign * logit))
        for tree in range(splits.shape[0]):
            leaf = 0
            for level in range(splits.shape[1]):
                above = features[at, splits[tree, level]] > thresholds[tree, level]
                leaf = 2 * leaf + (1 if above else 0)
            logit += values[tree, leaf]
            losses[tree + 1] += np.log1p(np.exp(sign * logit))
