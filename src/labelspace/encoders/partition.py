"""A partition of the rows by linear scores: a row belongs where its score is largest.

Methods divide a large corpus so that each part can have a map and an index of its own; a new row is
sent to a part by the same scores. Spherical k-means on the features is the plain way to one.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.store import Storable, schema


class Partition(Storable):
    """Linear scorers, one per part.

    Parameters
    ----------
    weights : csr_matrix of shape (n_features, n_parts)

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> halves = Partition(csr_matrix([[1.0, 0.0], [0.0, 1.0]]))
    >>> halves.assign(csr_matrix([[0.9, 0.1], [0.2, 0.7]]))
    array([0, 1])
    """

    _schema: ClassVar[schema.Schema] = {"weights": schema.csr("float32", "n_features", "n_parts")}

    def __init__(self, weights: csr_matrix) -> None:
        self.weights = csr_matrix(weights, dtype=np.float32)

    @property
    def n_parts(self) -> int:
        return self.weights.shape[1]

    def scores(self, X: csr_matrix) -> NDArray[np.float32]:
        """Return how well each row fits into each part (n, n_parts)."""
        return np.asarray((X @ self.weights).toarray(), dtype=np.float32)

    def assign(self, X: csr_matrix) -> NDArray[np.int64]:
        """Return the part of each row."""
        return self.scores(X).argmax(axis=1)


def kmeans_partition(X: csr_matrix, n_parts: int, seed: int, *, n_epochs: int = 10) -> Partition:
    """Return the partition of spherical k-means on rows of unit length."""
    W = random_rows(X, n_parts, np.random.default_rng(seed))
    before = -np.inf
    for _ in range(n_epochs):
        scores = np.asarray(X @ W)
        parts, fit = scores.argmax(axis=1), float(scores.max(axis=1).sum())
        if fit - before < 1e-6 * X.shape[0]:
            break
        before = fit
        members = csr_matrix(
            (np.ones(X.shape[0], dtype=np.float32), (np.arange(X.shape[0]), parts)),
            shape=(X.shape[0], n_parts),
        )
        sums = np.asarray((X.T @ members).toarray(), dtype=np.float32)
        lengths = np.linalg.norm(sums, axis=0)
        # A part that has lost all its rows stays where it was.
        W = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), W).astype(np.float32)
    return Partition(csr_matrix(W))


def random_rows(X: csr_matrix, n_parts: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return random rows of ``X`` as columns."""
    chosen = rng.choice(X.shape[0], n_parts, replace=n_parts > X.shape[0])
    return np.ascontiguousarray(X[chosen].toarray().T, dtype=np.float32)
