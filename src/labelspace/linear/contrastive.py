"""Learn a linear map so that rows near in the label graph are near on the sphere.

Each step takes a batch of anchors, draws one label-graph neighbour of each as its partner, encodes
both sides once, contrasts them (``contrastive_loss``) and moves the map by one AdaGrad step
per feature that the batch has. The gradient of a feature is added up over the whole batch before
the step, and a feature's row of weights has one step size, √ of the mean square of its gradients
so far: less memory than a step size per weight, and no worse.

One learner runs on one thread, in an order that its seed alone decides: train learners side by side
to use more cores, and the same seed gives the same map on any number of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.csr import dense_tail, split_dense
from labelspace.graph.label_knn import LabelGraph
from labelspace.linear import _contrastive_kernels as kernels
from labelspace.linear.contrastive_loss import contrast
from labelspace.linear.label_softmax import label_softmax_loss
from labelspace.progress import task
from labelspace.spaces import sphere

# A pair of rows this near to as alike as a row and its partner is not pushed apart.
ALIKE = 0.99


@dataclass(frozen=True)
class ContrastiveSettings:
    """How the map is learned; see ``AnnexMLSettings`` for what each one means."""

    dim: int = 100
    gamma: float = 20.0
    n_epochs: int = 5
    batch_size: int = 1024
    learning_rate: float = 0.2
    min_steps: int = 200
    label_weight: float = 0.0
    n_candidates: int = 1024


@dataclass(frozen=True)
class TrainedMap:
    """The map's weights (n_features, dim) and, if learned, unit vectors of labels and biases.

    The biases are in units of cosines: nearness of label l to z is z·w_l + b_l.
    """

    weights: NDArray[np.float32]
    labels: NDArray[np.float32] | None = None
    biases: NDArray[np.float32] | None = None


def train_map(
    X: csr_matrix,
    Y: csr_matrix,
    graph: LabelGraph,
    settings: ContrastiveSettings,
    seed: int,
) -> TrainedMap:
    """Learn from rows ``X`` (unit length) with labels ``Y`` and their label graph.

    Features that no row has get zero weights: at prediction they would be noise.
    """
    rng = np.random.default_rng(seed)
    V = rng.standard_normal((X.shape[1], settings.dim), dtype=np.float32)
    V /= np.float32(np.sqrt(settings.dim))
    V[np.bincount(X.indices, minlength=X.shape[1]) == 0] = 0.0
    step = MapStep(X, V, dense_tail(X))
    labels = LabelStep(Y, settings, _starting_labels(X, Y, V)) if settings.label_weight else None
    for anchors, partners, progress in batches(X, graph, settings, rng):
        ignored = alike(Y, anchors, partners)
        Z = step.encode(np.concatenate((anchors, partners)))
        U, norms = sphere.project(Z)
        n = len(anchors)
        _, at_anchors, at_partners = contrast(U[:n], U[n:], settings.gamma, ignored=ignored)
        pace = settings.learning_rate * (1.0 - progress)
        if labels is not None:
            at_anchors += labels.descend(anchors, U[:n], pace, rng)
        gradient = sphere.pull_back(np.concatenate((at_anchors, at_partners)), U, norms)
        step.descend(gradient, pace)
    if labels is None:
        return TrainedMap(V)
    biases = (labels.biases / settings.gamma).astype(np.float32)
    return TrainedMap(V, sphere.keys(labels.vectors), biases)


def batches(
    X: csr_matrix,
    graph: LabelGraph,
    settings: ContrastiveSettings,
    rng: np.random.Generator,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], float]]:
    """Yield anchors, a partner for each, and how far training has come (0 to 1).

    Rows without features or neighbours are left out. Small corpora get smaller batches and more
    epochs, so that there are enough steps to learn in.
    """
    n_partners = graph.n_neighbors
    usable = np.flatnonzero((n_partners > 0) & (np.diff(X.indptr) > 0))
    if usable.size < 2:
        return
    size = int(np.clip(usable.size // 16, 16, settings.batch_size))
    per_epoch = max(usable.size // size, 1)
    n_epochs = max(settings.n_epochs, -(-settings.min_steps // per_epoch))
    n_steps = n_epochs * per_epoch
    with task("learning a map", n_steps) as advance:
        for epoch in range(n_epochs):
            order = rng.permutation(usable)
            for number, anchors in enumerate(np.array_split(order, per_epoch)):
                drawn = (rng.random(anchors.size) * n_partners[anchors]).astype(np.int64)
                partners = graph.neighbors[anchors, drawn].astype(np.int64)
                yield anchors, partners, (epoch * per_epoch + number) / n_steps
                advance(1)


def alike(
    Y: csr_matrix, anchors: NDArray[np.int64], partners: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell which other partners are about as like an anchor, by labels, as its own partner is."""
    ignored = np.zeros((anchors.size, partners.size), dtype=np.bool_)
    kernels.alike(Y.indptr, Y.indices, anchors, partners, Y.shape[1], ALIKE, ignored)
    return ignored


class MapStep:
    """Encodes rows of ``X`` by ``V`` and moves ``V`` by AdaGrad, touching only what they have.

    The last ``n_dense`` columns of ``X``, which all rows have, are multiplied by BLAS.
    """

    def __init__(self, X: csr_matrix, V: NDArray[np.float32], n_dense: int = 0) -> None:
        self._X = X
        self._dense: NDArray[np.float32] | None = None
        if n_dense:
            self._X, self._dense = split_dense(X, n_dense)
        self._V = V
        self._squares = np.ones(V.shape[0], dtype=np.float32)
        self._position = np.full(V.shape[0], -1, dtype=np.int32)
        self._rows: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def encode(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of ``rows`` and remember the rows for ``descend``."""
        self._rows = rows
        Z = np.empty((rows.size, self._V.shape[1]), dtype=np.float32)
        X = self._X
        kernels.encode_rows(X.indptr, X.indices, X.data, rows, self._V, Z)
        if self._dense is not None:
            Z += self._dense[rows] @ self._V[X.shape[1] :]
        return Z

    def descend(self, gradient: NDArray[np.float32], learning_rate: float) -> None:
        """Take one step against the gradient at the vectors that ``encode`` returned."""
        X = self._X
        kernels.adagrad(
            X.indptr,
            X.indices,
            X.data,
            self._rows,
            np.ascontiguousarray(gradient, dtype=np.float32),
            np.float32(learning_rate),
            self._position,
            self._V,
            self._squares,
        )
        if self._dense is not None:
            self._descend_dense(gradient, learning_rate)

    def _descend_dense(self, gradient: NDArray[np.float32], learning_rate: float) -> None:
        """Take the same step for the columns that all rows have."""
        n_sparse = self._X.shape[1]
        assert self._dense is not None
        total = self._dense[self._rows].T @ gradient
        squares = self._squares[n_sparse:]
        squares += np.square(total).mean(axis=1)
        self._V[n_sparse:] -= np.float32(learning_rate) / np.sqrt(squares)[:, np.newaxis] * total


class LabelStep:
    """Moves label vectors by AdaGrad, and says how rows should move towards their labels."""

    def __init__(
        self, Y: csr_matrix, settings: ContrastiveSettings, vectors: NDArray[np.float32]
    ) -> None:
        self.vectors = vectors
        self._Y = Y
        self._settings = settings
        self.biases = np.zeros(Y.shape[1], dtype=np.float32)
        self._squares = np.full((Y.shape[1], 1), 0.01, dtype=np.float32)
        self._bias_squares = np.ones(Y.shape[1], dtype=np.float32)
        self._position = np.full(Y.shape[1], -1, dtype=np.int32)

    def descend(
        self,
        rows: NDArray[np.int64],
        U: NDArray[np.float32],
        learning_rate: float,
        rng: np.random.Generator,
    ) -> NDArray[np.float32]:
        """Take one step of the labels and return the gradient at the rows' unit vectors ``U``.

        Candidates are the labels of the batch, or as many of them as settings allow.
        """
        labels = self._Y[rows]
        candidates = np.unique(labels.indices)
        if candidates.size > self._settings.n_candidates:
            candidates = rng.choice(candidates, self._settings.n_candidates, replace=False)
        self._position[candidates] = np.arange(candidates.size)
        columns = self._position[labels.indices]
        self._position[candidates] = -1
        row_of = np.repeat(np.arange(rows.size), np.diff(labels.indptr))
        has = np.zeros((rows.size, candidates.size), dtype=np.bool_)
        has[row_of[columns >= 0], columns[columns >= 0]] = True
        W, norms = sphere.project(self.vectors[candidates])
        _, at_rows, at_labels, at_biases = label_softmax_loss(
            U, W, self.biases[candidates], has, self._settings.gamma
        )
        weight = self._settings.label_weight
        gradient = sphere.pull_back(weight * at_labels, W, norms)
        self._squares[candidates] += np.square(gradient).mean(axis=1, keepdims=True)
        pace = learning_rate / np.sqrt(self._squares[candidates])
        self.vectors[candidates] -= pace * gradient
        self._bias_squares[candidates] += np.square(at_biases)
        self.biases[candidates] -= (
            learning_rate * at_biases / np.sqrt(self._bias_squares[candidates])
        )
        return weight * at_rows


def _starting_labels(X: csr_matrix, Y: csr_matrix, V: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return for each label the middle of its rows."""
    Z = np.empty((X.shape[0], V.shape[1]), dtype=np.float32)
    kernels.encode_rows(X.indptr, X.indices, X.data, np.arange(X.shape[0]), V, Z)
    return sphere.keys(np.asarray(Y.T @ sphere.keys(Z), dtype=np.float32))
