"""How a learner of AnnexML comes to be: rows are parted, each part is mapped, then indexed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.partition import Partition, kmeans_partition
from labelspace.ensemble import Index, Learner
from labelspace.graph.label_knn import LabelGraph, label_knn
from labelspace.linear.adapt import adapt_map
from labelspace.linear.contrastive import ContrastiveSettings, TrainedMap, train_map
from labelspace.models.annexml.graph_index import GraphIndex
from labelspace.models.annexml.label_partition import balanced, learn_partition
from labelspace.models.annexml.pairwise import train_pairs
from labelspace.models.annexml.settings import AnnexMLSettings
from labelspace.search.exact import ExactIndex
from labelspace.search.ivf import IVFIndex
from labelspace.search.result import SearchResult
from labelspace.spaces import sphere
from labelspace.store import Storable, schema

# Rows of labels that are looked at for each row, and as many as there can be.
_BUDGET = 5000
_UNCUT = 1 << 40
# The original program's learners have the same neighbours, ties and all.
_SAME_TIES = 0


@dataclass(frozen=True)
class LearnerTraining:
    """What learners are made from, and how: ``Y`` has the labels with which all rows vote."""

    Y: csr_matrix
    settings: AnnexMLSettings
    n_threads: int | None

    def graph(self, Y: csr_matrix, seed: int, *, uncut: bool = False) -> LabelGraph:
        """Return the neighbours of rows by their labels, even of the most frequent if ``uncut``."""
        if self.settings.similarity == "smce":
            from labelspace.models.annexml.label_manifolds import smce_graph

            return smce_graph(Y, self.settings.graph_neighbors, seed=seed, n_threads=self.n_threads)
        return label_knn(
            Y,
            self.settings.graph_neighbors,
            similarity=self.settings.similarity,
            seed=seed,
            n_threads=self.n_threads,
            budget=_UNCUT if uncut else _BUDGET,
            by_length=self.settings.objective == "pairs",
        )

    def learner(
        self, X: csr_matrix, Y: csr_matrix, graph: LabelGraph, seed: int
    ) -> Learner | PartitionedLearner:
        """Learn from rows and the labels that training may see."""
        n_parts = max(X.shape[0] // self.settings.part_size, 1)
        if self.settings.partition == "none" or n_parts == 1:
            if self.settings.objective == "pairs":
                graph = self.graph(Y, _SAME_TIES, uncut=True)
            return self._map_and_index(
                X, Y, graph, np.arange(X.shape[0]), self.settings.training(), seed
            )
        if self.settings.partition == "learned":
            partition = learn_partition(X, graph, n_parts, seed)
        elif self.settings.partition == "smce":
            from labelspace.models.annexml.label_manifolds import smce_partition

            partition = smce_partition(X, Y, n_parts, seed, n_threads=1)
        else:
            partition = kmeans_partition(X, n_parts, seed)
        scores = partition.scores(X)
        assigned = balanced(scores) if self.settings.balanced else scores.argmax(axis=1)
        parts: list[Learner | None] = []
        for number in range(partition.n_parts):
            rows = np.flatnonzero(assigned == number)
            parts.append(self._part(X, Y, rows, seed + number) if rows.size else None)
        return PartitionedLearner(partition, parts)

    def append(
        self,
        learner: Learner | PartitionedLearner,
        X: csr_matrix,
        Y: csr_matrix,
        graph: LabelGraph,
        n_old: int,
        seed: int,
    ) -> None:
        """Let a learner see new rows; its map learns on where it knows every feature."""
        if isinstance(learner, Learner):
            update = self.settings.update()
            adapt_map(learner.encoder, X, self.Y, graph, n_old, learner.rows, update, seed)
            _add_rows(learner, X, Y, np.arange(X.shape[0]), n_old)
            return
        assigned = learner.partition.assign(X)
        for number in np.unique(assigned):
            part = learner.parts[number]
            if part is not None:
                _add_rows(part, X, Y, np.flatnonzero(assigned == number), n_old)

    def _part(self, X: csr_matrix, Y: csr_matrix, rows: NDArray[np.int64], seed: int) -> Learner:
        """Learn from some rows as if there were no others, and no other features."""
        inside = csr_matrix(X[rows])
        features = np.unique(inside.indices)
        labels = csr_matrix(Y[rows])
        by_pairs = self.settings.objective == "pairs"
        graph = self.graph(labels, _SAME_TIES if by_pairs else seed, uncut=by_pairs)
        # A label's rows lie in several parts, so it has no one point in any of them.
        settings = replace(self.settings.training(), label_weight=0.0)
        inside = csr_matrix(inside[:, features])
        learner = self._map_and_index(inside, labels, graph, rows, settings, seed)
        learner.features = features
        return learner

    def _map_and_index(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        graph: LabelGraph,
        rows: NDArray[np.int64],
        settings: ContrastiveSettings,
        seed: int,
    ) -> Learner:
        if self.settings.objective == "pairs":
            trained = TrainedMap(train_pairs(X, Y, graph, self.settings, seed))
        else:
            trained = train_map(X, Y, graph, settings, seed)
        encoder = LinearEncoder(trained.weights, self.settings.storage)
        # Rows without features lie nowhere, and rows without labels have nothing to say.
        voters = np.flatnonzero((np.diff(X.indptr) > 0) & (np.diff(self.Y.indptr)[rows] > 0))
        keys = sphere.keys(encoder.encode(csr_matrix(X[voters])))
        labels = None
        if trained.labels is not None and trained.biases is not None:
            labels = self._label_index(trained.labels, trained.biases, keys, rows[voters], seed)
        return Learner(encoder, self._index(keys, rows[voters], seed), labels)

    def _label_index(
        self,
        vectors: NDArray[np.float32],
        biases: NDArray[np.float32],
        keys: NDArray[np.float32],
        voters: NDArray[np.int64],
        seed: int,
    ) -> IVFIndex:
        """Put labels where training has them, and those it never saw amidst their rows."""
        unseen = np.flatnonzero(~vectors.any(axis=1))
        labels = csr_matrix(self.Y[voters], dtype=np.float32)
        vectors[unseen] = sphere.keys(np.asarray(labels[:, unseen].T @ keys, dtype=np.float32))
        placed = np.flatnonzero(vectors.any(axis=1))
        biased = np.column_stack((vectors[placed], biases[placed]))
        return self._ivf(biased, placed, seed)

    def _index(self, keys: NDArray[np.float32], ids: NDArray[np.int64], seed: int) -> Index:
        if self.settings.search == "exact":
            return ExactIndex(keys, ids)
        if self.settings.search == "walk":
            return GraphIndex(keys, ids)
        return self._ivf(keys, ids, seed)

    def _ivf(self, keys: NDArray[np.float32], ids: NDArray[np.int64], seed: int) -> IVFIndex:
        return IVFIndex(
            keys, ids, n_probes=self.settings.n_probes, storage=self.settings.storage, seed=seed
        )


def train_learner(inputs: tuple[Any, ...], seed: int) -> Learner | PartitionedLearner:
    """Train a learner, on one thread: rows, labels seen and all labels, the graph, settings."""
    X, seen, Y, neighbors, similarities, settings = inputs
    learning = LearnerTraining(Y, settings, n_threads=1)
    return learning.learner(X, seen, LabelGraph(neighbors, similarities), seed)


class PartitionedLearner(Storable):
    """A partition of the rows and a learner for each part; a query asks the one of its part."""

    _schema: ClassVar[schema.Schema] = {
        "partition": schema.part("Partition", n_features="n_features", n_parts="n_parts"),
        "parts": schema.list_of(
            schema.optional(
                schema.part(
                    "Learner",
                    n_features="n_features",
                    features_end=schema.up_to("n_features"),
                )
            ),
            length="n_parts",
        ),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        ends = [sizes.of(part).get("rows_end", 0) for part in state["parts"] if part is not None]
        sizes.settle("rows_end", max(ends, default=0))

    def __init__(self, partition: Partition, parts: list[Learner | None]) -> None:
        self.partition = partition
        self.parts = parts

    def search(
        self, X: csr_matrix, n_rows: int, n_labels: int
    ) -> tuple[SearchResult, SearchResult]:
        """Return the nearest training rows in each row's part."""
        found = SearchResult.none(X.shape[0], n_rows)
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
        return found, SearchResult.none(X.shape[0], 0)


def _add_rows(
    learner: Learner, X: csr_matrix, Y: csr_matrix, new: NDArray[np.int64], n_old: int
) -> None:
    """Put some of the new rows into a learner's index, and new labels amid their rows."""
    voters = new[(np.diff(X.indptr)[new] > 0) & (np.diff(Y.indptr)[new] > 0)]
    keys = learner.encode(csr_matrix(X[voters]))
    learner.rows.add(keys, n_old + voters)
    if learner.labels is not None and voters.size:
        labels = csr_matrix(Y[voters])
        unseen = np.setdiff1d(labels.indices, learner.labels.ids)
        centroids = np.asarray((labels[:, unseen].T @ keys), dtype=np.float32)
        learner.labels.add(np.column_stack((sphere.keys(centroids), np.zeros(unseen.size))), unseen)
