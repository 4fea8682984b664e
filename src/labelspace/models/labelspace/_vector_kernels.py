"""Compiled loops that compare rows and candidate labels by the vectors of an encoder."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

N_FIGURES = 2


@njit(cache=True, nogil=True)
def compare(
    queries, centroids, centroid_scales, names, name_scales, by_label, names_of, labels, figures
):
    """Write the cosines of rows with candidates' centroids and with the nearest of their names."""
    for row in range(labels.shape[0]):
        for at in range(labels.shape[1]):
            label = labels[row, at]
            if label < 0:
                continue
            figures[row, at, 0] = _cosine(queries[row], centroids[label], centroid_scales[label])
            for number in range(names_of[label], names_of[label + 1]):
                name = by_label[number]
                cosine = _cosine(queries[row], names[name], name_scales[name])
                figures[row, at, 1] = max(figures[row, at, 1], cosine)


@njit(cache=True, fastmath=True, nogil=True)
def _cosine(vector, key, scale):
    product = np.float32(0.0)
    for t in range(vector.shape[0]):
        product += vector[t] * np.float32(key[t])
    return product * scale


@njit(cache=True, nogil=True)
def join_lists(first, second, joined):
    """Write the labels of two lists of each row in turn, every label once; the rest is -1."""
    for row in range(joined.shape[0]):
        filled = 0
        for at in range(max(first.shape[1], second.shape[1])):
            for number in range(2):
                some = first if number == 0 else second
                if at >= some.shape[1] or some[row, at] < 0:
                    continue
                is_new = True
                for other in range(filled):
                    is_new = is_new and joined[row, other] != some[row, at]
                if is_new:
                    joined[row, filled] = some[row, at]
                    filled += 1
        joined[row, filled:] = -1
