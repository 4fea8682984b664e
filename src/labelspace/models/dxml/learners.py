"""How a learner of DXML comes to be: labels get vectors, a network learns to put rows there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.deep.history import History
from labelspace.encoders.network import NetworkEncoder
from labelspace.ensemble import with_constant
from labelspace.graph.cooccurrence import label_graph
from labelspace.graph.label_knn import label_knn
from labelspace.models.dxml.graph_embedding import graph_embedding
from labelspace.models.dxml.settings import DXMLSettings
from labelspace.search.ivf import IVFIndex
from labelspace.search.result import SearchResult
from labelspace.spaces import sphere
from labelspace.store import Storable, schema

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
    settings : DXMLSettings
    graph : callable
        Gives the graph of labels that rows with these labels show.
    device : {"auto", "cpu", "cuda"}
    n_threads : int or None
    """

    settings: DXMLSettings
    graph: Callable[[csr_matrix], csr_matrix]
    device: str
    n_threads: int | None

    def learner(
        self, X: csr_matrix, Y: csr_matrix, held_out: Rows, voters: Rows, seed: int
    ) -> tuple[DXMLLearner, History]:
        """Learn a network from all voters but those that are held out."""
        told = self.settings
        learned = np.setdiff1d(voters, held_out)
        labels = csr_matrix(Y[learned])
        kind, neighbors = told.targets, None
        if kind == "neighbors":
            kind, neighbors = "random", label_knn(labels, seed=seed, n_threads=self.n_threads)
        vectors = graph_embedding(
            self.graph(labels),
            told.dim,
            kind,
            n_walks=told.n_walks,
            walk_length=told.walk_length,
            window=told.window,
            unit=told.unit_labels,
            seed=seed,
            n_threads=self.n_threads,
        )[: Y.shape[1]]
        task = self._task(csr_matrix(X[learned]), labels, vectors, seed, neighbors=neighbors)
        history = _train(task, told.training(seed))
        encoder = task.network.exported(told.storage)
        keys = encoder.encode(csr_matrix(X[voters]))
        rows = self._ivf(keys, voters, seed)
        return DXMLLearner(encoder, rows, self._label_index(task, seed)), history

    def append(
        self, learner: DXMLLearner, X: csr_matrix, Y: csr_matrix, ids: Rows, seed: int
    ) -> History:
        """Give new labels vectors, let the network learn on, then add the rows to the index."""
        vectors, biases = learner.label_vectors(X, Y)
        if self.settings.unit_labels:
            vectors = sphere.keys(vectors)
        start = (learner.encoder, self.settings.gamma * biases)
        task = self._task(X, Y, vectors, seed, start=start)
        history = _train(task, self.settings.gentle_training(seed))
        learner.encoder = task.network.exported(self.settings.storage)
        learner.labels = self._label_index(task, seed)
        learner.rows.add(learner.encoder.encode(X), ids)
        return history

    def _task(
        self, X: csr_matrix, Y: csr_matrix, vectors: Floats, seed: int, **more: Any
    ) -> DXMLTask:
        from labelspace.deep.loop import device_of
        from labelspace.models.dxml.task import DXMLTask

        device = device_of(self.device)
        return DXMLTask(X, Y, vectors, self.settings, seed=seed, device=device, **more)

    def _label_index(self, task: DXMLTask, seed: int) -> IVFIndex:
        vectors, biases = task.label_vectors()
        keys = np.column_stack((vectors, biases / self.settings.gamma))
        return self._ivf(keys.astype(np.float32), np.arange(len(keys)), seed)

    def _ivf(self, keys: Floats, ids: Rows, seed: int) -> IVFIndex:
        return IVFIndex(
            keys,
            ids,
            n_lists=self.settings.n_clusters,
            n_probes=self.settings.n_probes,
            storage=self.settings.storage,
            seed=seed,
        )


def train_network(inputs: dict[str, Any], seed: int) -> tuple[DXMLLearner, History]:
    """Learn one of several networks: what a worker of an engine does."""
    told: DXMLSettings = inputs["settings"]
    given = inputs["graph"]

    def graph(Y: csr_matrix) -> csr_matrix:
        return label_graph(Y, told.edges) if given is None else given

    training = NetworkTraining(told, graph, device=inputs["device"], n_threads=1)
    rows = inputs["X"], inputs["Y"], inputs["held_out"], inputs["voters"]
    return training.learner(*rows, seed)


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

    _schema: ClassVar[schema.Schema] = {
        "encoder": schema.part("NetworkEncoder", n_features="n_features", dim="dim"),
        "rows": schema.part("IVFIndex", dim="dim", ids_end="rows_end"),
        "labels": schema.part(
            "IVFIndex", dim=schema.plus("dim", 1), n_keys="n_placed", ids_end="n_placed"
        ),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if not sizes.trusted:
            schema.check_unique(state["labels"].ids)

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

    def label_vectors(self, X: csr_matrix, Y: csr_matrix) -> tuple[Floats, Floats]:
        """Return vectors and biases of all labels of ``Y``.

        New ones have the direction of the mean of their rows, and the mean length of those known.
        """
        known = self.labels.vectors(np.arange(self.labels.n_keys))
        n_new = Y.shape[1] - len(known)
        vectors, biases = known[:, :-1], known[:, -1]
        if n_new:
            own = csr_matrix(Y[:, len(known) :].T)
            means = sphere.keys(np.asarray(own @ self.encoder.encode(X), dtype=np.float32))
            means *= np.linalg.norm(vectors, axis=1).mean() if len(vectors) else 1.0
            vectors = np.concatenate((vectors, means))
            biases = np.concatenate((biases, np.zeros(n_new, dtype=np.float32)))
        return np.ascontiguousarray(vectors), biases
