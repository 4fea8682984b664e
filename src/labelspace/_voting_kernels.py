"""Compiled loops of the count of votes."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def count_votes(rows, row_weights, indptr, indices, labels, label_weights, n_labels, best, scores):
    """Fill ``best`` and ``scores``: more votes first, smaller label on a tie."""
    votes = np.zeros(n_labels, dtype=np.float32)
    named = np.empty(n_labels, dtype=np.int32)
    for query in range(rows.shape[0]):
        n_named = 0
        for at in range(rows.shape[1]):
            row, weight = rows[query, at], row_weights[query, at]
            if row < 0 or weight <= 0.0:
                continue
            for place in range(indptr[row], indptr[row + 1]):
                label = indices[place]
                if votes[label] == 0.0:
                    named[n_named] = label
                    n_named += 1
                votes[label] += weight
        for at in range(labels.shape[1]):
            label, weight = labels[query, at], label_weights[query, at]
            if label < 0 or weight <= 0.0:
                continue
            if votes[label] == 0.0:
                named[n_named] = label
                n_named += 1
            votes[label] += weight
        filled = 0
        for at in range(n_named):
            label = named[at]
            score = votes[label]
            votes[label] = 0.0
            filled = insert(best[query], scores[query], filled, np.int64(label), score)
