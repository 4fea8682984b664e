"""Exact search for the largest inner product among sparse vectors.

The keys (label weights, or training rows) are kept as an inverted index: for each feature, the
keys that have it and their values. A query walks the lists of its own features only and adds up
into one score per key, so its cost is the number of matching entries and its memory one number
per key and thread, however many rows are asked.

Features that all keys have, such as the vector of an encoder, would make these lists as long as
there are keys. They are kept as an array instead, which BLAS multiplies.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from labelspace import threads
from labelspace.csr import split_dense
from labelspace.search import _sparse_kernels
from labelspace.store import Storable, schema
from labelspace.topk import TopK

# Rows for which another thread is worth its while.
_FEW_ROWS = 8
# Products of rows and keys that are held at a time.
_NUMBERS_AT_ONCE = 1 << 24
# A list is long that has one key of so many; all long ones together may have so many numbers for
# each that lists have.
_LONG = 8
_IN_FULL = 2


class SparseIndex(Storable):
    """Sparse keys, ready to be searched.

    Parameters
    ----------
    keys : csr_matrix of shape (n_keys, n_features)
    offsets : ndarray of shape (n_keys,), optional
        Added to each key's inner product, such as the bias of a linear classifier.
    n_dense : int, default=0
        How many of the last features all keys may have.

    Attributes
    ----------
    inverted : csr_matrix of shape (n_features - n_dense, n_keys)
    offsets : ndarray of shape (n_keys,)
    dense : ndarray of shape (n_dense, n_keys), or None

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> index = SparseIndex(csr_matrix([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> index.search(csr_matrix([[2.0, 0.0]]), k=2)
    TopK(labels=array([[0, 1]]), scores=array([[2., 1.]], dtype=float32))
    """

    _schema: ClassVar[schema.Schema] = {
        "inverted": schema.csr("float32", "n_sparse", "n_keys"),
        "offsets": schema.array("float32", "n_keys"),
        "dense": schema.maybe(schema.array("float16", "n_dense", "n_keys")),
    }

    dense: NDArray[np.float32] | None = None
    # Made from ``inverted`` when first asked for: see ``long_lists``.
    _long_lists: tuple[csr_matrix, NDArray[np.int32], NDArray[np.float32]] | None = None

    def __init__(
        self,
        keys: csr_matrix,
        offsets: NDArray[np.float32] | None = None,
        n_dense: int = 0,
    ) -> None:
        if n_dense:
            keys, dense = split_dense(keys, n_dense)
            # Rounded as a model folder keeps them, so that a model answers as it will when loaded.
            self.dense = np.ascontiguousarray(dense.T).astype(np.float16).astype(np.float32)
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
    def n_dense(self) -> int:
        return 0 if self.dense is None else len(self.dense)

    @property
    def keys(self) -> csr_matrix:
        """The keys as rows again, in a new matrix."""
        return self._rows(csr_matrix(self.inverted.T), slice(None))

    def some(self, ids: NDArray[np.integer]) -> tuple[csr_matrix, NDArray[np.float32]]:
        """Return some keys as rows, and their offsets."""
        return self._rows(csr_matrix(self.inverted[:, ids].T), ids), self.offsets[ids]

    def _rows(self, sparse: csr_matrix, ids: Any) -> csr_matrix:
        if self.dense is None:
            return sparse
        return csr_matrix(hstack((sparse, csr_matrix(self.dense[:, ids].T)), format="csr"))

    def weights_of(self, key: int, features: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return what one key has for each of some features.

        >>> index = SparseIndex(csr_matrix([[1.0, 0.0], [0.5, 0.25]]))
        >>> index.weights_of(1, np.array([1, 0])).tolist()
        [0.25, 0.5]
        """
        weights = np.zeros(len(features), dtype=np.float32)
        lists = self.inverted
        for number, feature in enumerate(np.asarray(features).tolist()):
            begin, end = lists.indptr[feature : feature + 2].tolist()
            at = begin + int(np.searchsorted(lists.indices[begin:end], key))
            if at < end and lists.indices[at] == key:
                weights[number] = lists.data[at]
        return weights

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
        new = SparseIndex(keys, n_dense=self.n_dense)
        put = new.inverted
        self.inverted = csr_matrix(
            kept + csr_matrix((put.data, ids[put.indices], put.indptr), shape)
        )
        if self.dense is not None and new.dense is not None:
            wider = np.zeros((self.n_dense, n_keys), dtype=np.float32)
            wider[:, : self.n_keys] = self.dense
            wider[:, ids] = new.dense
            self.dense = wider
        longer = np.zeros(n_keys, dtype=np.float32)
        longer[: self.n_keys] = self.offsets
        longer[ids] = offsets
        self.offsets = longer

    def long_lists(self, nothing: float = 0.0) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the lists that have many of the keys as rows with a number for each key.

        Such a row is added up in one go, which is quicker than key by key. The first array tells
        where the row of each feature is, -1 for none; keys that a list lacks have ``nothing``.

        >>> index = SparseIndex(csr_matrix([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
        >>> index.long_lists()[1].tolist()
        [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]
        """
        lists, made = self.inverted, self._long_lists
        if made is None or made[0] is not lists:
            lengths = np.diff(lists.indptr)
            longest = np.argsort(-lengths, kind="stable")[
                : _IN_FULL * lists.nnz // max(self.n_keys, 1)
            ]
            chosen = np.sort(longest[_LONG * lengths[longest] > self.n_keys])
            places = np.full(len(lengths), -1, dtype=np.int32)
            places[chosen] = np.arange(chosen.size)
            rows = np.full((chosen.size, self.n_keys), nothing, dtype=np.float32)
            some = csr_matrix(lists[chosen])
            rows[np.repeat(np.arange(chosen.size), np.diff(some.indptr)), some.indices] = some.data
            made = self._long_lists = lists, places, rows
        return made[1:]

    def search(self, X: csr_matrix, k: int) -> TopK:
        """Return the ``k`` keys (all, if fewer) of largest inner product, best first.

        A key that shares no feature with the row scores its offset; ties go to the smaller id.
        """
        found = TopK.empty(X.shape[0], min(k, self.n_keys))
        if not found.k:
            return found
        if self.dense is not None:
            return self._search_both(X, found)
        data = np.ascontiguousarray(X.data, dtype=np.float32)
        lists = (self.inverted.indptr, self.inverted.indices, self.inverted.data, self.offsets)

        def search(first: int, last: int) -> None:
            _sparse_kernels.search(
                X.indptr, X.indices, data, *lists, first, last, found.labels, found.scores
            )

        threads.deal(search, X.shape[0], _FEW_ROWS)
        return found

    def dense_products(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what the last features add up to for all keys, with the offsets."""
        assert self.dense is not None
        products = vectors @ self.dense
        products += self.offsets
        return products

    def _search_both(self, X: csr_matrix, found: TopK) -> TopK:
        """Search some rows at a time, from the products of their last features on."""
        lists = self.inverted.indptr, self.inverted.indices, self.inverted.data
        size = max(_NUMBERS_AT_ONCE // self.n_keys, 1)
        for start in range(0, X.shape[0], size):
            sparse, vectors = split_dense(csr_matrix(X[start : start + size]), self.n_dense)
            given = sparse.indptr, sparse.indices, np.asarray(sparse.data, dtype=np.float32)
            totals = self.dense_products(vectors)
            best = found.labels[start : start + size], found.scores[start : start + size]
            search = partial(_search_from, given, lists, totals, best)
            threads.deal(search, len(totals), _FEW_ROWS)
        return found

    def _to_state(self) -> dict[str, Any]:
        state = super()._to_state()
        state.pop("_long_lists", None)
        if self.dense is not None:
            state["dense"] = self.dense.astype(np.float16)
        return state

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> SparseIndex:
        made: SparseIndex = super()._from_state(state)
        if made.dense is not None:
            made.dense = made.dense.astype(np.float32)
        return made

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        sizes.settle("n_features", sizes.known["n_sparse"] + sizes.known.get("n_dense", 0))


def _search_from(given: Any, lists: Any, totals: Any, best: Any, first: int, last: int) -> None:
    _sparse_kernels.search_from(*given, *lists, totals, first, last, *best)
