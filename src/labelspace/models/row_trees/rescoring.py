"""A second look at the labels that trees have found: products with a vector for each label.

A row is laid out once, and each candidate costs as much as its label's vector has entries, so that
the cost of an answer does not grow with the number of labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.models.row_trees import _rescoring_kernels as kernels
from labelspace.topk import NO_LABEL, TopK

# Rows for which another thread is worth its while.
_FEW_ROWS = 64


def candidate_products(
    X: csr_matrix, labels: NDArray[np.int64], keys: csr_matrix
) -> NDArray[np.float32]:
    """Return the product of each row with the keys of its candidates, 0 where there is none.

    Parameters
    ----------
    X : csr_matrix of shape (n, n_features)
    labels : ndarray of shape (n, n_candidates)
        Label ids, -1 for none.
    keys : csr_matrix of shape (n_labels, n_features)

    Examples
    --------
    >>> X = csr_matrix([[1.0, 2.0]], dtype=np.float32)
    >>> keys = csr_matrix([[3.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=np.float32)
    >>> candidate_products(X, np.array([[2, 0, -1]]), keys)
    array([[3., 3., 0.]], dtype=float32)
    """
    found = np.zeros(labels.shape, dtype=np.float32)
    rows = X.indptr, X.indices, np.ascontiguousarray(X.data, dtype=np.float32)

    def multiply(first: int, last: int) -> None:
        kernels.products(
            *(*rows, first, last, labels),
            *(keys.indptr, keys.indices, keys.data, keys.shape[1], found),
        )

    threads.deal(multiply, X.shape[0], _FEW_ROWS)
    return found


def reordered(labels: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> TopK:
    """Return the ``k`` best candidates by their new scores; ties go to the smaller label.

    >>> reordered(np.array([[4, 2, -1]]), np.array([[0.1, 0.7, 0.9]], dtype=np.float32), 2).labels
    array([[2, 4]])
    """
    scores = np.where(labels == NO_LABEL, -np.inf, scores).astype(np.float32)
    order = np.lexsort((labels, -scores), axis=1)[:, :k]
    return TopK(
        np.take_along_axis(labels, order, axis=1), np.take_along_axis(scores, order, axis=1)
    ).padded(k)
