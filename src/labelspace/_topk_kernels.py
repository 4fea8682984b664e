"""Compiled loops of the top-k answers and the metrics."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def insert(labels, scores, filled, label, score):
    """Insert into a short sorted list of ``filled`` labels; return how many it has then.

    Larger score first, smaller label on a tie; what does not fit falls off the end.
    """
    k = labels.shape[0]
    place = filled if filled < k else k
    while place > 0 and (
        scores[place - 1] < score or (scores[place - 1] == score and labels[place - 1] > label)
    ):
        if place < k:
            scores[place] = scores[place - 1]
            labels[place] = labels[place - 1]
        place -= 1
    if place < k:
        scores[place] = score
        labels[place] = label
    return filled + 1 if filled < k else k


@njit(cache=True, nogil=True)
def topk_csr(indptr, indices, data, first, last, labels, scores):
    for row in range(first, last):
        filled = 0
        for at in range(indptr[row], indptr[row + 1]):
            filled = insert(labels[row], scores[row], filled, np.int64(indices[at]), data[at])


@njit(cache=True, nogil=True)
def topk_dense(block, first, last, labels, scores):
    for row in range(first, last):
        filled = 0
        for column in range(block.shape[1]):
            filled = insert(labels[row], scores[row], filled, column, block[row, column])


@njit(cache=True, nogil=True)
def hits(indptr, indices, labels):
    """Tell for each ranked label whether it is true; a label named twice counts once."""
    n_rows, k = labels.shape
    hits = np.zeros((n_rows, k), dtype=np.bool_)
    for row in range(n_rows):
        for at in range(k):
            label = labels[row, at]
            # The labels of a row are sorted.
            low, high = indptr[row], indptr[row + 1]
            while low < high:
                middle = (low + high) >> 1
                if indices[middle] < label:
                    low = middle + 1
                else:
                    high = middle
            if low < indptr[row + 1] and indices[low] == label:
                repeated = False
                for before in range(at):
                    repeated |= labels[row, before] == label
                hits[row, at] = not repeated
    return hits


@njit(cache=True, nogil=True)
def largest_gains(indptr, indices, weights, k):
    """Return the k largest weights among each row's labels: the best attainable ranking."""
    n_rows = indptr.shape[0] - 1
    best = np.zeros((n_rows, k))
    labels = np.empty((n_rows, k), dtype=np.int64)
    for row in range(n_rows):
        filled = 0
        for at in range(indptr[row], indptr[row + 1]):
            label = indices[at]
            filled = insert(labels[row], best[row], filled, label, weights[label])
    return best
