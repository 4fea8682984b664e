"""The label map: what labels have to do with each other, and a place for each in the unit disk.

Each label gets a profile: the training rows that have it, its weights, or its vector. The cosine
of two profiles says how alike two labels are. From it follow each label's nearest labels, and its
parent: of all labels that are more frequent, the one most like it. In a corpus with a hierarchy
(a law about apples is also one about fruit) parents found so are mostly the true ones.

Labels are laid out by their neighbourhoods (``label_layout``), beginning with the tree of their
parents, which also serves where labels are few. The tree is laid out like a Poincaré disk: each
label gets a slice of the angle of its parent's slice, as large as its subtree, and lies the further
from the middle the rarer it is, with as many labels in each ring as it has room for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from labelspace.base import LabelRanker
from labelspace.label_layout import neighbourhood_layout
from labelspace.topk import topk_csr

N_NEAREST = 10
FEW = 50  # labels below which their tree is drawn
NO_PARENT = -1
# Profiles compared at a time: bounds the memory of a block of similarities.
BLOCK = 1024
# A row with very many labels says little of each pair of them, and costs their number squared.
MAX_LABELS_PER_ROW = 200


class LabelMap(NamedTuple):
    """Where labels lie in the unit disk.

    Attributes
    ----------
    kind : {"poincare", "tree", "neighbourhood"}
        Whether the places are the model's own, in the Poincaré disk, those of the tree, or such
        that labels lie beside those that are most like them.
    labels : ndarray of shape (n_shown,)
        Labels that have training rows, the most frequent first.
    places : ndarray of shape (n_shown, 2)
    """

    kind: str
    labels: NDArray[np.int64]
    places: NDArray[np.float32]


def label_map(estimator: LabelRanker, relations: Relations) -> LabelMap:
    """Return the map of a model's labels, which are related so.

    A model that has vectors of its labels in the Poincaré disk (``label_map_``) shows those. For
    any other labels are laid out beside those that are like them, or, where they are few or nothing
    tells which are alike, as the tree of their parents.
    """
    n_shown = int(np.count_nonzero(relations.counts))
    labels = np.argsort(relations.rank)[:n_shown]
    own = getattr(estimator, "label_map_", None)
    if own is not None and own.shape == (len(relations.rank), 2) and np.isfinite(own).all():
        return LabelMap("poincare", labels, _in_disk(np.asarray(own, dtype=np.float32)[labels]))
    # A parent is more frequent than its child, so that it is shown if the child is.
    parent = relations.parent[labels]
    by_rank = np.where(parent == NO_PARENT, NO_PARENT, relations.rank[parent])
    places = tree_positions(by_rank, np.arange(n_shown))
    near = relations.nearest[labels]
    near = np.where(near >= 0, relations.rank[near], -1)
    near = np.where(near < n_shown, near, -1)
    if n_shown < FEW or not (near >= 0).any():
        return LabelMap("tree", labels, places)
    return LabelMap(
        "neighbourhood", labels, neighbourhood_layout(near, np.asarray(places, dtype=np.float64))
    )


def label_profiles(estimator: LabelRanker) -> csr_matrix | None:
    """Return a row for each label, or None where the model keeps nothing that tells them apart."""
    Y = getattr(estimator, "Y_", None)
    if Y is not None:
        return row_profiles(Y)
    for name in ("label_vectors_", "coef_"):
        found = getattr(estimator, name, None)
        if found is not None and found.shape[0] == estimator.n_labels_:
            return csr_matrix(found)
    return None


class Relations:
    """Nearest labels and parents of all labels.

    Parameters
    ----------
    profiles : csr_matrix or None
        A row for each label that says what it is like.
    counts : ndarray of shape (n_labels,)
    broader : sequence of sequences of int, optional
        For each label those that a vocabulary has above it. The rarest that is more frequent than
        the label is its parent, whatever it is like.

    Attributes
    ----------
    nearest : ndarray of shape (n_labels, N_NEAREST)
        Labels that are most alike, best first; -1 where there are none.
    similarity : ndarray of the same shape
    parent : ndarray of shape (n_labels,)
        -1 where no more frequent label is alike.
    rank : ndarray of shape (n_labels,)
        0 for the most frequent; of equally frequent labels the first has the lower rank.
    counts : ndarray of shape (n_labels,)
        How many rows have each label.
    """

    def __init__(
        self,
        profiles: csr_matrix | None,
        counts: NDArray[np.int64],
        broader: Sequence[Sequence[int]] = (),
    ) -> None:
        n_labels = len(counts)
        self.nearest = np.full((n_labels, N_NEAREST), -1, dtype=np.int64)
        self.similarity = np.zeros((n_labels, N_NEAREST), dtype=np.float32)
        self.parent = np.full(n_labels, NO_PARENT, dtype=np.int64)
        self.counts = counts
        self.rank = np.empty(n_labels, dtype=np.int64)
        self.rank[np.argsort(-counts, kind="stable")] = np.arange(n_labels)
        if profiles is not None:
            unit = _unit_rows(profiles)
            others = csr_matrix(unit.T)
            for start in range(0, n_labels, BLOCK):
                self._relate(start, csr_matrix(unit[start : start + BLOCK] @ others))

        for label, above in enumerate(broader):
            ranks = [(self.rank[one], one) for one in above if self.rank[one] < self.rank[label]]
            if ranks:
                self.parent[label] = max(ranks)[1]

    def _relate(self, start: int, alike: csr_matrix) -> None:
        rows = np.repeat(np.arange(alike.shape[0]) + start, np.diff(alike.indptr))
        alike.data[(rows == alike.indices) | (alike.data <= 0)] = -np.inf
        top = topk_csr(alike, N_NEAREST)
        inside = slice(start, start + alike.shape[0])
        none = ~np.isfinite(top.scores)
        self.nearest[inside] = np.where(none, -1, top.labels)
        self.similarity[inside] = np.where(none, 0.0, top.scores)
        alike.data[self.rank[alike.indices] > self.rank[rows]] = -np.inf
        best = topk_csr(alike, 1)
        found = np.isfinite(best.scores[:, 0])
        self.parent[inside] = np.where(found, best.labels[:, 0], NO_PARENT)


def row_profiles(Y: csr_matrix) -> csr_matrix:
    """Return which rows have each label, but for rows with very many labels."""
    return csr_matrix(_without_long_rows(Y).T)


def _without_long_rows(Y: csr_matrix) -> csr_matrix:
    lengths = np.diff(Y.indptr)
    if not lengths.size or lengths.max() <= MAX_LABELS_PER_ROW:
        return Y
    short: Any = np.flatnonzero(lengths <= MAX_LABELS_PER_ROW)
    return Y[short]


def _unit_rows(matrix: csr_matrix) -> csr_matrix:
    matrix = csr_matrix(matrix, dtype=np.float32)
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    scale: Any = diags(1.0 / np.maximum(length, 1e-12))
    return csr_matrix(scale @ matrix, dtype=np.float32)


def tree_positions(parent: NDArray[np.int64], rank: NDArray[np.int64]) -> NDArray[np.float32]:
    """Lay out a forest whose parents are always of lower rank than their children.

    >>> places = tree_positions(np.array([-1, 0, 0]), np.array([0, 1, 2]))
    >>> np.linalg.norm(places, axis=1).round(2)
    array([0.  , 0.71, 1.  ], dtype=float32)
    """
    n_labels = len(parent)
    if n_labels == 0:
        return np.zeros((0, 2), dtype=np.float32)
    order = np.argsort(rank)  # parents first
    size = np.ones(n_labels)
    for label in order[::-1].tolist():
        if parent[label] != NO_PARENT:
            size[parent[label]] += size[label]
    begin, width = _slices(parent, order, size)
    angle = 2 * np.pi * (begin + width / 2)
    # As many labels in a ring as its area holds; the most frequent one lies in the middle.
    radius = np.sqrt(rank / max(1, n_labels - 1))
    places = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    return places.astype(np.float32)


def _slices(
    parent: NDArray[np.int64], order: NDArray[np.int64], size: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where each label's slice of the full turn begins, and how wide it is (0 to 1)."""
    n_labels = len(parent)
    begin, width = np.zeros(n_labels), np.zeros(n_labels)
    used = np.zeros(n_labels + 1)  # of the parent's slice; the last: of the full turn
    total = np.append(size - 1, size[parent == NO_PARENT].sum())
    for label in order.tolist():
        above = parent[label] if parent[label] != NO_PARENT else n_labels
        share = size[label] / total[above]
        whole, start = (1.0, 0.0) if above == n_labels else (width[above], begin[above])
        begin[label] = start + used[above] * whole
        width[label] = share * whole
        used[above] += share
    return begin, width


def _in_disk(places: NDArray[np.float32]) -> NDArray[np.float32]:
    largest = float(np.linalg.norm(places, axis=1).max(initial=0.0))
    return places / largest if largest > 1.0 else places
