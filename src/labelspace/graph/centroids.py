"""The middle of each label's rows, and products of sparse matrices of which little is kept."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, diags, vstack

from labelspace.topk import topk_csr

_BLOCK = 2048


def label_centroids(
    X: csr_matrix, Y: csr_matrix, n_features: int = 100, *, unit: bool = True
) -> csr_matrix:
    """Return vectors in the middle of each label's rows, cut to their largest values.

    They have length one, or are the means of the rows if not ``unit``.

    >>> X = csr_matrix([[1.0, 0.0], [0.0, 1.0]])
    >>> label_centroids(X, csr_matrix([[1], [1]]), unit=False).toarray()
    array([[0.5, 0.5]], dtype=float32)
    """
    cut = largest(csr_matrix(Y.T, dtype=np.float32), X, n_features, diagonal=True)
    if unit:
        sizes = np.sqrt(np.asarray(cut.multiply(cut).sum(axis=1)).ravel())
    else:
        sizes = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float32)
    scales = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return csr_matrix(diags(scales.astype(np.float32)) @ cut)


def largest(left: csr_matrix, right: csr_matrix, k: int, *, diagonal: bool = False) -> csr_matrix:
    """Return ``left @ right`` with the ``k`` largest entries of each row.

    The product is never whole in memory. Entries of the diagonal are left out unless wanted.
    """
    blocks = []
    for start in range(0, left.shape[0], _BLOCK):
        product = csr_matrix(left[start : start + _BLOCK] @ right)
        blocks.append(largest_entries(product if diagonal else off_diagonal(product, start), k))
    return csr_matrix(vstack(blocks, format="csr"))


def largest_entries(matrix: csr_matrix, k: int) -> csr_matrix:
    """Return the ``k`` largest entries of each row."""
    top = topk_csr(matrix, min(k, matrix.shape[1]))
    there = top.labels >= 0
    indptr = np.concatenate(([0], np.cumsum(there.sum(axis=1))))
    cut = csr_matrix((top.scores[there], top.labels[there], indptr), shape=matrix.shape)
    cut.sort_indices()
    return cut


def off_diagonal(product: csr_matrix, start: int) -> csr_matrix:
    """Return rows from ``start`` on without their entries on the diagonal."""
    rows = np.repeat(np.arange(product.shape[0]), np.diff(product.indptr)) + start
    data = np.where(rows == product.indices, np.float32(0.0), product.data)
    rest = csr_matrix((data, product.indices, product.indptr), shape=product.shape, copy=True)
    rest.eliminate_zeros()
    return rest
