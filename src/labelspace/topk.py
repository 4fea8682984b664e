"""The answer of every method: the k best labels of each row, best first.

Ties are broken by the smaller label id, so that the same scores always give the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import _topk_kernels as _kernels
from labelspace import threads
from labelspace.errors import DataError

NO_LABEL = -1
# Rows for which another thread is worth its while.
_FEW_ROWS = 256


@dataclass(frozen=True)
class TopK:
    """The ``k`` best labels of each row with their scores, in descending order.

    Attributes
    ----------
    labels : ndarray of shape (n, k), int64
        Label ids; -1 where a row has fewer than ``k`` labels.
    scores : ndarray of shape (n, k), float32
        Scores of ``labels``; -inf where there is none.

    Examples
    --------
    >>> import numpy as np
    >>> top = topk_dense(np.array([[0.1, 0.7, 0.2]], dtype=np.float32), k=2)
    >>> top.labels
    array([[1, 2]])
    """

    labels: NDArray[np.int64]
    scores: NDArray[np.float32]

    def __len__(self) -> int:
        return self.labels.shape[0]

    @property
    def k(self) -> int:
        return self.labels.shape[1]

    def first(self, k: int) -> TopK:
        """Return the best ``k`` of these."""
        return TopK(self.labels[:, :k], self.scores[:, :k])

    def padded(self, k: int) -> TopK:
        """Return the best ``k`` of these, and none where there are fewer."""
        if self.k >= k:
            return self.first(k)
        padded = TopK.empty(len(self), k)
        padded.labels[:, : self.k] = self.labels
        padded.scores[:, : self.k] = self.scores
        return padded

    def of_numbers(self) -> TopK:
        """Return these as they are; a score that is no number, after an overflow, is an error."""
        if np.isnan(self.scores).any():
            raise DataError(
                "The scores of some rows are no numbers: their features, or the weights of the "
                "model, are too large; scale the features, or train the model again."
            )
        return self

    def given(self, row: int, threshold: float | None = None) -> list[tuple[int, float]]:
        """Return the labels of one row, those scored at least ``threshold``, with their scores."""
        least = -np.inf if threshold is None else threshold
        pairs = zip(self.labels[row].tolist(), self.scores[row].tolist(), strict=True)
        return [(label, score) for label, score in pairs if label != NO_LABEL and score >= least]

    def to_csr(self, n_labels: int, *, threshold: float | None = None) -> csr_matrix:
        """Return a 0-1 matrix (n, n_labels) of these labels, those above ``threshold`` only."""
        keep = self.labels != NO_LABEL
        if threshold is not None:
            keep &= self.scores >= threshold
        indptr = np.concatenate(([0], np.cumsum(keep.sum(axis=1))))
        chosen = csr_matrix(
            (np.ones(indptr[-1], dtype=np.float32), self.labels[keep], indptr),
            shape=(len(self), n_labels),
        )
        chosen.sort_indices()
        return chosen

    @staticmethod
    def empty(n_rows: int, k: int) -> TopK:
        """Return an answer without any label."""
        return TopK(
            np.full((n_rows, k), NO_LABEL, dtype=np.int64),
            np.full((n_rows, k), -np.inf, dtype=np.float32),
        )

    @staticmethod
    def stack(parts: list[TopK]) -> TopK:
        """Put the answers of consecutive blocks of rows together."""
        return TopK(
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.scores for part in parts]),
        )


def topk_csr(scores: csr_matrix, k: int) -> TopK:
    """Return the ``k`` largest stored entries of each row; entries not stored never win.

    >>> from scipy.sparse import csr_matrix
    >>> topk_csr(csr_matrix([[0, 3.0, 1.0], [0, 0, 0]]), k=2).labels
    array([[ 1,  2],
           [-1, -1]])
    """
    top = TopK.empty(scores.shape[0], k)
    data = np.ascontiguousarray(scores.data, dtype=np.float32)

    def rank(first: int, last: int) -> None:
        _kernels.topk_csr(scores.indptr, scores.indices, data, first, last, top.labels, top.scores)

    threads.deal(rank, len(top), _FEW_ROWS)
    return top


def topk_dense(scores: NDArray[np.floating], k: int) -> TopK:
    """Return the ``k`` largest entries of each row of a dense block of scores."""
    top = TopK.empty(scores.shape[0], k)
    block = np.ascontiguousarray(scores, dtype=np.float32)

    def rank(first: int, last: int) -> None:
        _kernels.topk_dense(block, first, last, top.labels, top.scores)

    threads.deal(rank, len(top), _FEW_ROWS)
    return top
