"""Compiled loops of the encoders."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, fastmath=True, nogil=True)
def encode(indptr, indices, data, weights, scales, Z):
    """Add up value · scale · row of weights over each row's features."""
    dim = weights.shape[1]
    for row in range(Z.shape[0]):
        z = Z[row]
        for at in range(indptr[row], indptr[row + 1]):
            feature = indices[at]
            value = data[at] * scales[feature]
            weight = weights[feature]
            for t in range(dim):
                z[t] += value * np.float32(weight[t])
