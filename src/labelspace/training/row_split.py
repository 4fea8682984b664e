"""Which rows to learn from, and which to hold out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix


def learned_and_held_out(
    Y: csr_matrix, share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from, of those with labels, and a share of rows to hold out.

    >>> learned_and_held_out(csr_matrix([[1], [0], [1]]), 0.0, 0)
    (array([0, 2]), array([], dtype=int64))
    """
    rows = np.flatnonzero(np.diff(Y.indptr))
    n_held_out = int(share * rows.size)
    if not n_held_out:
        return rows, rows[:0]
    rows = np.random.default_rng(seed).permutation(rows)
    return np.sort(rows[n_held_out:]), np.sort(rows[:n_held_out])
