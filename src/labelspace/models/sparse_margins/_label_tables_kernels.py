"""Compiled loops that keep sums for pairs of a feature and a label, in a small table per feature.

Tables are four arrays: where each feature's table starts, how many places it has, and the labels
and the sums at all places. A table has 2^n places; a label's place is found by its hash and, if
that is taken, the next free one. In a table with a place for every label it is the label's number.
Open tables take in labels as they come: a table that gets full moves to the end of the store, twice
as large. Closed ones have the pairs that they were made with, and sums of others are left out.
Feature 0 is a constant, which is not shrunk.
"""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit
from labelspace.linear._l1_kernels import shrunk

FIRST_PLACES = 4


@njit(cache=True, nogil=True)
def open_tables(n_features):
    """Return small tables without labels, and how many labels each has."""
    n_places = n_features * FIRST_PLACES
    starts = np.arange(n_features) * FIRST_PLACES
    places = np.full(n_features, FIRST_PLACES, dtype=np.int64)
    keys = np.full(n_places, -1, dtype=np.int32)
    tables = starts, places, keys, np.zeros(n_places, dtype=np.float32)
    return tables, np.zeros(n_features, dtype=np.int64)


@njit(cache=True, nogil=True)
def closed_tables(ptr, labels, sums, n_labels):
    """Return tables of just these pairs; the labels of a feature are ``ptr[f]`` to ``ptr[f+1]``."""
    n_features = ptr.shape[0] - 1
    starts = np.zeros(n_features, dtype=np.int64)
    places = np.zeros(n_features, dtype=np.int64)
    n_places = 0
    for feature in range(n_features):
        size = FIRST_PLACES
        while size < 2 * (ptr[feature + 1] - ptr[feature]):
            size *= 2
        starts[feature], places[feature] = n_places, min(size, max(n_labels, FIRST_PLACES))
        n_places += places[feature]
    keys = np.full(n_places, -1, dtype=np.int32)
    values = np.zeros(n_places, dtype=np.float32)
    for feature in range(n_features):
        for at in range(ptr[feature], ptr[feature + 1]):
            place = place_of(keys, starts[feature], places[feature], labels[at], n_labels)
            keys[place] = labels[at]
            values[place] = sums[at]
    return starts, places, keys, values


@njit(cache=True, nogil=True)
def place_of(keys, start, n_places, label, n_labels):
    """Return where a label is in a table, or where it would be."""
    if n_places >= n_labels:
        return start + np.int64(label)
    mask = n_places - 1
    place = ((label * 0x9E3779B1) >> 8) & mask
    while keys[start + place] != label and keys[start + place] >= 0:
        place = (place + 1) & mask
    return start + place


@njit(cache=True, nogil=True)
def add_products(tables, features, data, labels, steps, n_labels):
    """Add steps times a row to the sums of labels, where a table has the label."""
    starts, places, keys, values = tables
    for at in range(features.shape[0]):
        start, n_places = starts[features[at]], places[features[at]]
        for number in range(labels.shape[0]):
            if steps[number] != 0.0:
                place = place_of(keys, start, n_places, labels[number], n_labels)
                if keys[place] >= 0:
                    values[place] += steps[number] * data[at]


@njit(cache=True, nogil=True)
def take_in(tables, counts, used, features, labels, steps, n_labels):
    """Let the labels that move into the tables of a row's features.

    Returns the tables and how many places of the store are used. ``counts`` are the labels that
    each table has.
    """
    starts, places, keys, values = tables
    for feature in features:
        needed = min(2 * (counts[feature] + labels.shape[0]), n_labels)
        if needed > places[feature]:
            keys, values, used = _with_room(
                keys, values, used, starts, places, feature, needed, n_labels
            )
        for number in range(labels.shape[0]):
            if steps[number] != 0.0:
                place = place_of(keys, starts[feature], places[feature], labels[number], n_labels)
                if keys[place] < 0:
                    keys[place] = labels[number]
                    counts[feature] += 1
    return (starts, places, keys, values), used


@njit(cache=True, nogil=True)
def _with_room(keys, values, used, starts, places, feature, needed, n_labels):
    """Move a table to the end of the store, so large that ``needed`` places fit."""
    start, size = starts[feature], places[feature]
    larger = size
    while larger < needed:
        larger *= 2
    if used + larger > keys.shape[0]:
        n_places = 2 * max(keys.shape[0], larger)
        more_keys = np.full(n_places, -1, dtype=np.int32)
        more_values = np.zeros(n_places, dtype=np.float32)
        more_keys[:used] = keys[:used]
        more_values[:used] = values[:used]
        keys, values = more_keys, more_values
    starts[feature], places[feature] = used, larger
    for place in range(start, start + size):
        if keys[place] >= 0:
            new = place_of(keys, used, larger, keys[place], n_labels)
            keys[new] = keys[place]
            values[new] = values[place]
    return keys, values, used + larger


@njit(cache=True, nogil=True)
def score_some(tables, features, data, shrink, active, scores):
    """Write down the scores of the active labels for a row."""
    starts, places, keys, values = tables
    for label in active:
        scores[label] = 0.0
    for at in range(features.shape[0]):
        start, n_places = starts[features[at]], places[features[at]]
        by = np.float32(shrink if features[at] > 0 else 0.0)
        for label in active:
            place = place_of(keys, start, n_places, label, scores.shape[0])
            if keys[place] == label:
                scores[label] += data[at] * shrunk(values[place], by)


@njit(cache=True, nogil=True)
def score_all(lists, features, data, scores):
    """Write down the scores of all labels for a row, by lists of weights."""
    ptr, labels, weights = lists
    scores[:] = np.float32(0.0)
    for at in range(features.shape[0]):
        for entry in range(ptr[features[at]], ptr[features[at] + 1]):
            scores[labels[entry]] += data[at] * weights[entry]


@njit(cache=True, nogil=True)
def lists_above(tables, least, shrink):
    """Return the labels and the sums, shrunk, of each feature's sums beyond ±least, and where."""
    starts, places, keys, values = tables
    n_features = starts.shape[0]
    ptr = np.zeros(n_features + 1, dtype=np.int64)
    for feature in range(n_features):
        bar = np.float32(least if feature > 0 else 0.0)
        n_kept = 0
        for place in range(starts[feature], starts[feature] + places[feature]):
            n_kept += abs(values[place]) > bar
        ptr[feature + 1] = ptr[feature] + n_kept
    labels = np.empty(ptr[n_features], dtype=np.int32)
    weights = np.empty(ptr[n_features], dtype=np.float32)
    at = 0
    for feature in range(n_features):
        bar = np.float32(least if feature > 0 else 0.0)
        by = np.float32(shrink if feature > 0 else 0.0)
        for place in range(starts[feature], starts[feature] + places[feature]):
            if abs(values[place]) > bar:
                labels[at] = keys[place]
                weights[at] = shrunk(values[place], by)
                at += 1
    return ptr, labels, weights
