"""Exact search for the largest inner product among sparse vectors.

The keys (label weights, or training rows) are kept as an inverted index: for each feature, the
keys that have it and their values. A query walks the lists of its own features only and adds up
into one score per key, so its cost is the number of matching entries and its memory one number
per key and thread, however many rows are asked.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.search import _sparse_kernels
from labelspace.store import Storable, schema
from labelspace.topk import TopK

# Rows for which another thread is worth its while.
_FEW_ROWS = 8


class SparseIndex(Storable):
    """Sparse keys, ready to be searched.

    Parameters
    ----------
    keys : csr_matrix of shape (n_keys, n_features)
    offsets : ndarray of shape (n_keys,), optional
        Added to each key's inner product, such as the bias of a linear classifier.

    Attributes
    ----------
    inverted : csr_matrix of shape (n_features, n_keys)
    offsets : ndarray of shape (n_keys,)

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> index = SparseIndex(csr_matrix([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> index.search(csr_matrix([[2.0, 0.0]]), k=2)
    TopK(labels=array([[0, 1]]), scores=array([[2., 1.]], dtype=float32))
    """

    _schema: ClassVar[schema.Schema] = {
        "inverted": schema.csr("float32", "n_features", "n_keys"),
        "offsets": schema.array("float32", "n_keys"),
    }

    def __init__(self, keys: csr_matrix, offsets: NDArray[np.float32] | None = None) -> None:
        inverted = csr_matrix(keys.T.tocsr(), dtype=np.float32)
        inverted.sort_indices()
        self.inverted = inverted
        if offsets is None:
            offsets = np.zeros(keys.shape[0], dtype=np.float32)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.float32)

    @property
    def n_keys(self) -> int:
        return self.offsets.shape[0]

    @property
    def keys(self) -> csr_matrix:
        """The keys as rows again, in a new matrix."""
        return csr_matrix(self.inverted.T)

    def some(self, ids: NDArray[np.integer]) -> tuple[csr_matrix, NDArray[np.float32]]:
        """Return some keys as rows, and their offsets."""
        return csr_matrix(self.inverted[:, ids].T), self.offsets[ids]

    def put(self, ids: NDArray[np.integer], keys: csr_matrix, offsets: NDArray[np.float32]) -> None:
        """Replace the keys of ``ids``, ascending; those beyond the last key are added.

        >>> index = SparseIndex(csr_matrix([[1.0, 0.0], [0.5, 0.5]]))
        >>> index.put(np.array([0, 2]), csr_matrix([[0.0, 3.0], [4.0, 0.0]]), np.zeros(2))
        >>> index.keys.toarray().tolist()
        [[0.0, 3.0], [0.5, 0.5], [4.0, 0.0]]
        """
        n_keys = max(self.n_keys, int(ids.max(initial=-1)) + 1)
        is_replaced = np.zeros(n_keys, dtype=np.bool_)
        is_replaced[ids] = True
        stays = ~is_replaced[self.inverted.indices]
        ends = np.concatenate(([0], np.cumsum(stays)))[self.inverted.indptr]
        shape = (self.inverted.shape[0], n_keys)
        kept = csr_matrix(
            (self.inverted.data[stays], self.inverted.indices[stays], ends), shape=shape
        )
        put = SparseIndex(keys).inverted
        self.inverted = csr_matrix(
            kept + csr_matrix((put.data, ids[put.indices], put.indptr), shape)
        )
        longer = np.zeros(n_keys, dtype=np.float32)
        longer[: self.n_keys] = self.offsets
        longer[ids] = offsets
        self.offsets = longer

    def search(self, X: csr_matrix, k: int) -> TopK:
        """Return the ``k`` keys (all, if fewer) of largest inner product, best first.

        A key that shares no feature with the row scores its offset; ties go to the smaller id.
        """
        found = TopK.empty(X.shape[0], min(k, self.n_keys))
        if not found.k:
            return found
        data = np.ascontiguousarray(X.data, dtype=np.float32)
        lists = (self.inverted.indptr, self.inverted.indices, self.inverted.data, self.offsets)

        def search(first: int, last: int) -> None:
            _sparse_kernels.search(
                X.indptr, X.indices, data, *lists, first, last, found.labels, found.scores
            )

        threads.deal(search, X.shape[0], _FEW_ROWS)
        return found
