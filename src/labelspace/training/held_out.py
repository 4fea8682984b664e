"""Which rows a network learns from, and which are kept aside to measure it on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix


def usable_rows(X: csr_matrix, Y: csr_matrix) -> NDArray[np.int64]:
    """Return the rows that have features, so that they lie somewhere, and labels to vote for.

    >>> usable_rows(csr_matrix([[1.0], [0.0], [1.0]]), csr_matrix([[1], [1], [0]]))
    array([0])
    """
    return np.flatnonzero((np.diff(X.indptr) > 0) & (np.diff(Y.indptr) > 0))


def split_rows(
    Y: csr_matrix, share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from, of those with labels, and rows that are held out.

    >>> learned, held_out = split_rows(csr_matrix([[1], [0], [1], [1]]), 0.34, seed=0)
    >>> learned.size, held_out.size, np.union1d(learned, held_out)
    (2, 1, array([0, 2, 3]))
    """
    rows = np.flatnonzero(np.diff(Y.indptr))
    n_held_out = int(share * rows.size)
    if not n_held_out:
        return rows, rows[:0]
    rows = np.random.default_rng(seed).permutation(rows)
    return np.sort(rows[n_held_out:]), np.sort(rows[:n_held_out])
