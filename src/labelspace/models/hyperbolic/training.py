"""Learn points for labels and a map for rows in one space, so that rows are near their labels.

Each step takes a batch of rows and some labels drawn evenly from all, and moves the map and the
labels' points down the gradient of ``approach_labels``: rows towards their labels and away from
those drawn, and with ``batch_negatives`` from the labels of the batch's other rows, too. Gradients
are added up over the batch and touch the features and labels of the batch only.

In the ball a label's gradient is measured, and its step made, in lengths of the ball: near the edge
a short way on paper is a long one. For ``"adagrad"`` that is a factor (1 − ‖v‖²)/2 for each, which
together are the factor ((1 − ‖v‖²)/2)² of projected RSGD (Nickel and Kiela, 2017); ``"adam"`` has
the whole factor on the step, as Gerald and Baskiotis (2019) have it. For the clipped map their rule
has the factor of each row between the slopes of loss and map, where it is here, too: a weight of
the map is moved by many rows, so that its step has no factor of its own. Adam takes such a factor
for a part of the gradient, whose size hardly counts for it. With ``row_factor="step"`` the step has
the mean factor of the batch's rows instead.

Some rows are kept apart to see when it is time to stop. One learner runs on one thread, in an order
that its seed alone decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.linear._contrastive_kernels import encode_rows
from labelspace.models.hyperbolic import _training_kernels as kernels
from labelspace.models.hyperbolic.encoder import embed, pull_back
from labelspace.models.hyperbolic.loss import approach_labels, approach_rows
from labelspace.models.hyperbolic.metric_index import SPACES, MetricIndex
from labelspace.models.hyperbolic.optimizers import OPTIMIZERS, AdaGrad
from labelspace.models.hyperbolic.settings import HyperbolicSettings
from labelspace.selection import usable_rows
from labelspace.spaces import poincare, sphere

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class JointMap:
    """Weights of the map, of its second layer if there is one, and the points of the labels."""

    weights: NDArray[np.float32]
    top: NDArray[np.float32] | None
    labels: NDArray[np.float32]
    n_epochs: int


def train_joint(
    X: csr_matrix,
    Y: csr_matrix,
    settings: HyperbolicSettings,
    seed: int,
    held_out: NDArray[np.int64] | None = None,
) -> JointMap:
    """Learn from rows ``X`` (unit length) with labels ``Y``, but for those that are ``held_out``.

    Features that no row has get zero weights: at prediction they would be noise.
    """
    rng = np.random.default_rng(seed)
    usable = usable_rows(X, Y)
    held_out = usable[:0] if held_out is None else held_out
    learned_from = np.setdiff1d(usable, held_out)
    rows = RowStep(X, settings, rng)
    labels = LabelPoints(Y, settings, rng)
    if settings.label_scale is None and usable.size:
        # All rows: a label that only held-out rows have is found at its rows, too.
        labels.start_amid(usable, rows.encode(usable))
    stopping = Stopping(Y, held_out, settings.patience)
    epochs = 0
    for epoch, batches in _epochs(learned_from, settings, rng):
        for batch, progress in batches:
            pace = settings.learning_rate * (1.0 if settings.constant_steps else 1.0 - progress)
            U = rows.encode(batch)
            at_rows = labels.descend(batch, U, pace, rng)
            if settings.row_similarity:
                at_rows += settings.row_similarity * labels.gradient_among_rows(batch, U)
            rows.descend(at_rows, pace)
        epochs = epoch + 1
        # Long steps spread rows and labels out, short ones order them: no use to look before.
        late = settings.constant_steps or 2 * epochs >= settings.n_epochs
        if late and stopping.enough(rows, labels, settings.space):
            break
    weights, top, points = stopping.best or (rows.weights, rows.top, labels.points)
    return JointMap(weights, top, points, epochs)


class RowStep:
    """Maps rows of ``X`` to points, and moves the map, touching only what the rows have."""

    def __init__(
        self, X: csr_matrix, settings: HyperbolicSettings, rng: np.random.Generator
    ) -> None:
        self._X = X
        self._settings = settings
        dim, n_hidden = settings.dim, settings.n_hidden
        width = n_hidden or dim
        scale = 1.0 / np.sqrt(width) if settings.map_scale is None else settings.map_scale
        self.weights = rng.standard_normal((X.shape[1], width), dtype=np.float32)
        self.weights *= np.float32(scale)
        self.weights[np.bincount(X.indices, minlength=X.shape[1]) == 0] = 0.0
        self.top: NDArray[np.float32] | None = None
        optimizer = OPTIMIZERS[settings.optimizer]
        self._steps = optimizer(X.shape[1], width)
        if n_hidden:
            self.top = rng.standard_normal((n_hidden, dim), dtype=np.float32)
            self.top /= np.float32(np.sqrt(n_hidden))
            self._top_steps = optimizer(n_hidden, dim)
        most = min(X.shape[1], settings.batch_size * int(np.diff(X.indptr).max(initial=0)))
        self._position = np.full(X.shape[1], -1, dtype=np.int32)
        self._features = np.empty(most, dtype=np.int32)
        self._totals = np.empty((most, width), dtype=np.float32)

    def encode(self, batch: NDArray[np.int64]) -> Floats:
        """Return the points of rows, and remember the rows for ``descend``."""
        X = self._X
        Z: NDArray[Any] = np.empty((batch.size, self.weights.shape[1]), dtype=np.float32)
        encode_rows(X.indptr, X.indices, X.data, batch, self.weights, Z)
        self._hidden = Z
        if self.top is not None:
            self._hidden = np.tanh(Z)
            Z = self._hidden @ self.top
        self._batch = batch
        self._points, self._norms = embed(Z, self._settings.space, self._settings.way)
        return self._points

    def descend(self, gradient: Floats, pace: float) -> None:
        """Take one step against the gradient at the points that ``encode`` returned."""
        settings = self._settings
        factors = self._factors_on_steps()
        gradient = pull_back(
            gradient,
            self._points,
            self._norms,
            settings.space,
            settings.way,
            scaled=factors is None,
        )
        if self.top is not None:
            at_top = self._hidden.T @ gradient
            gradient = (gradient @ self.top.T) * (1.0 - np.square(self._hidden))
            everything = np.arange(len(self.top))
            step = self._top_steps.direction(everything, at_top)
            if factors is not None:
                step = step * factors.mean()
            self.top -= pace * step.astype(np.float32)
        X = self._X
        n_features = kernels.add_up(
            X.indptr,
            X.indices,
            X.data,
            self._batch,
            gradient.astype(np.float32),
            self._position,
            self._features,
            self._totals,
        )
        features = self._features[:n_features]
        step = self._steps.direction(features, self._totals[:n_features])
        if factors is not None:
            step = step * self._mean_of_rows(factors)[features, np.newaxis]
        self.weights[features] -= np.float32(pace) * step

    def _factors_on_steps(self) -> Floats | None:
        """Return ((1 − ‖u‖²)/2)² of the batch's rows, if steps and not slopes have it."""
        settings = self._settings
        if (settings.space, settings.way, settings.row_factor) != ("poincare", "clip", "step"):
            return None
        return np.square(poincare.boundary_gap(self._points)[:, 0] / 2.0)

    def _mean_of_rows(self, values: Floats) -> NDArray[np.float32]:
        """Return the mean of each feature over those rows of the batch that have it."""
        rows = self._X[self._batch]
        n_features = rows.shape[1]
        sums = np.bincount(rows.indices, np.repeat(values, np.diff(rows.indptr)), n_features)
        counts = np.bincount(rows.indices, minlength=n_features)
        return (sums / np.maximum(counts, 1)).astype(np.float32)


class LabelPoints:
    """The points of labels: moves them, and says how rows should move."""

    def __init__(
        self, Y: csr_matrix, settings: HyperbolicSettings, rng: np.random.Generator
    ) -> None:
        self._Y = Y
        self._settings = settings
        self.points = rng.standard_normal((Y.shape[1], settings.dim), dtype=np.float32)
        self.points *= np.float32(settings.label_scale or 1e-3)
        if settings.space == "sphere":
            self.points = sphere.project(self.points)[0]
        if settings.optimizer == "adagrad":
            # Most labels have few rows: they must get to their points in few steps.
            self._steps = AdaGrad(Y.shape[1], settings.dim, first=0.01)
        else:
            self._steps = OPTIMIZERS[settings.optimizer](Y.shape[1], settings.dim)
        self._column = np.full(Y.shape[1], -1, dtype=np.int32)
        self._seen = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))

    def start_amid(self, rows: NDArray[np.int64], U: Floats) -> None:
        """Put each label in the middle of its rows: rare ones out there, frequent ones inside."""
        labels = csr_matrix(self._Y[rows].T)
        self.points[self._seen] = SPACES[self._settings.space].midpoints(labels[self._seen], U)

    def descend(
        self, batch: NDArray[np.int64], U: Floats, pace: float, rng: np.random.Generator
    ) -> Floats:
        """Take one step of the labels and return the gradient at the rows' points ``U``."""
        settings = self._settings
        row_of, given = kernels.entries_of(self._Y.indptr, self._Y.indices, batch)
        drawn = self._seen[rng.integers(self._seen.size, size=settings.n_negatives)]
        candidates = np.unique(np.concatenate((given, drawn)))
        self._column[candidates] = np.arange(candidates.size)
        has = np.zeros((batch.size, candidates.size), dtype=np.bool_)
        has[row_of, self._column[given]] = True
        V = self.points[candidates].astype(np.float64)
        summed = settings.label_loss == "sum"
        weights = None if settings.batch_negatives else np.isin(candidates, drawn).astype(float)
        _, at_rows, at_labels = approach_labels(
            U, V, has, settings.alpha, settings.space, weights, summed=summed
        )
        # The loss is a mean over rows; a step adds up what they want, as row after row would.
        at_labels *= batch.size
        self.points[candidates] = self._moved(V, at_labels, candidates, pace)
        return at_rows * batch.size

    def gradient_among_rows(self, batch: NDArray[np.int64], U: Floats) -> Floats:
        """Return the gradient at ``U`` of what holds rows with similar labels together."""
        settings = self._settings
        summed = settings.label_loss == "sum"
        Y = csr_matrix(self._Y[batch])
        return approach_rows(U, Y, settings.alpha, settings.space, summed=summed)[1]

    def _moved(
        self, V: Floats, gradient: Floats, labels: NDArray[np.int32], pace: float
    ) -> NDArray[np.float32]:
        if self._settings.space == "euclidean":
            return (V - pace * self._steps.direction(labels, gradient)).astype(np.float32)
        if self._settings.space == "sphere":
            ones = np.ones((len(V), 1))
            gradient = sphere.pull_back(gradient, V, ones)  # type: ignore[arg-type, assignment]
            moved = V - pace * self._steps.direction(labels, gradient)
            return sphere.project(moved.astype(np.float32))[0]
        shrink = poincare.boundary_gap(V) / 2.0
        if self._settings.optimizer == "adagrad":
            step = shrink * self._steps.direction(labels, shrink * gradient)
        else:
            step = np.square(shrink) * self._steps.direction(labels, gradient)
        moved = poincare.project(V - pace * step)[0].astype(np.float32)
        norms = np.linalg.norm(moved, axis=1, keepdims=True)
        return np.where(norms > _LARGEST_NORM, moved * (_LARGEST_NORM / norms), moved)


# float32 points nearer to the edge than this would be told apart no more.
_LARGEST_NORM = np.float32(1.0 - poincare.EDGE)


class Stopping:
    """Watches how well held-out rows are embedded, and keeps the best state.

    Measured is the mean of P@1, P@3 and P@5 of the labels nearest to each row.
    """

    def __init__(self, Y: csr_matrix, held_out: NDArray[np.int64], patience: int) -> None:
        self._rows = held_out
        self._truth = Y[held_out]
        self._seen = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
        self._patience = patience
        self._highest = -1.0
        self._waited = 0
        self.best: (
            tuple[NDArray[np.float32], NDArray[np.float32] | None, NDArray[np.float32]] | None
        ) = None

    def enough(self, rows: RowStep, labels: LabelPoints, space: str) -> bool:
        """Tell whether another epoch is not worth it."""
        if not self._rows.size:
            return False
        precision = self._precision(rows.encode(self._rows), labels.points[self._seen], space)
        if precision > self._highest:
            self._highest, self._waited = precision, 0
            top = None if rows.top is None else rows.top.copy()
            self.best = rows.weights.copy(), top, labels.points.copy()
            return False
        self._waited += 1
        return self._waited >= self._patience

    def _precision(self, U: Floats, V: NDArray[np.float32], space: str) -> float:
        k = min(5, len(V))
        found = MetricIndex(space, V, self._seen).search(U, k).ids
        right = np.asarray(self._truth[np.arange(len(U))[:, np.newaxis], found].todense()) > 0
        return float(np.mean([right[:, :at].mean() for at in (1, 3, 5)]))


def _epochs(
    usable: NDArray[np.int64], settings: HyperbolicSettings, rng: np.random.Generator
) -> Iterator[tuple[int, Iterator[tuple[NDArray[np.int64], float]]]]:
    """Yield epochs of batches, each with how far training has come (0 to 1).

    Small corpora get smaller batches and more epochs, so that there are enough steps to learn in.
    """
    if not usable.size:
        return
    size = int(np.clip(usable.size // 16, 16, settings.batch_size))
    per_epoch = max(usable.size // size, 1)
    n_epochs = max(settings.n_epochs, -(-settings.min_steps // per_epoch))
    total = per_epoch * n_epochs

    def batches(epoch: int) -> Iterator[tuple[NDArray[np.int64], float]]:
        for number, batch in enumerate(np.array_split(rng.permutation(usable), per_epoch)):
            yield batch, (epoch * per_epoch + number) / total

    for epoch in range(n_epochs):
        yield epoch, batches(epoch)
