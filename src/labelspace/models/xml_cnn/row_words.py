"""Rows as sequences of words, each with a weight.

Rows come in two forms. A sequence has the number of its first word in column 0, of its second in
column 1 and so on, as ``labelspace.data.WordSequences`` makes them of texts; words count from 1.
Anything else is features without an order: each feature is a word, with its value as its weight.
Beside the words in their order stands the bag of them, in which the order does not count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

# Word numbers up to here are whole numbers as float32, too.
MOST_WORDS = 1 << 24


class RowWords(NamedTuple):
    """Words of rows in their order.

    Attributes
    ----------
    ptr : ndarray of shape (n_rows + 1,)
        Where the words of each row begin.
    words : ndarray of int32
        Numbers of words, from 0.
    weights : ndarray of float32
        By how much the vector of each word is multiplied.
    """

    ptr: NDArray[np.int64]
    words: NDArray[np.int32]
    weights: NDArray[np.float32]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.ptr) - 1

    @property
    def longest(self) -> int:
        """The number of words of the longest row."""
        return int(np.diff(self.ptr).max(initial=0))

    def of_rows(self, rows: NDArray[np.int64]) -> RowWords:
        """Return some rows."""
        lengths = self.ptr[rows + 1] - self.ptr[rows]
        ptr = np.concatenate(([0], np.cumsum(lengths)))
        taken = np.arange(ptr[-1]) + np.repeat(self.ptr[rows] - ptr[:-1], lengths)
        return RowWords(ptr, self.words[taken], self.weights[taken])

    def known(self, n_words: int) -> RowWords:
        """Return the rows without words whose numbers are not below ``n_words``."""
        return self._where(self.words < n_words)

    def _where(self, kept: NDArray[np.bool_]) -> RowWords:
        if kept.all():
            return self
        before = np.concatenate(([0], np.cumsum(kept)))
        return RowWords(before[self.ptr], self.words[kept], self.weights[kept])


class WordsAndBags(NamedTuple):
    """What a network gets of rows.

    Attributes
    ----------
    words : RowWords
        Their first words, in their order.
    bags : csr_matrix of shape (n_rows, n_words), optional
        Their words without an order; see ``bags_of``.
    """

    words: RowWords
    bags: csr_matrix | None = None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.words.n_rows

    def of_rows(self, rows: NDArray[np.int64]) -> WordsAndBags:
        """Return some rows."""
        return WordsAndBags(
            self.words.of_rows(rows), None if self.bags is None else self.bags[rows]
        )


def bags_of(rows: RowWords, n_words: int) -> csr_matrix:
    """Return the words of rows without their order, each row of length one.

    A word that is there n times counts log(1 + n) times, before rows are scaled.

    >>> rows = RowWords(np.array([0, 4]), np.array([2, 0, 2, 2]), np.ones(4, dtype=np.float32))
    >>> bags_of(rows, 3).toarray().round(3)  # as log 2 is to log 4
    array([[0.447, 0.   , 0.894]], dtype=float32)
    """
    row_of = np.repeat(np.arange(rows.n_rows), np.diff(rows.ptr))
    bags = csr_matrix((rows.weights, (row_of, rows.words)), (rows.n_rows, n_words))
    bags.sum_duplicates()
    bags.data = np.sign(bags.data) * np.log1p(np.abs(bags.data))
    return unit_rows(bags)


def unit_rows(X: csr_matrix) -> csr_matrix:
    """Return rows of length one; those without values stay as they are."""
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return csr_matrix(diags(1.0 / np.maximum(lengths, 1e-12)) @ X, dtype=np.float32)


def are_sequences(X: csr_matrix) -> bool:
    """Tell whether the rows of a matrix can be sequences: whole numbers from 1, without gaps.

    >>> are_sequences(csr_matrix([[5.0, 2.0, 5.0], [3.0, 0.0, 0.0]]))
    True
    >>> are_sequences(csr_matrix([[0.0, 2.0, 5.0], [3.0, 0.0, 0.0]]))
    False
    """
    if not X.nnz or X.data.min() < 1 or X.data.max() > MOST_WORDS:
        return False
    places = np.arange(X.nnz) - np.repeat(X.indptr[:-1], np.diff(X.indptr))
    return bool(np.all(X.indices == places) and np.all(X.data == np.rint(X.data)))


def read_sequences(X: csr_matrix, max_words: int) -> RowWords:
    """Return the first words of rows that are sequences; what is no word number is passed over.

    >>> read_sequences(csr_matrix([[5.0, 2.0, 5.0], [3.0, 0.0, 0.0]]), 2).words
    array([4, 1, 2], dtype=int32)
    """
    words = np.clip(np.nan_to_num(X.data), 0, MOST_WORDS).astype(np.int32) - 1
    rows = RowWords(X.indptr.astype(np.int64), words, np.ones(X.nnz, dtype=np.float32))
    return rows._where((X.indices < max_words) & (words >= 0))


def n_words_of(X: csr_matrix) -> int:
    """Return how many words rows that are sequences can have: the largest number of one.

    >>> n_words_of(csr_matrix([[5.0, 2.0, 5.0], [3.0, 0.0, 0.0]]))
    5
    """
    return int(X.data.max(initial=1))


def read_features(X: csr_matrix, max_words: int) -> RowWords:
    """Return the features of rows as words, in the order of columns; the largest, if too many.

    Values are scaled such that the mean of their squares is 1 in each row.

    >>> read_features(csr_matrix([[0.0, 3.0, 0.1, 4.0]]), 2)[1:]
    (array([1, 3], dtype=int32), array([0.84852815, 1.1313709 ], dtype=float32))
    """
    lengths = np.diff(X.indptr)
    row_of = np.repeat(np.arange(X.shape[0]), lengths)
    values = X.data.astype(np.float32)
    rows = RowWords(X.indptr.astype(np.int64), X.indices.astype(np.int32), values)
    if lengths.max(initial=0) > max_words:
        order = np.lexsort((-np.abs(values), row_of))
        rank = np.empty(X.nnz, dtype=np.int64)
        rank[order] = np.arange(X.nnz) - X.indptr[row_of]
        kept = rank < max_words
        rows, row_of = rows._where(kept), row_of[kept]
    squares = np.bincount(row_of, np.square(rows.weights, dtype=np.float64), minlength=rows.n_rows)
    scale = np.sqrt(np.diff(rows.ptr) / np.maximum(squares, 1e-30))
    return rows._replace(weights=(rows.weights * scale[row_of]).astype(np.float32))
