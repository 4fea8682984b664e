"""The one form of sparse matrices that all parts rely on, and names for their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, hstack

# Columns that nearly all rows have are handled by BLAS where they are so many, in so many rows.
_FEWEST_DENSE, _FEWEST_DENSE_ROWS, _FULL = 64, 200, 0.9


def canonical(matrix: csr_matrix) -> csr_matrix:
    """Return a matrix with sorted, unique, small column numbers and no stored zeros.

    The matrix given stays as it is; it comes back itself where there is nothing to do.

    >>> canonical(csr_matrix(([1.0, 2.0, 4.0, 0.0], [1, 0, 1, 2], [0, 4]), shape=(1, 3))).data
    array([2., 5.])
    """
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if matrix.nnz and not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    if matrix.indices.dtype != np.int32 and max(*matrix.shape, matrix.nnz) < np.iinfo(np.int32).max:
        indices, indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        matrix = csr_matrix((matrix.data, indices, indptr), shape=matrix.shape)
    return matrix


def dense_tail(X: csr_matrix) -> int:
    """Return how many of the last columns nearly all rows have: vectors of an encoder, say.

    Fewer than 64, or of few rows, are not worth a way of their own.

    >>> words, vectors = np.eye(300, 5), np.ones((300, 100))
    >>> dense_tail(csr_matrix(np.hstack((words, vectors)))), dense_tail(csr_matrix(words))
    (100, 0)
    """
    n_rows = np.count_nonzero(np.diff(X.indptr))
    if n_rows < _FEWEST_DENSE_ROWS or X.nnz < _FEWEST_DENSE * n_rows * _FULL:
        return 0
    is_thin = np.bincount(X.indices, minlength=X.shape[1]) < _FULL * n_rows
    last_thin = np.flatnonzero(is_thin)[-1:]
    n_dense = X.shape[1] - (int(last_thin[0]) + 1 if last_thin.size else 0)
    return n_dense if n_dense >= _FEWEST_DENSE else 0


def split_dense(X: csr_matrix, n_dense: int) -> tuple[csr_matrix, NDArray[np.float32]]:
    """Return the columns before the last ``n_dense``, and these as an array.

    >>> sparse, dense = split_dense(csr_matrix([[1.0, 0.0, 2.0], [0.0, 3.0, 4.0]]), 2)
    >>> sparse.toarray().tolist(), dense.tolist()
    ([[1.0], [0.0]], [[0.0, 2.0], [3.0, 4.0]])
    """
    n_sparse = X.shape[1] - n_dense
    is_dense = X.indices >= n_sparse
    dense = np.zeros((X.shape[0], n_dense), dtype=np.float32)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[is_dense]
    dense[rows, X.indices[is_dense] - n_sparse] = X.data[is_dense]
    ends = np.concatenate(([0], np.cumsum(~is_dense)))[X.indptr]
    sparse = csr_matrix(
        (X.data[~is_dense], X.indices[~is_dense], ends.astype(X.indptr.dtype)),
        shape=(X.shape[0], n_sparse),
    )
    return sparse, dense


def with_constant_feature(X: csr_matrix, value: float) -> csr_matrix:
    """Return rows with one feature more that all have, so that labels may differ by frequency.

    >>> with_constant_feature(csr_matrix([[0.0, 1.0]], dtype=np.float32), 0.5).toarray()
    array([[0. , 1. , 0.5]], dtype=float32)
    """
    constant = csr_matrix(np.full((X.shape[0], 1), value, dtype=np.float32))
    return csr_matrix(hstack([X, constant], format="csr"))


def as_given(matrix: csr_matrix, is_array: bool) -> Any:
    """Return an answer as a sparse array where labels came as one, else as it is.

    >>> type(as_given(csr_matrix([[1]]), True)).__name__
    'csr_array'
    """
    return csr_array(matrix) if is_array else matrix


def empty_csr(n_rows: int, n_columns: int, dtype: Any = np.float32) -> csr_matrix:
    """Return a matrix that stores nothing.

    >>> empty_csr(2, 3).toarray()
    array([[0., 0., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    shape: Any = (
        n_rows,
        n_columns,
    )  # scipy's hints have no empty matrix of another type than float64
    return csr_matrix(shape, dtype=dtype)


@dataclass(frozen=True)
class NamedColumns:
    """Features or labels together with the names of their columns, as ``fit`` takes them.

    Attributes
    ----------
    values : sparse or dense array of shape (n_rows, n_columns)
        Labels may be lists, of column numbers or of names, as well.
    names : sequence of str
        The name of each column.

    Examples
    --------
    >>> from labelspace.models import MostCommon
    >>> Y = NamedColumns(csr_matrix([[1, 0], [1, 1]]), ["red", "round"])
    >>> MostCommon().fit([[1.0], [2.0]], Y).classes_
    array(['red', 'round'], dtype='<U5')
    """

    values: Any
    names: Sequence[str]


def columns_by_name(names: Sequence[Any]) -> tuple[dict[Any, int], dict[Any, list[int]]]:
    """Return the first column of each name, and all columns of names that several have.

    >>> columns_by_name(["red", "green", "red"])
    ({'red': 0, 'green': 1}, {'red': [0, 2]})
    """
    first = dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))
    several: dict[Any, list[int]] = {}
    if len(first) < len(names):
        for column, name in enumerate(names):
            if first[name] != column:
                several.setdefault(name, [first[name]]).append(column)
    return first, several
