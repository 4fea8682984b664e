"""Learners that share corpus and graph, trained side by side, asked together.

A learner is an encoder, an index of the training rows as it sees them and, if it has learned where
labels lie, an index of those. Learners differ in their random start only, so each can run on a
thread of its own, and fewer of them can be asked than were trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import engine, progress
from labelspace.encoders.linear import LinearEncoder
from labelspace.search.exact import ExactIndex
from labelspace.search.ivf import IVFIndex
from labelspace.search.result import SearchResult
from labelspace.spaces import sphere
from labelspace.store import Storable, schema
from labelspace.threads import train_in_parallel

Index = IVFIndex | ExactIndex
AnyLearner = TypeVar("AnyLearner")


class Searcher(Protocol):
    """What can be asked for the neighbours of rows."""

    def search(
        self, X: csr_matrix, n_rows: int, n_labels: int
    ) -> tuple[SearchResult, SearchResult]:
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

    _schema: ClassVar[schema.Schema] = {
        "encoder": schema.part("LinearEncoder", n_features="n_known", dim="dim"),
        "rows": schema.part("IVFIndex", "ExactIndex", "GraphIndex", dim="dim", ids_end="rows_end"),
        "labels": schema.optional(
            schema.part("IVFIndex", dim=schema.plus("dim", 1), ids_end="labels_end")
        ),
        "features": schema.optional(
            schema.array("int32 int64", "n_known", low=0, end="features_end")
        ),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if state["features"] is None:
            sizes.settle("n_features", sizes.known["n_known"])

    def __init__(
        self,
        encoder: LinearEncoder,
        rows: Index,
        labels: IVFIndex | None = None,
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

    def search(
        self, X: csr_matrix, n_rows: int, n_labels: int
    ) -> tuple[SearchResult, SearchResult]:
        """Return the nearest training rows and the nearest labels of each row."""
        Z = self.encode(X)
        if self.labels is None:
            return self.rows.search(Z, n_rows), SearchResult.none(len(Z), 0)
        return self.rows.search(Z, n_rows), self.labels.search(with_constant(Z), n_labels)


def train_learners(
    train: Callable[[Any, int], AnyLearner],
    inputs: Any,
    seeds: Sequence[int],
    n_threads: int | None,
) -> list[AnyLearner]:
    """Return a learner of the inputs for each seed, trained side by side, and tell of each."""
    if engine.is_active():
        return engine.run_blocks(train, inputs, seeds, "training learners", may_lose=True)
    with progress.task("Training", total=len(seeds)) as advance:

        def counted(seed: int) -> AnyLearner:
            learner = train(inputs, seed)
            advance(1)
            return learner

        return train_in_parallel(counted, seeds, n_threads)


def with_constant(Z: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return vectors with a 1 behind them, which meets the bias behind a label's vector."""
    return np.concatenate((Z, np.ones((len(Z), 1), dtype=np.float32)), axis=1)


def search_all(
    learners: Sequence[Searcher], X: csr_matrix, n_rows: int, n_labels: int
) -> tuple[SearchResult, SearchResult]:
    """Return the rows and labels that all learners find, side by side.

    What two learners find is there twice.
    """
    found = [learner.search(X, n_rows, n_labels) for learner in learners]
    return SearchResult.beside([rows for rows, _ in found]), SearchResult.beside(
        [labels for _, labels in found]
    )
