"""Sparse keys with short lists: who might score highest is told by the largest values alone.

With hundreds of thousands of keys a feature's list is long, and summing all of it costs more than
everything else. Here each list has only the largest values (its impacts); the few keys that stand
out by these are summed exactly, from the keys themselves.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.search.sparse import SparseIndex
from labelspace.store import schema


class ImpactIndex(SparseIndex):
    """Sparse keys whose lists are cut to the largest values.

    Parameters
    ----------
    keys : csr_matrix of shape (n_keys, n_features)
    offsets : ndarray of shape (n_keys,), optional
        Added to each key's inner product.
    longest : int
        Keys in a feature's list at most.

    Attributes
    ----------
    inverted : csr_matrix of shape (n_features, n_keys)
        The lists, as cut.
    rows : csr_matrix of shape (n_keys, n_features)
        The keys, whole.

    Examples
    --------
    >>> index = ImpactIndex(csr_matrix([[1.0, 0.2], [0.5, 0.9], [2.0, 0.0]]), longest=2)
    >>> index.inverted.toarray().tolist()
    [[1.0, 0.0, 2.0], [0.20000000298023224, 0.8999999761581421, 0.0]]
    """

    _schema: ClassVar[schema.Schema] = {
        **SparseIndex._schema,
        "rows": schema.csr("float32", "n_keys", "n_sparse"),
        "longest": schema.integer(1),
    }

    def __init__(
        self, keys: csr_matrix, offsets: NDArray[np.float32] | None = None, *, longest: int = 2000
    ) -> None:
        super().__init__(keys, offsets)
        self.longest = longest
        self.rows = csr_matrix(keys, dtype=np.float32)
        self.rows.sort_indices()
        self.inverted = _cut(self.inverted, longest)

    @property
    def keys(self) -> csr_matrix:
        return self.rows

    def some(self, ids: NDArray[np.integer]) -> tuple[csr_matrix, NDArray[np.float32]]:
        return csr_matrix(self.rows[ids]), self.offsets[ids]

    def put(self, ids: NDArray[np.integer], keys: csr_matrix, offsets: NDArray[np.float32]) -> None:
        super().put(ids, keys, offsets)
        self.rows = _with_rows(self.rows, ids, csr_matrix(keys, dtype=np.float32), self.n_keys)

    def weights_of(self, key: int, features: NDArray[np.integer]) -> NDArray[np.float32]:
        own = slice(*self.rows.indptr[key : key + 2].tolist())
        have, values = self.rows.indices[own], self.rows.data[own]
        weights = np.zeros(len(features), dtype=np.float32)
        if have.size:
            at = np.minimum(np.searchsorted(have, features), have.size - 1)
            found = have[at] == features
            weights[found] = values[at[found]]
        return weights


def _cut(lists: csr_matrix, longest: int) -> csr_matrix:
    """Return lists with their largest values only, in the order of keys."""
    lengths = np.diff(lists.indptr)
    kept = np.ones(lists.nnz, dtype=np.bool_)
    for feature in np.flatnonzero(lengths > longest).tolist():
        own = slice(*lists.indptr[feature : feature + 2].tolist())
        smallest = np.argpartition(-lists.data[own], longest - 1)[longest:]
        kept[own.start + smallest] = False
    ends = np.concatenate(([0], np.cumsum(np.minimum(lengths, longest))))
    return csr_matrix((lists.data[kept], lists.indices[kept], ends), shape=lists.shape)


def _with_rows(
    matrix: csr_matrix, ids: NDArray[np.integer], rows: csr_matrix, n_rows: int
) -> csr_matrix:
    """Return a matrix with some rows replaced, those beyond its last one added."""
    lengths = np.zeros(n_rows, dtype=np.int64)
    lengths[: matrix.shape[0]] = np.diff(matrix.indptr)
    is_new = np.zeros(n_rows, dtype=np.bool_)
    is_new[ids] = True
    stays = np.repeat(~is_new[: matrix.shape[0]], np.diff(matrix.indptr))
    lengths[ids] = np.diff(rows.indptr)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    from_new = np.repeat(is_new, lengths)
    indices = np.empty(ends[-1], dtype=matrix.indices.dtype)
    data = np.empty(ends[-1], dtype=np.float32)
    indices[from_new], indices[~from_new] = rows.indices, matrix.indices[stays]
    data[from_new], data[~from_new] = rows.data, matrix.data[stays]
    made = csr_matrix((data, indices, ends), shape=(n_rows, matrix.shape[1]))
    made.sort_indices()
    return made
