"""What the worker asks of a system under test: read, fit, save, load, predict."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.jobs import Job

Ranking = tuple[NDArray[np.int64], NDArray[np.float32]]


class Subject(ABC):
    """One system with one setting. The worker calls the methods in the order below.

    ``read`` is not timed: whatever a system needs before it can start learning (parsing, converting
    the matrices to its own types) belongs there, so that ``fit`` takes seconds of learning.
    """

    def __init__(self, job: Job) -> None:
        self.job = job

    @abstractmethod
    def read(self) -> None:
        """Bring the training corpus into memory."""

    @abstractmethod
    def fit(self) -> None:
        """Learn."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the model; a system that writes while it learns does nothing here."""

    @abstractmethod
    def load(self, folder: Path) -> None:
        """Read the model back into a new, unfitted subject."""

    def rows(self, X: csr_matrix) -> csr_matrix:
        """Return rows to be predicted as this system wants them; not timed, as ``read`` is not."""
        return X

    @abstractmethod
    def predict(self, X: csr_matrix, k: int, n_threads: int) -> Ranking:
        """Return the labels, best first, and their scores, both (n, k); -1 where there is none."""

    def versions(self) -> dict[str, str]:
        """Return the versions of the packages that did the work."""
        return {}


def fill_ranking(answers: list[list[tuple[int, float]]], k: int) -> Ranking:
    """Turn one list of (label, score) per row, best first, into arrays.

    >>> labels, scores = fill_ranking([[(7, 0.9)], [(3, 0.5), (1, 0.25)]], k=2)
    >>> labels.tolist()
    [[7, -1], [3, 1]]
    """
    labels = np.full((len(answers), k), -1, dtype=np.int64)
    scores = np.full((len(answers), k), -np.inf, dtype=np.float32)
    for row, answer in enumerate(answers):
        for place, (label, score) in enumerate(answer[:k]):
            labels[row, place] = label
            scores[row, place] = score
    return labels, scores


def rank_csr(scores: csr_matrix, k: int) -> Ranking:
    """Return the k best stored entries of each row, ties by the smaller label.

    The project's own ``topk_csr`` does the same faster, but needs numba.
    """
    rows = np.repeat(np.arange(scores.shape[0]), np.diff(scores.indptr))
    order = np.lexsort((scores.indices, -scores.data, rows))
    place = np.arange(order.size) - scores.indptr[rows]
    kept = place < k
    labels = np.full((scores.shape[0], k), -1, dtype=np.int64)
    values = np.full((scores.shape[0], k), -np.inf, dtype=np.float32)
    labels[rows[kept], place[kept]] = scores.indices[order][kept]
    values[rows[kept], place[kept]] = scores.data[order][kept]
    return labels, values


def unit_rows(X: csr_matrix) -> csr_matrix:
    """Return X with each row scaled to Euclidean length 1 and its columns in order.

    >>> unit_rows(csr_matrix([[3.0, 4.0], [0.0, 0.0]])).toarray().tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    X = csr_matrix(X, dtype=np.float32, copy=True)
    X.sort_indices()
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    lengths = np.sqrt(np.bincount(rows, weights=X.data.astype(float) ** 2, minlength=X.shape[0]))
    X.data = (X.data / np.maximum(lengths, 1e-30)[rows]).astype(np.float32)
    return X


def installed_versions(*packages: str) -> dict[str, Any]:
    """Return the installed version of each package."""
    from importlib.metadata import version

    return {package: version(package) for package in packages}
