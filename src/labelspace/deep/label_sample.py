"""Which labels a batch of rows is scored against.

All labels of the batch's rows, and labels drawn at random until there are enough; where labels are
few, all of them. A label is in the sample with probability

    q = 1 − (1 − n/N)^B · (1 − m/K)

where n of N rows have it, B rows are in a batch and m of K labels are drawn; 1/q is the weight by
which a sum over the sample stands for the sum over all labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix


@dataclass(frozen=True)
class LabelSample:
    """Labels, and which of them the rows have.

    Attributes
    ----------
    labels : ndarray of shape (n_sampled,), int64
        Label numbers, ascending.
    relevant : ndarray of shape (n_rows, n_sampled), bool
    chosen : ndarray of shape (n_rows,), int64
        Column of one label of each row, drawn from its labels with equal chance.
    weights : ndarray of shape (n_sampled,), float32, or None
        1/q of each label; None if all labels are here.
    """

    labels: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    chosen: NDArray[np.int64]
    weights: NDArray[np.float32] | None


class LabelSampler:
    """Draws labels for batches of rows.

    Parameters
    ----------
    Y : csr_matrix of shape (n_rows, n_labels)
        Every row must have a label.
    n_sampled : int
        Labels in a sample; more if the batch has more.

    Examples
    --------
    >>> Y = csr_matrix([[1, 0, 0, 0], [0, 0, 1, 1]])
    >>> sample = LabelSampler(Y, 3).draw(np.array([1]), np.random.default_rng(0))
    >>> sample.labels[sample.relevant[0]]
    array([2, 3])
    """

    def __init__(self, Y: csr_matrix, n_sampled: int) -> None:
        self.Y = Y
        self.n_sampled = n_sampled
        self._counts = np.bincount(Y.indices, minlength=Y.shape[1])

    def draw(self, rows: NDArray[np.int64], rng: np.random.Generator) -> LabelSample:
        """Return a sample for some rows."""
        Y = self.Y[rows]
        n_labels = Y.shape[1]
        sizes = np.diff(Y.indptr)
        if self.n_sampled >= n_labels:
            labels, weights = np.arange(n_labels), None
            columns = Y.indices
        else:
            labels, weights = self._some(Y.indices, len(rows), rng)
            columns = np.searchsorted(labels, Y.indices)
        relevant = np.zeros((len(rows), labels.size), dtype=np.bool_)
        relevant[np.repeat(np.arange(len(rows)), sizes), columns] = True
        picks = Y.indptr[:-1] + (rng.random(len(rows)) * sizes).astype(np.int64)
        return LabelSample(labels, relevant, columns[picks].astype(np.int64), weights)

    def _some(
        self, own: NDArray[np.integer], n_rows: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        n_labels = self._counts.size
        own = np.unique(own)
        n_drawn = max(self.n_sampled - own.size, 0)
        labels = np.union1d(own, rng.integers(n_labels, size=n_drawn)).astype(np.int64)
        missed = (1.0 - self._counts[labels] / self.Y.shape[0]) ** n_rows
        missed *= (1.0 - 1.0 / n_labels) ** n_drawn
        return labels, (1.0 / np.maximum(1.0 - missed, 1e-6)).astype(np.float32)
