"""Kernels of ``synthetic``: rows drawn one by one, each from random numbers of its own.

A row's random numbers depend on the seed, the split and the row's number only (splitmix64), so
that neither the size of blocks nor their order changes what is in a row.
"""

from __future__ import annotations

import math

import numpy as np

from labelspace.compiling import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U11, _U27, _U30, _U31 = np.uint64(11), np.uint64(27), np.uint64(30), np.uint64(31)
_SCALE = 1.0 / 9007199254740992.0  # 2**-53

# Chance that a word comes from the topic one level further up the tree.
_WORD_CLIMB = 0.4


@njit(cache=True)
def draw_sizes(key, first, shares, n_total, mean_labels, mean_features, spread, shape):
    """Return how many labels (Poisson, and its share) and features (log-normal) each row has."""
    n_labels, n_features = shape
    label_sizes = np.empty(shares.size, dtype=np.int64)
    feature_sizes = np.empty(shares.size, dtype=np.int64)
    state = np.empty(1, dtype=np.uint64)
    more_labels = mean_labels - max(1.0, n_labels / n_total)
    log_mean = math.log(mean_features) - 0.5 * spread * spread
    for at in range(shares.size):
        _seed(state, key, first + at, 1)
        low, high = _share(shares[at], n_labels, n_total)
        label_sizes[at] = min(n_labels, max(1, high - low) + _poisson(state, more_labels))
        size = math.exp(log_mean + spread * _normal(state))
        feature_sizes[at] = min(n_features, max(1, int(size + 0.5)))
    return label_sizes, feature_sizes


@njit(cache=True)
def draw_labels(key, first, shares, n_total, climb, branching, cumulative, indptr, positions):
    """Fill ``positions``: the places in the tree of each row's labels.

    A row has all labels of its share. The others are drawn by frequency from ever larger subtrees
    around the first.
    """
    n_labels = cumulative.size - 1
    state = np.empty(1, dtype=np.uint64)
    for at in range(shares.size):
        _seed(state, key, first + at, 2)
        start, end = indptr[at], indptr[at + 1]
        low, high = _share(shares[at], n_labels, n_total)
        filled = start
        for label in range(low, high):
            positions[filled] = label
            filled += 1
        if low == high:
            positions[filled] = _draw_between(state, cumulative, 0, n_labels)
            filled += 1
        while filled < end:
            width = branching
            while width < n_labels and _uniform(state) < climb:
                width *= branching
            positions[filled] = _draw_near(
                state, width, branching, cumulative, positions[start:filled]
            )
            filled += 1


@njit(cache=True)
def draw_features(
    key,
    topic_key,
    first,
    branching,
    n_levels,
    n_topic_words,
    noise,
    n_features,
    label_indptr,
    positions,
    indptr,
    words,
    counts,
):
    """Fill ``words`` (by rank of frequency, distinct in a row) and how often each was drawn."""
    state = np.empty(1, dtype=np.uint64)
    for at in range(indptr.size - 1):
        _seed(state, key, first + at, 3)
        start, end = indptr[at], indptr[at + 1]
        row_labels = positions[label_indptr[at] : label_indptr[at + 1]]
        size = 4
        while size < 2 * (end - start):
            size *= 2
        slots = np.full(size, -1, dtype=np.int64)
        filled = start
        n_draws = 0
        while filled < end:
            n_draws += 1
            if n_draws > 30 * (end - start):  # its topics have too few words: any will do
                word = int(_uniform(state) * n_features)
            elif _uniform(state) < noise:
                word = int(math.exp(_uniform(state) * math.log(n_features + 1.0))) - 1
            else:
                label = row_labels[int(_uniform(state) * row_labels.size)]
                word = _topic_word(
                    state, topic_key, label, branching, n_levels, n_topic_words, n_features
                )
            word = min(word, n_features - 1)
            slot = (word * 40503) & (size - 1)
            while slots[slot] >= 0 and words[slots[slot]] != word:
                slot = (slot + 1) & (size - 1)
            if slots[slot] < 0:
                slots[slot] = filled
                words[filled] = word
                counts[filled] = 1
                filled += 1
            else:
                counts[slots[slot]] += 1


@njit(cache=True)
def weigh_and_sort(indptr, words, counts, idf, column_of, values):
    """Turn words and counts into sorted columns and weights (1 + ln count) idf of length 1."""
    for at in range(indptr.size - 1):
        start, end = indptr[at], indptr[at + 1]
        row = np.empty(end - start, dtype=np.int64)
        weights = np.empty(end - start, dtype=np.float64)
        total = 0.0
        for j in range(start, end):
            weight = (1.0 + math.log(counts[j])) * idf[words[j]]
            total += weight * weight
            row[j - start] = column_of[words[j]]
            weights[j - start] = weight
        order = np.argsort(row)
        scale = 1.0 / math.sqrt(total)
        for j in range(end - start):
            words[start + j] = row[order[j]]
            # Five digits, as such corpora have: a third less to write and to read.
            values[start + j] = max(1.0, math.floor(1e5 * weights[order[j]] * scale + 0.5)) / 1e5


@njit(cache=True)
def _share(share, n_labels, n_total):
    """Return the first and the end of the labels of one of ``n_total`` equal shares."""
    return share * n_labels // n_total, (share + 1) * n_labels // n_total


@njit(cache=True)
def _draw_near(state, width, branching, cumulative, taken):
    """Draw a label that is not taken from the subtree of ``width`` places around the first."""
    n_labels = cumulative.size - 1
    while True:
        low = (taken[0] // width) * width
        high = min(low + width, n_labels)
        for _ in range(4):
            label = _draw_between(state, cumulative, low, high)
            if not _is_among(label, taken):
                return label
        if width >= n_labels:
            break
        width *= branching
    label = int(_uniform(state) * n_labels)
    while _is_among(label, taken):
        label = (label + 1) % n_labels
    return label


@njit(cache=True)
def _is_among(label, taken):
    for other in taken:
        if other == label:
            return True
    return False


@njit(cache=True)
def _draw_between(state, cumulative, low, high):
    """Draw a position in [low, high) by its weight."""
    wanted = cumulative[low] + _uniform(state) * (cumulative[high] - cumulative[low])
    position = low + np.searchsorted(cumulative[low + 1 : high + 1], wanted, side="right")
    return min(position, high - 1)


@njit(cache=True)
def _topic_word(state, topic_key, label, branching, n_levels, n_topic_words, n_features):
    """Draw one of the words of a label or of a topic above it."""
    level = 0
    topic = label
    while level < n_levels and _uniform(state) < _WORD_CLIMB:
        topic //= branching
        level += 1
    place = _uniform(state)
    which = int(n_topic_words * place * math.sqrt(place))
    mixed = _mix(topic_key + np.uint64(topic * 64 + level) * _GOLDEN)
    mixed = _mix(mixed + np.uint64(which) * _GOLDEN)
    share = np.float64(mixed >> _U11) * _SCALE
    return int(n_features * share * share)


@njit(cache=True)
def _seed(state, key, row, use):
    state[0] = _mix(_mix(key + np.uint64(use) * _MIX_1) + np.uint64(row) * _MIX_2)


@njit(cache=True)
def _mix(z):
    z = (z ^ (z >> _U30)) * _MIX_1
    z = (z ^ (z >> _U27)) * _MIX_2
    return z ^ (z >> _U31)


@njit(cache=True)
def _uniform(state):
    state[0] += _GOLDEN
    return np.float64(_mix(state[0]) >> _U11) * _SCALE


@njit(cache=True)
def _normal(state):
    radius = math.sqrt(-2.0 * math.log(1.0 - _uniform(state)))
    return radius * math.cos(2.0 * math.pi * _uniform(state))


@njit(cache=True)
def _poisson(state, mean):
    count = 0
    left = mean
    while left > 0.0:  # in steps, since exp(-mean) vanishes for large ones
        part = min(left, 500.0)
        left -= part
        limit = math.exp(-part)
        product = _uniform(state)
        while product > limit:
            count += 1
            product *= _uniform(state)
    return count
