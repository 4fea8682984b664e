"""Compiled loops of the sparse part of RobustXML."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, fastmath=True, nogil=True)
def solve(
    rows,
    columns,
    label_ptr,
    label_rows,
    labels,
    seen,
    H,
    squares,
    l1,
    penalty,
    n_passes,
    first,
    last,
    features,
    weights,
):
    """Find the sparse weights of some labels, by coordinate descent.

    ``rows`` and ``columns`` are X and Xᵀ as (indptr, indices, data), ``seen`` is XᵀXW, and
    ``squares`` has the squared length of each column of X. ``features`` and ``weights``, which are
    zero, get a line for each label.
    """
    n_rows = rows[0].shape[0] - 1
    n_features = columns[0].shape[0] - 1
    pulls = np.zeros(n_features, dtype=np.float32)
    touched = np.empty(n_features, dtype=np.int64)
    images = np.zeros(n_rows, dtype=np.float32)
    for number in range(first, last):
        label = labels[number]
        n_touched = _pulls(rows, label_ptr, label_rows, label, pulls, touched)
        n_kept = _strongest(pulls, touched, n_touched, seen, H[label], l1, features[number])
        descend(
            columns,
            pulls,
            features[number, :n_kept],
            weights[number, :n_kept],
            images,
            squares,
            l1,
            penalty,
            n_passes,
        )
        for at in range(n_touched):
            pulls[touched[at]] = np.float32(0.0)


@njit(cache=True, fastmath=True, nogil=True)
def _pulls(rows, label_ptr, label_rows, label, pulls, touched):
    """Add up the features of a label's rows; return how many features they have."""
    indptr, indices, data = rows
    n_touched = 0
    for place in range(label_ptr[label], label_ptr[label + 1]):
        row = label_rows[place]
        for at in range(indptr[row], indptr[row + 1]):
            feature = indices[at]
            if pulls[feature] == 0.0:
                touched[n_touched] = feature
                n_touched += 1
            pulls[feature] += data[at]
            if pulls[feature] == 0.0:
                # So that a sum that happens to be zero is not taken for a new feature.
                pulls[feature] = np.float32(1e-30)
    return n_touched


@njit(cache=True, fastmath=True, nogil=True)
def _strongest(pulls, touched, n_touched, seen, vector, l1, chosen):
    """Turn sums into pulls of what the low-rank part leaves; choose the strongest beyond ``l1``.

    Returns how many were chosen; they are put into ``chosen`` in the order of features.
    """
    n_left = 0
    strengths = np.empty(n_touched, dtype=np.float32)
    candidates = np.empty(n_touched, dtype=np.int64)
    for at in range(n_touched):
        feature = touched[at]
        explained = np.float32(0.0)
        for t in range(vector.shape[0]):
            explained += seen[feature, t] * vector[t]
        pulls[feature] -= explained
        if abs(pulls[feature]) > l1:
            candidates[n_left] = feature
            strengths[n_left] = -abs(pulls[feature])
            n_left += 1
    n_kept = min(n_left, chosen.shape[0])
    if n_kept < n_left:
        order = np.argsort(strengths[:n_left], kind="mergesort")
        chosen[:n_kept] = np.sort(candidates[:n_left][order[:n_kept]])
    else:
        chosen[:n_kept] = np.sort(candidates[:n_left])
    return n_kept


@njit(cache=True, fastmath=True, nogil=True)
def descend(columns, pulls, features, weights, images, squares, l1, penalty, n_passes):
    """Minimise ½‖X s‖² − pulls·s + penalty/2 ‖s‖² + l1 ‖s‖₁ over the weights of some features.

    ``images`` is X s for the weights so far, zero everywhere before and after.
    """
    indptr, indices, data = columns
    for _ in range(n_passes):
        moved = np.float32(0.0)
        for at in range(features.shape[0]):
            feature = features[at]
            wanted = pulls[feature] + squares[feature] * weights[at]
            for place in range(indptr[feature], indptr[feature + 1]):
                wanted -= data[place] * images[indices[place]]
            size = max(abs(wanted) - l1, np.float32(0.0)) / (squares[feature] + penalty)
            new = size if wanted > 0 else -size
            step = new - weights[at]
            if step != 0.0:
                weights[at] = new
                moved = max(moved, abs(step))
                for place in range(indptr[feature], indptr[feature + 1]):
                    images[indices[place]] += data[place] * step
        if moved < 1e-4:
            break
    # Also where a weight went back to zero: rounding leaves something there for the next label.
    for at in range(features.shape[0]):
        for place in range(indptr[features[at]], indptr[features[at] + 1]):
            images[indices[place]] = np.float32(0.0)
