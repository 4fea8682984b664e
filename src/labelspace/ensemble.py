"""Learners that share corpus and graph, trained side by side, asked together.

A learner is an encoder and an index of the training rows as it sees them. Learners differ in their
random start only, so each can run on a thread of its own, and fewer of them can be asked than were
trained: the first few are as good as any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.encoders.linear import LinearEncoder
from labelspace.search.clustered import ClusteredIndex
from labelspace.search.exact import ExactIndex
from labelspace.search.found import Found
from labelspace.search.graph import GraphIndex
from labelspace.space import sphere
from labelspace.store import Storable

Index = ClusteredIndex | ExactIndex | GraphIndex
Made = TypeVar("Made")


class Searcher(Protocol):
    """What an ensemble asks of its learners."""

    def search(self, X: csr_matrix, n_neighbors: int) -> Found:
        """Return the nearest training rows of each row."""


class Learner(Storable):
    """A linear map and an index of the training rows that it has mapped."""

    def __init__(self, encoder: LinearEncoder, index: Index) -> None:
        self.encoder = encoder
        self.index = index

    def search(self, X: csr_matrix, n_neighbors: int) -> Found:
        """Return the training rows nearest by cosine."""
        return self.index.search(sphere.queries(self.encoder.encode(X)), n_neighbors)


def side_by_side(
    train: Callable[[int], Made], seeds: Sequence[int], n_threads: int | None
) -> list[Made]:
    """Train one learner per seed, as many at a time as there are threads.

    Each uses one thread, so that its sums are added in the same order however many run.
    """
    with threads.limit(1), ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        return list(pool.map(train, seeds))


def search_all(learners: Sequence[Searcher], X: csr_matrix, n_neighbors: int) -> Found:
    """Return what all learners find, side by side: a row found twice is there twice."""
    found = [learner.search(X, n_neighbors) for learner in learners]
    return Found(
        np.concatenate([one.ids for one in found], axis=1),
        np.concatenate([one.products for one in found], axis=1),
    )
