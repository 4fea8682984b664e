"""Compiled loops of singular value projection on some entries of a matrix."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, fastmath=True, nogil=True)
def half_step(indptr, indices, values, moving, fixed, step, first, last, moved, squares):
    """Move some rows of one factor against the gradient of ½ Σ (u_i·v_j − m_ij)².

    ``moved`` gets the rows' new places and ``squares`` what their entries were off before.
    """
    dim = moving.shape[1]
    gradient = np.empty(dim, dtype=np.float32)
    for row in range(first, last):
        u = moving[row]
        gradient[:] = np.float32(0.0)
        off = np.float32(0.0)
        for at in range(indptr[row], indptr[row + 1]):
            v = fixed[indices[at]]
            error = -values[at]
            for t in range(dim):
                error += u[t] * v[t]
            off += error * error
            for t in range(dim):
                gradient[t] += error * v[t]
        squares[row] = off
        for t in range(dim):
            moved[row, t] = u[t] - step * gradient[t]
