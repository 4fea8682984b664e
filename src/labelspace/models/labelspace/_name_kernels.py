"""Compiled loops that find the names of labels in rows.

Features that mean the same are taken together: ``alike`` has the one that stands for each. A name
is found through the feature of its own that fewest names have, so that a row looks at few names
however many there are.
"""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit

N_FIGURES = 5
WHOLE = 0.999  # of a name's weight: all of it, but for rounding
SUREST = 0.999
DOUBT, RATE = 5.0, 0.1  # what a name is trusted before rows say: as if so many had said this


@njit(cache=True, nogil=True)
def trust(having, right):
    """Return the log odds that a name is right, if ``right`` of the rows having it were.

    >>> trust(np.array([0.0, 100.0, 100.0]), np.array([0.0, 0.0, 50.0])).round(1)
    array([-2.2, -5.3, -0.1])
    """
    share = np.minimum((right + DOUBT * RATE) / (having + DOUBT), SUREST)
    return np.log(share / (1.0 - share))


@njit(cache=True, nogil=True)
def _mark(begin, end, indices, data, alike, values, marked):
    """Write the largest value of each feature of a row; return how many there are."""
    n_marked = 0
    for entry in range(begin, end):
        feature = alike[indices[entry]]
        if values[feature] == 0.0:
            marked[n_marked] = feature
            n_marked += 1
        values[feature] = max(values[feature], abs(data[entry]))
    return n_marked


@njit(cache=True, nogil=True)
def _is_whole(name, name_ptr, name_features, values):
    for at in range(name_ptr[name], name_ptr[name + 1]):
        if values[name_features[at]] == 0.0:
            return False
    return True


@njit(cache=True, nogil=True)
def find_names(
    indptr, indices, data, alike, name_ptr, name_features, by_rarest_ptr, by_rarest, label_of,
    information, labels, scores,
):  # fmt: skip
    """Write the labels with a name that is in a row as a whole, those that tell most first."""
    values = np.zeros(alike.shape[0], dtype=np.float32)
    marked = np.empty(alike.shape[0], dtype=np.int64)
    for row in range(indptr.shape[0] - 1):
        n_marked = _mark(indptr[row], indptr[row + 1], indices, data, alike, values, marked)
        filled = 0
        for number in range(n_marked):
            for at in range(by_rarest_ptr[marked[number]], by_rarest_ptr[marked[number] + 1]):
                name = by_rarest[at]
                label = label_of[name]
                score = information[name]
                if filled == labels.shape[1] and score < scores[row, filled - 1]:
                    continue
                if not _is_whole(name, name_ptr, name_features, values):
                    continue
                is_new = True
                for other in range(filled):
                    is_new = is_new and labels[row, other] != label
                if is_new:
                    filled = insert(labels[row], scores[row], filled, np.int64(label), score)
        for number in range(n_marked):
            values[marked[number]] = 0.0


@njit(cache=True, nogil=True)
def count_names(
    indptr, indices, data, alike, name_ptr, name_features, by_rarest_ptr, by_rarest, label_of,
    label_ptr, label_indices, counts,
):  # fmt: skip
    """Add up for each name how many rows with labels have it, and how many its label, too."""
    values = np.zeros(alike.shape[0], dtype=np.float32)
    marked = np.empty(alike.shape[0], dtype=np.int64)
    for row in range(indptr.shape[0] - 1):
        if label_ptr[row] == label_ptr[row + 1]:
            continue
        n_marked = _mark(indptr[row], indptr[row + 1], indices, data, alike, values, marked)
        for number in range(n_marked):
            for at in range(by_rarest_ptr[marked[number]], by_rarest_ptr[marked[number] + 1]):
                name = by_rarest[at]
                if not _is_whole(name, name_ptr, name_features, values):
                    continue
                counts[name, 0] += 1
                for entry in range(label_ptr[row], label_ptr[row + 1]):
                    if label_indices[entry] == label_of[name]:
                        counts[name, 1] += 1
        for number in range(n_marked):
            values[marked[number]] = 0.0


@njit(cache=True, nogil=True)
def compare_names(
    indptr, indices, data, alike, name_ptr, name_features, name_weights, names_of, information,
    counts, labels, figures,
):  # fmt: skip
    """Write how much of its best name each candidate finds in the row, and what that tells.

    ``figures`` gets the share of the name by weight, what the found part tells, how much the row
    makes of it, and where all of the name is there, how far it can be trusted and how many rows
    say so.
    """
    values = np.zeros(alike.shape[0], dtype=np.float32)
    marked = np.empty(alike.shape[0], dtype=np.int64)
    for row in range(indptr.shape[0] - 1):
        n_marked = _mark(indptr[row], indptr[row + 1], indices, data, alike, values, marked)
        for at in range(labels.shape[1]):
            label = labels[row, at]
            if label < 0:
                continue
            best = figures[row, at]
            for name in range(names_of[label], names_of[label + 1]):
                share = np.float32(0.0)
                strength = np.float32(0.0)
                for entry in range(name_ptr[name], name_ptr[name + 1]):
                    value = values[name_features[entry]]
                    if value > 0.0:
                        share += name_weights[entry]
                        strength += value
                told = share * information[name]
                if share > best[0] or (share == best[0] and told > best[1]):
                    best[0], best[1], best[2] = share, told, strength
                    if share > WHOLE:
                        best[3] = trust(counts[name, 0], counts[name, 1])
                        best[4] = np.log(1.0 + counts[name, 0])
        for number in range(n_marked):
            values[marked[number]] = 0.0
