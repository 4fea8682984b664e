"""How a learner of DXML comes to be: labels get vectors, a network learns to put rows there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.deep.history import History
from labelspace.encoders.network import NetworkEncoder
from labelspace.ensemble import with_constant
from labelspace.graph.label_knn import label_knn
from labelspace.models.dxml.label_vectors import label_vectors
from labelspace.models.dxml.settings import gentle_settings, task_settings, training_settings
from labelspace.search.ivf import IVFIndex
from labelspace.search.result import SearchResult
from labelspace.spaces import sphere
from labelspace.store import Storable

if TYPE_CHECKING:
    from labelspace.deep.loop import DeepSettings
    from labelspace.models.dxml.task import DXMLTask

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
    ) -> tuple[DXMLLearner, History]:
        """Learn a network from all voters but those that are held out."""
        from labelspace.models.dxml.task import DXMLTask

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
        task = DXMLTask(
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
        rows = self._ivf(keys, voters, seed)
        return DXMLLearner(encoder, rows, self._label_index(task, seed)), history

    def append(
        self, learner: DXMLLearner, X: csr_matrix, Y: csr_matrix, ids: Rows, seed: int
    ) -> History:
        """Put new labels amidst their rows, let the network learn on, then place the rows."""
        from labelspace.models.dxml.task import DXMLTask

        vectors, biases = learner.places(X, Y)
        task = DXMLTask(
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

    def _label_index(self, task: DXMLTask, seed: int) -> IVFIndex:
        vectors, biases = task.label_vectors()
        keys = np.column_stack((vectors, biases / self.settings["gamma"]))
        return self._ivf(keys.astype(np.float32), np.arange(len(keys)), seed)

    def _ivf(self, keys: Floats, ids: Rows, seed: int) -> IVFIndex:
        return IVFIndex(
            keys,
            ids,
            n_lists=self.n_clusters,
            n_probes=self.settings["n_probes"],
            storage=self.storage,
            seed=seed,
        )

    def _device(self) -> Any:
        from labelspace.deep.loop import device_of

        return device_of(self.device)


def _train(task: DXMLTask, settings: DeepSettings) -> History:
    from labelspace.deep.loop import train

    n_rows = task.X.shape[0]
    return train(task, n_rows, settings) if n_rows else History()


class DXMLLearner(Storable):
    """A network, the training rows as it embeds them, in clusters, and the vectors of labels.

    Parameters
    ----------
    encoder : NetworkEncoder
    rows : IVFIndex
    labels : IVFIndex
        Of all labels; behind each vector stands a bias.
    """

    def __init__(self, encoder: NetworkEncoder, rows: IVFIndex, labels: IVFIndex) -> None:
        self.encoder = encoder
        self.rows = rows
        self.labels = labels

    def search(
        self, X: csr_matrix, n_rows: int, n_labels: int
    ) -> tuple[SearchResult, SearchResult]:
        """Return the nearest training rows and the nearest labels of each row."""
        Z = self.encoder.encode(X)
        if not n_labels:
            return self.rows.search(Z, n_rows), SearchResult.none(len(Z), 0)
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
