"""Compiled loop that finds who shares leaves with a row."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def leaf_mates(leaves, starts, ids, most, found, weights):
    """Write the rows of all leaves that a row comes to, and what each vote counts.

    Each tree counts the same, and so does each row of a leaf. Of more than ``most`` rows some are
    heard, evenly spaced. ``found`` begins as -1, ``weights`` as 0.
    """
    n_trees = leaves.shape[1]
    for row in range(leaves.shape[0]):
        filled = 0
        for tree in range(n_trees):
            first = starts[leaves[row, tree]]
            n_rows = starts[leaves[row, tree] + 1] - first
            n_heard = min(n_rows, most)
            for at in range(n_heard):
                found[row, filled] = ids[first + at * n_rows // n_heard]
                weights[row, filled] = np.float32(1.0) / np.float32(n_heard * n_trees)
                filled += 1
