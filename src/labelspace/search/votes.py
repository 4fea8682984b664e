"""Votes of the nearest examples: what found neighbours say about labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.topk import NO_LABEL, TopK, topk_csr

ROWS_AT_ONCE = 4096  # the votes of this many rows are in memory together


def vote(neighbors: NDArray[np.int64], weights: NDArray[np.float32], Y: csr_matrix, k: int) -> TopK:
    """Return the ``k`` labels with the largest sum of weights over each row's neighbours.

    Parameters
    ----------
    neighbors : ndarray of shape (n, n_neighbors)
        Rows of ``Y``; -1 for none.
    weights : ndarray of shape (n, n_neighbors)
        What each neighbour's voice counts; one of weight 0 is not heard.
    Y : csr_matrix of shape (n_examples, n_labels)

    Examples
    --------
    >>> Y = csr_matrix([[1, 1, 0], [0, 1, 0], [0, 0, 1]], dtype=np.float32)
    >>> vote(np.array([[0, 1]]), np.array([[0.5, 0.25]], dtype=np.float32), Y, k=2)
    TopK(labels=array([[1, 0]]), scores=array([[0.75, 0.5 ]], dtype=float32))
    """
    parts = []
    for start in range(0, max(len(neighbors), 1), ROWS_AT_ONCE):
        block = slice(start, start + ROWS_AT_ONCE)
        votes = csr_matrix(_ballots(neighbors[block], weights[block], Y.shape[0]) @ Y)
        votes.sort_indices()
        parts.append(topk_csr(votes, k))
    return TopK.stack(parts)


def _ballots(
    neighbors: NDArray[np.int64], weights: NDArray[np.float32], n_examples: int
) -> csr_matrix:
    """Return a matrix (n, n_examples) of the voices that are heard."""
    heard = (neighbors != NO_LABEL) & (weights > 0)
    indptr = np.concatenate(([0], np.cumsum(heard.sum(axis=1))))
    shape = (len(neighbors), n_examples)
    return csr_matrix((weights[heard], neighbors[heard], indptr), shape=shape)
