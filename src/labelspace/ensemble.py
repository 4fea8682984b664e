"""Learners that share corpus and graph, trained side by side, asked together.

A learner is an encoder, an index of the training rows as it sees them and, if it has learned where
labels lie, an index of those. Learners differ in their random start only, so each can run on a
thread of its own, and fewer of them can be asked than were trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.network import NetworkEncoder
from labelspace.encoders.partition import Partition
from labelspace.search.clustered import ClusteredIndex
from labelspace.search.exact import ExactIndex
from labelspace.search.found import Found
from labelspace.search.graph import GraphIndex
from labelspace.space import sphere
from labelspace.store import Storable

Index = ClusteredIndex | ExactIndex | GraphIndex
Made = TypeVar("Made")


class Searcher(Protocol):
    """What can be asked for the neighbours of rows."""

    def search(self, X: csr_matrix, n_rows: int, n_labels: int) -> tuple[Found, Found]:
        """Return the nearest training rows and the nearest labels of each row."""


class Learner(Storable):
    """A linear map, an index of the training rows, and perhaps one of the labels.

    Parameters
    ----------
    encoder : LinearEncoder
    rows : index of training rows, by row number
    labels : index of labels, by label number, optional
    features : ndarray, optional
        The features that the encoder knows, where it does not know all.
    """

    def __init__(
        self,
        encoder: LinearEncoder,
        rows: Index,
        labels: ClusteredIndex | None = None,
        features: NDArray[np.integer] | None = None,
    ) -> None:
        self.encoder = encoder
        self.rows = rows
        self.labels = labels
        self.features = features

    def encode(self, X: csr_matrix) -> NDArray[np.float32]:
        """Return the unit vectors of rows."""
        known = X if self.features is None else csr_matrix(X[:, self.features])
        return sphere.queries(self.encoder.encode(known))

    def search(self, X: csr_matrix, n_rows: int, n_labels: int) -> tuple[Found, Found]:
        """Return the nearest training rows and the nearest labels of each row."""
        Z = self.encode(X)
        if self.labels is None:
            return self.rows.search(Z, n_rows), Found.none(len(Z), 0)
        return self.rows.search(Z, n_rows), self.labels.search(with_constant(Z), n_labels)


def with_constant(Z: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors with a 1 behind them, which meets the bias behind a label's vector."""
    return np.concatenate((Z, np.ones((len(Z), 1), dtype=np.float32)), axis=1)


class PartitionedLearner(Storable):
    """A partition of the rows and a learner for each part; a query asks the one of its part."""

    def __init__(self, partition: Partition, parts: list[Learner | None]) -> None:
        self.partition = partition
        self.parts = parts

    def search(self, X: csr_matrix, n_rows: int, n_labels: int) -> tuple[Found, Found]:
        """Return the nearest training rows in each row's part."""
        found = Found.none(X.shape[0], n_rows)
        # A part without rows has no learner; its queries go to the next best part.
        empty = [number for number, learner in enumerate(self.parts) if learner is None]
        scores = self.partition.scores(X)
        scores[:, empty] = -np.inf
        chosen = scores.argmax(axis=1)
        for number in np.unique(chosen):
            learner = self.parts[number]
            if learner is not None:
                queries = np.flatnonzero(chosen == number)
                there, _ = learner.search(csr_matrix(X[queries]), n_rows, 0)
                width = there.ids.shape[1]
                found.ids[queries, :width] = there.ids
                found.products[queries, :width] = there.products
        return found, Found.none(X.shape[0], 0)


class DeepLearner(Storable):
    """A network, the training rows as it embeds them, in clusters, and the vectors of labels.

    Parameters
    ----------
    encoder : NetworkEncoder
    rows : ClusteredIndex
    labels : ClusteredIndex
        Of all labels; behind each vector stands a bias.
    """

    def __init__(
        self, encoder: NetworkEncoder, rows: ClusteredIndex, labels: ClusteredIndex
    ) -> None:
        self.encoder = encoder
        self.rows = rows
        self.labels = labels

    def search(self, X: csr_matrix, n_rows: int, n_labels: int) -> tuple[Found, Found]:
        """Return the nearest training rows and the nearest labels of each row."""
        Z = self.encoder.encode(X)
        if not n_labels:
            return self.rows.search(Z, n_rows), Found.none(len(Z), 0)
        return self.rows.search(Z, n_rows), self.labels.search(with_constant(Z), n_labels)

    def places(
        self, X: csr_matrix, Y: csr_matrix
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return vectors and biases of labels; new ones lie in the middle of their rows."""
        known = self.labels.vectors(np.arange(self.labels.n_keys))
        n_new = Y.shape[1] - len(known)
        vectors, biases = known[:, :-1], known[:, -1]
        if n_new:
            own = csr_matrix(Y[:, len(known) :].T)
            middles = np.asarray(own @ self.encoder.encode(X), dtype=np.float32)
            vectors = np.concatenate((vectors, middles))
            biases = np.concatenate((biases, np.zeros(n_new, dtype=np.float32)))
        return sphere.keys(np.ascontiguousarray(vectors)), biases


def side_by_side(
    train: Callable[[int], Made], seeds: Sequence[int], n_threads: int | None
) -> list[Made]:
    """Train one learner per seed, as many at a time as there are threads.

    Each uses one thread, so that its sums are added in the same order however many run.
    """
    with threads.limit(1), ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        return list(pool.map(train, seeds))


def search_all(
    learners: Sequence[Searcher], X: csr_matrix, n_rows: int, n_labels: int
) -> tuple[Found, Found]:
    """Return the rows and labels that all learners find, side by side.

    What two learners find is there twice.
    """
    found = [learner.search(X, n_rows, n_labels) for learner in learners]
    return Found.beside([rows for rows, _ in found]), Found.beside([labels for _, labels in found])


def in_blocks(
    answer: Callable[[csr_matrix], Made], X: csr_matrix, n_threads: int | None
) -> list[Made]:
    """Return the answers to blocks of rows, which are dealt to threads."""
    starts = range(0, X.shape[0], _BLOCK)
    if len(starts) <= 1:
        return [answer(X)]
    with ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        return list(pool.map(lambda start: answer(csr_matrix(X[start : start + _BLOCK])), starts))


_BLOCK = 1024
