"""Compiled loops of the shipped encoder on many texts at once.

Texts stand one after the other, with ``GAP`` rows of zeros around each, so that windows over
neighbouring pieces never reach into another text.
"""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

GAP = 2
FAST = {"contract", "reassoc", "nsz"}


@njit(cache=True, nogil=True, fastmath=FAST)
def first_convolution(pieces, starts, ends, first_row, of_piece, own, bias, left, hidden):
    """Write relu(bias + what the pieces in a window add) + the piece's own, for each piece.

    ``of_piece`` (n_pieces, n_slots, dim) has what a piece adds in each place of the window, whose
    first is ``left`` before the piece.
    """
    n_slots = of_piece.shape[1]
    dim = own.shape[1]
    sums = np.empty(dim, dtype=np.float32)
    for text in range(starts.shape[0]):
        for at in range(starts[text], ends[text]):
            sums[:] = bias
            for slot in range(n_slots):
                near = at - left + slot
                if starts[text] <= near < ends[text]:
                    added = of_piece[pieces[near], slot]
                    for t in range(dim):
                        sums[t] += added[t]
            row = hidden[first_row[text] + at - starts[text]]
            of_own = own[pieces[at]]
            for t in range(dim):
                row[t] = max(sums[t], np.float32(0.0)) + of_own[t]


@njit(cache=True, nogil=True, fastmath=FAST)
def add_rectified(products, bias, hidden):
    """Turn products into relu(products + bias) + hidden."""
    for row in range(products.shape[0]):
        for t in range(products.shape[1]):
            products[row, t] = max(products[row, t] + bias[t], np.float32(0.0)) + hidden[row, t]


@njit(cache=True, nogil=True, fastmath=FAST)
def sum_normalized(pieces, starts, ends, first_row, vectors, branches, scale, shift, eps, sums):
    """Write for each text the sum of [vector | branches] of its pieces, each with layer norm."""
    n_branches, _, branch_dim = branches.shape
    dim = vectors.shape[1]
    n_all = dim + n_branches * branch_dim
    joined = np.empty(n_all, dtype=np.float32)
    for text in range(starts.shape[0]):
        total = sums[text]
        total[:] = np.float32(0.0)
        for at in range(starts[text], ends[text]):
            joined[:dim] = vectors[pieces[at]]
            row = first_row[text] + at - starts[text]
            for branch in range(n_branches):
                begin = dim + branch * branch_dim
                joined[begin : begin + branch_dim] = branches[branch, row]
            mean = np.float32(0.0)
            for t in range(n_all):
                mean += joined[t]
            mean /= np.float32(n_all)
            variance = np.float32(0.0)
            for t in range(n_all):
                variance += (joined[t] - mean) * (joined[t] - mean)
            variance /= np.float32(n_all)
            inverse = np.float32(1.0) / np.sqrt(variance + np.float32(eps))
            for t in range(n_all):
                total[t] += (joined[t] - mean) * inverse
        for t in range(n_all):
            total[t] = total[t] * scale[t] + (ends[text] - starts[text]) * shift[t]
