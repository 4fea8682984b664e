"""Compiled loops of the loss on distances of rows and labels."""

from __future__ import annotations

import numpy as np
from numba import njit

POINCARE = 0
SPHERE = 1
EUCLIDEAN = 2

# Points nearer than the root of this count as this near: the slope of a root has no limit at 0.
_LEAST_SQUARE = 1e-18


@njit(cache=True, nogil=True)
def contrast(space, products, row_squares, label_squares, has, weights, alpha, pull, stretch):
    """Turn inner products into slopes; return the mean loss of rows.

    On return ``pull`` has 2 ∂L/∂q, q = ‖u − v‖², and ``stretch`` has −∂L/∂(ln gap), which is the
    same for the gaps of row and label; zero in spaces without an edge.
    """
    n_rows, n_labels = products.shape
    logits = np.empty(n_labels)
    slopes = np.empty(n_labels)
    stretches = np.zeros(n_labels)
    loss = 0.0
    n_used = 0
    for row in range(n_rows):
        n_own = 0
        for label in range(n_labels):
            if has[row, label]:
                n_own += 1
        if n_own:
            n_used += 1
    share = 1.0 / max(n_used, 1)
    for row in range(n_rows):
        n_own = 0
        nearest = -np.inf
        for label in range(n_labels):
            q = row_squares[row] + label_squares[label] - 2.0 * products[row, label]
            q = max(q, _LEAST_SQUARE)
            if space == POINCARE:
                gaps = (1.0 - row_squares[row]) * (1.0 - label_squares[label])
                s2 = q / gaps
                s = np.sqrt(s2)
                c = np.sqrt(1.0 + s2)
                logits[label] = -2.0 * alpha * np.log(s + c)
                stretches[label] = s / c
                slopes[label] = s / (c * q)
            elif space == SPHERE:
                chord = np.sqrt(q)
                half = min(0.5 * chord, 1.0 - 1e-12)
                logits[label] = -2.0 * alpha * np.arcsin(half)
                slopes[label] = 0.5 / (chord * np.sqrt(1.0 - half * half))
            else:
                chord = np.sqrt(q)
                logits[label] = -alpha * chord
                slopes[label] = 0.5 / chord
            nearest = max(nearest, logits[label])
            if has[row, label]:
                n_own += 1
        if n_own == 0:
            for label in range(n_labels):
                pull[row, label] = 0.0
                stretch[row, label] = 0.0
            continue
        others = 0.0
        for label in range(n_labels):
            logits[label] = np.exp(logits[label] - nearest)
            if not has[row, label]:
                others += weights[label] * logits[label]
        against = 0.0
        for label in range(n_labels):
            if has[row, label]:
                own = max(logits[label], 1e-300)
                against += 1.0 / (others + own)
                loss += np.log1p(others / own) * share / n_own
        scale = alpha * share / n_own
        for label in range(n_labels):
            if has[row, label]:
                slope = scale * others / (others + max(logits[label], 1e-300))
            else:
                slope = -scale * weights[label] * logits[label] * against
            pull[row, label] = 2.0 * slope * slopes[label]
            stretch[row, label] = slope * stretches[label]
    return loss
