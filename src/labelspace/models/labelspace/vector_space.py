"""The encoder's own space as evidence: where labels lie in it, and what they are called.

The learned space and the classifiers read the encoder's vectors together with the words, and fit
them to the labels of the training rows. What the encoder knew before says something else: a label
lies in the middle of its rows, however few these are, and names of labels have vectors as well,
which reach labels without any row. Rows near by have no vote here, since they add nothing to those
in the learned space.

Encoders put all texts into a narrow cone and spend most of the length of a vector on few
directions. Vectors are centred, turned into their principal axes and divided by the fourth root of
the variance there (half way to whitening), which makes what is near better than either end does;
names, which lie elsewhere than texts, are centred by themselves.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.csr import split_dense
from labelspace.models.labelspace import _vector_kernels as kernels
from labelspace.models.labelspace.candidates import LabelCentroids
from labelspace.search.ivf import IVFIndex
from labelspace.spaces import sphere
from labelspace.store import Storable, schema

N_FIGURES = kernels.N_FIGURES
NAME = 1  # of the figures: the cosine with the nearest name
MOST_DIM = 256
N_NAMED = 10  # labels that names near by add to the candidates
FEWEST_NAMES = 50  # from which on it can be told where names lie
_AXES_FROM = 20_000  # rows that tell the principal axes
_FLATTENED = 0.25


class VectorSpace(Storable):
    """Labels and their names in the space of an encoder.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
        Rows whose last ``n_dense`` columns are vectors of the encoder.
    Y : csr_matrix of shape (n_examples, n_labels)
    n_dense : int
    seed : int

    Attributes
    ----------
    middle : ndarray of shape (n_dense,)
        Mean of the rows' vectors.
    axes : ndarray of shape (n_dense, dim)
        From a vector to the space.
    centroids : LabelCentroids
        Where labels lie; see ``place_labels``.
    names : IVFIndex, or None
        Names of labels, each under the column of its label.
    name_middle : ndarray of shape (n_dense,)
        Mean of the names' vectors.
    """

    _schema: ClassVar[schema.Schema] = {
        "middle": schema.array("float32", "n_dense"),
        "axes": schema.array("float32", "n_dense", "dim"),
        "centroids": schema.part("LabelCentroids", n_labels="n_labels", dim="dim"),
        "names": schema.optional(
            schema.part("IVFIndex", dim="dim", ids_end=schema.up_to("n_labels"))
        ),
        "name_middle": schema.array("float32", "n_dense"),
    }

    # Sorting all names would be the longest part of a single answer: see ``_names_by_label``.
    _sorted_names: tuple[tuple[int, int], tuple[NDArray[Any], ...]] | None = None

    def __init__(self, X: csr_matrix, Y: csr_matrix, n_dense: int, seed: int = 0) -> None:
        vectors = split_dense(X, n_dense)[1]
        there = np.flatnonzero(vectors.any(axis=1))
        some = np.random.default_rng(seed).permutation(there)[:_AXES_FROM]
        self.middle, self.axes = _principal_axes(vectors[some])
        self.name_middle = self.middle
        self.names: IVFIndex | None = None
        self.place_labels(X, Y)

    @property
    def n_dense(self) -> int:
        return len(self.middle)

    @property
    def n_labels(self) -> int:
        return len(self.centroids.vectors)

    def encode(self, X: csr_matrix) -> NDArray[np.float32]:
        """Return rows in the space, of length one; zeros for those without a vector."""
        return self._placed(split_dense(X, self.n_dense)[1], self.middle)

    def place_labels(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Put labels into the middle of their rows."""
        self.centroids = LabelCentroids(sphere.keys(np.asarray(Y.T @ self.encode(X), np.float32)))

    def name_labels(self, vectors: NDArray[np.floating], labels: NDArray[np.int64]) -> None:
        """Take in vectors of names, each of the label of some column."""
        vectors = np.asarray(vectors, dtype=np.float32)
        there = vectors.any(axis=1)
        vectors, labels = vectors[there], labels[there]
        if self.names is not None:
            self.names.add(self._placed(vectors, self.name_middle), labels)
            return
        if len(vectors) >= FEWEST_NAMES:
            self.name_middle = sphere.keys(vectors).mean(axis=0)
        if len(vectors):
            self.names = IVFIndex(self._placed(vectors, self.name_middle), labels)

    def learn_on(self, X: csr_matrix, Y: csr_matrix, counts: Any) -> None:
        """Let new rows pull at their labels, old or new; ``counts`` has all rows."""
        labels = np.union1d(Y.indices, np.arange(self.n_labels, Y.shape[1]))
        of_each = csr_matrix(Y[:, labels].T)
        before = np.maximum(counts[labels] - np.diff(of_each.indptr), 0)
        self.centroids.move(labels, before, np.asarray(of_each @ self.encode(X), np.float32))

    def proposed(self, queries: NDArray[np.float32], others: NDArray[np.int64]) -> Any:
        """Return the labels in ``others`` and those whose names are near to rows, each once."""
        if self.names is None:
            return others
        named = self.names.search(queries, N_NAMED).ids
        named[~queries.any(axis=1)] = -1  # what lies nowhere is near to nothing
        joined = np.empty((len(others), others.shape[1] + named.shape[1]), dtype=np.int64)
        kernels.join_lists(others, named, joined)
        return joined

    def figures(
        self, queries: NDArray[np.float32], labels: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return how near rows are to candidates' centroids and names, (n, n_candidates, 2)."""
        figures: NDArray[np.float32] = np.zeros((*labels.shape, N_FIGURES), dtype=np.float32)
        of_labels = self.centroids.vectors, self.centroids.scales
        kernels.compare(queries, *of_labels, *self._names_by_label(), labels, figures)
        return figures

    def _names_by_label(self) -> tuple[NDArray[Any], ...]:
        """Return vectors of names and their scales, and which are those of each label."""
        index = self.names
        if index is None:
            shape = (0, self.axes.shape[1])
            nothing, of_none = np.zeros(0, np.int64), np.zeros(self.n_labels + 1, np.int64)
            return np.zeros(shape, np.int8), np.zeros(0, np.float32), nothing, of_none
        sizes = len(index.ids), self.n_labels
        if self._sorted_names is None or self._sorted_names[0] != sizes:
            by_label = np.argsort(index.ids, kind="stable")
            names_of = np.searchsorted(index.ids[by_label], np.arange(self.n_labels + 1))
            self._sorted_names = sizes, (by_label, names_of.astype(np.int64))
        return index.keys, index.scales, *self._sorted_names[1]

    def _to_state(self) -> dict[str, Any]:
        state = super()._to_state()
        state.pop("_sorted_names", None)
        return state

    def _placed(
        self, vectors: NDArray[np.float32], middle: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        there = vectors.any(axis=1)
        away = np.asarray(sphere.keys(vectors) - middle, dtype=np.float32)
        placed = sphere.keys(away @ self.axes)
        placed[~there] = 0.0
        return placed


def _principal_axes(
    vectors: NDArray[np.float32],
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the mean of unit vectors, and the axes that vary most, the varying ones shortened."""
    unit = sphere.keys(vectors)
    middle = unit.mean(axis=0)
    away = (unit - middle).astype(np.float64)
    variance, axes = np.linalg.eigh(away.T @ away / max(len(away), 1))
    kept = slice(None, -MOST_DIM - 1, -1)
    variance, axes = variance[kept], axes[:, kept]
    scales = np.where(variance > 1e-9, variance, np.inf) ** -_FLATTENED
    return middle.astype(np.float32), np.ascontiguousarray(axes * scales, dtype=np.float32)
