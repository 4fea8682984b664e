"""How a learner of DXML comes to be: labels get vectors, a network learns to put rows there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.ensemble import DeepLearner
from labelspace.graph.label_knn import label_knn
from labelspace.search.clustered import ClusteredIndex
from labelspace.training.history import History
from labelspace.training.label_vectors import label_vectors
from labelspace.training.row_target_presets import (
    gentle_settings,
    task_settings,
    training_settings,
)

if TYPE_CHECKING:
    from labelspace.training.deep import DeepSettings
    from labelspace.training.row_targets import RowTargetTask

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class NetworkTraining:
    """What networks are made from and how.

    Attributes
    ----------
    settings : dict
        The parameters as preset and corpus have made them.
    graph : callable
        Gives the graph of labels that rows with these labels show.
    n_walks, walk_length, window, n_clusters, storage, device, n_threads
        As in :class:`labelspace.models.DXML`.
    """

    settings: dict[str, Any]
    graph: Callable[[csr_matrix], csr_matrix]
    n_walks: int
    walk_length: int
    window: int
    n_clusters: int | None
    storage: str
    device: str
    n_threads: int | None

    def learner(
        self, X: csr_matrix, Y: csr_matrix, held_out: Rows, voters: Rows, seed: int
    ) -> tuple[DeepLearner, History]:
        """Learn a network from all voters but those that are held out."""
        from labelspace.training.row_targets import RowTargetTask

        learned = np.setdiff1d(voters, held_out)
        labels = csr_matrix(Y[learned])
        neighbors = None
        kind = self.settings["targets"]
        if kind == "neighbors":
            kind, neighbors = "random", label_knn(labels, seed=seed, n_threads=self.n_threads)
        vectors = label_vectors(
            self.graph(labels),
            self.settings["dim"],
            kind,
            n_walks=self.n_walks,
            walk_length=self.walk_length,
            window=self.window,
            seed=seed,
            n_threads=self.n_threads,
        )[: Y.shape[1]]
        task = RowTargetTask(
            csr_matrix(X[learned]),
            labels,
            vectors,
            task_settings(self.settings),
            neighbors=neighbors,
            seed=seed,
            device=self._device(),
        )
        history = _train(task, training_settings(self.settings, seed))
        encoder = task.network.exported(self.storage)
        keys = encoder.encode(csr_matrix(X[voters]))
        rows = self._clustered(keys, voters, seed)
        return DeepLearner(encoder, rows, self._label_index(task, seed)), history

    def append(
        self, learner: DeepLearner, X: csr_matrix, Y: csr_matrix, ids: Rows, seed: int
    ) -> History:
        """Put new labels amidst their rows, let the network learn on, then place the rows."""
        from labelspace.training.row_targets import RowTargetTask

        vectors, biases = learner.places(X, Y)
        task = RowTargetTask(
            X,
            Y,
            vectors,
            task_settings(self.settings),
            start=(learner.encoder, self.settings["gamma"] * biases),
            seed=seed,
            device=self._device(),
        )
        history = _train(task, gentle_settings(self.settings, seed))
        learner.encoder = task.network.exported(self.storage)
        learner.labels = self._label_index(task, seed)
        learner.rows.add(learner.encoder.encode(X), ids)
        return history

    def _label_index(self, task: RowTargetTask, seed: int) -> ClusteredIndex:
        vectors, biases = task.label_vectors()
        keys = np.column_stack((vectors, biases / self.settings["gamma"]))
        return self._clustered(keys.astype(np.float32), np.arange(len(keys)), seed)

    def _clustered(self, keys: Floats, ids: Rows, seed: int) -> ClusteredIndex:
        return ClusteredIndex(
            keys,
            ids,
            n_lists=self.n_clusters,
            n_probes=self.settings["n_probes"],
            storage=self.storage,
            seed=seed,
        )

    def _device(self) -> Any:
        from labelspace.training.deep import device_of

        return device_of(self.device)


def _train(task: RowTargetTask, settings: DeepSettings) -> History:
    from labelspace.training.deep import train

    n_rows = task.X.shape[0]
    return train(task, n_rows, settings) if n_rows else History()
