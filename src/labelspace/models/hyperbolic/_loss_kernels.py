"""Compiled loops of the loss on distances of rows and labels."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

POINCARE = 0
SPHERE = 1
EUCLIDEAN = 2

# Points nearer than the root of this count as this near: the slope of a root has no limit at 0.
_LEAST_SQUARE = 1e-18
_LEAST_NEARNESS = 1e-300


@njit(cache=True, nogil=True, fastmath=True)
def measure(space, products, row_squares, label_squares, lengths, slopes, stretches):
    """Turn inner products into what distances are made of, q being ‖u − v‖².

    ``lengths`` gets e^{d/2} in the ball, sin(d/2) on the sphere and d in euclidean space,
    ``slopes`` ∂d/∂q, and ``stretches``, in the ball only, −∂d/∂(ln gap), the same for the gaps of
    row and label. No logarithm here: numpy's is quicker than a compiled loop's.
    """
    n_rows, n_labels = products.shape
    inverse_gaps = 1.0 / (1.0 - label_squares)
    for row in range(n_rows):
        square = row_squares[row]
        if space == POINCARE:
            inverse_gap = 1.0 / (1.0 - square)
            for label in range(n_labels):
                q = square + label_squares[label] - 2.0 * products[row, label]
                q = max(q, _LEAST_SQUARE)
                s2 = q * inverse_gap * inverse_gaps[label]
                s = np.sqrt(s2)
                c = np.sqrt(1.0 + s2)
                slope = s / (c * q)
                lengths[row, label] = s + c
                stretches[row, label] = slope * q
                slopes[row, label] = slope
        elif space == SPHERE:
            for label in range(n_labels):
                q = square + label_squares[label] - 2.0 * products[row, label]
                q = max(q, _LEAST_SQUARE)
                chord = np.sqrt(q)
                half = min(0.5 * chord, 1.0 - 1e-12)
                lengths[row, label] = half
                slopes[row, label] = 0.5 / (chord * np.sqrt(1.0 - half * half))
        else:
            for label in range(n_labels):
                q = square + label_squares[label] - 2.0 * products[row, label]
                chord = np.sqrt(max(q, _LEAST_SQUARE))
                lengths[row, label] = chord
                slopes[row, label] = 0.5 / chord


@njit(cache=True, nogil=True)
def contrast(nearness, has, weights, alpha, summed, slopes, stretches):
    """Turn e^{−αd}, the largest of a row scaled to one, into slopes; return the mean loss of rows.

    A row's loss is the mean over its labels, or with ``summed`` the sum. On return ``slopes`` has
    2 ∂L/∂q and ``stretches`` −∂L/∂(ln gap).
    """
    n_rows, n_labels = nearness.shape
    n_used = 0
    for row in range(n_rows):
        if has[row].any():
            n_used += 1
    share = 1.0 / max(n_used, 1)
    loss = 0.0
    for row in range(n_rows):
        n_own = 0
        others = 0.0
        for label in range(n_labels):
            if has[row, label]:
                n_own += 1
            else:
                others += weights[label] * nearness[row, label]
        if n_own == 0:
            slopes[row] = 0.0
            stretches[row] = 0.0
            continue
        if summed:
            n_own = 1
        against = 0.0
        for label in range(n_labels):
            if has[row, label]:
                own = max(nearness[row, label], _LEAST_NEARNESS)
                against += 1.0 / (others + own)
                loss += np.log1p(others / own) * share / n_own
        scale = alpha * share / n_own
        for label in range(n_labels):
            if has[row, label]:
                slope = scale * others / (others + max(nearness[row, label], _LEAST_NEARNESS))
            else:
                slope = -scale * weights[label] * nearness[row, label] * against
            slopes[row, label] *= 2.0 * slope
            stretches[row, label] *= slope
    return loss
