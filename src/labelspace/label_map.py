"""The label map: what labels have to do with each other, and a place for each in the unit disk.

Each label gets a profile: the training rows that have it, its weights, or its vector. The cosine
of two profiles says how much two labels go together. From it follows each label's parent: of all
labels that are more frequent, the one that goes with it most. In a corpus with a hierarchy (a law
about apples is also one about fruit) parents found so are mostly the true ones.

Nearest labels are those that keep the same company. Tiger and lion never stand in one row, but go
with the same labels; and each label of a hierarchy goes with the few at its top, which are near to
none. So a label's company is the vector of its largest cosines, itself included, each weighted
by how few labels have that one in their company, and the cosine of two companies is how alike
two labels are.

Labels are laid out by their neighbourhoods (``label_layout``), beginning with the tree of their
parents, which also serves where labels are few. The tree is laid out like a Poincaré disk: each
label gets a slice of the angle of its parent's slice, as large as its subtree, and lies the further
from the middle the rarer it is, with as many labels in each ring as it has room for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, diags

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
# A label's company is so many labels, but not more than a tenth of all: with everybody as company
# none differs. One that is in the company of very many says nothing of any of them, and costs
# their number squared.
N_COMPANY = 32
MAX_COMPANIES = 500


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
        Labels whose company is most alike, best first; -1 where there are none.
    similarity : ndarray of the same shape
    parent : ndarray of shape (n_labels,)
        -1 where no more frequent label goes with it.
    company : csr_matrix of shape (n_labels, n_labels)
        Rows by which labels are alike, of length one; without columns where nothing is known.
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
        self.company: csr_matrix = csr_matrix(np.zeros((n_labels, 0), dtype=np.float32))
        self.counts = counts
        self.rank = np.empty(n_labels, dtype=np.int64)
        self.rank[np.argsort(-counts, kind="stable")] = np.arange(n_labels)
        if profiles is not None:
            together = np.zeros((n_labels, N_COMPANY), dtype=np.float32)
            company = np.full((n_labels, N_COMPANY), -1, dtype=np.int64)
            for inside, alike in _cosines(_unit_rows(profiles)):
                company[inside], together[inside] = _largest(alike, N_COMPANY)
                self._find_parents(inside, alike)
            n_company = min(N_COMPANY, n_labels // 10)
            companies = _companies(company[:, :n_company], together[:, :n_company])
            self.company = _unit_rows(companies)
            for inside, alike in _cosines(self.company):
                alike.data[_rows(inside, alike) == alike.indices] = -np.inf
                self.nearest[inside], self.similarity[inside] = _largest(alike, N_NEAREST)
            # A label whose whole company goes with very many is near those that it goes with.
            for label in np.flatnonzero((self.nearest < 0).all(axis=1)):
                others = company[label] != label
                self.nearest[label] = company[label, others][:N_NEAREST]
                self.similarity[label] = together[label, others][:N_NEAREST]

        for label, above in enumerate(broader):
            ranks = [(self.rank[one], one) for one in above if self.rank[one] < self.rank[label]]
            if ranks:
                self.parent[label] = max(ranks)[1]

    def _find_parents(self, inside: slice, alike: csr_matrix) -> None:
        rows = _rows(inside, alike)
        alike.data[self.rank[alike.indices] >= self.rank[rows]] = -np.inf
        self.parent[inside] = _largest(alike, 1)[0][:, 0]


def _cosines(unit: csr_matrix) -> Iterator[tuple[slice, csr_matrix]]:
    """Yield the products of some rows with all, block by block."""
    others = csr_matrix(unit.T)
    for start in range(0, unit.shape[0], BLOCK):
        block = csr_matrix(unit[start : start + BLOCK] @ others)
        yield slice(start, start + block.shape[0]), block


def _rows(inside: slice, alike: csr_matrix) -> NDArray[np.int64]:
    return np.repeat(np.arange(inside.start, inside.stop), np.diff(alike.indptr))


def _largest(alike: csr_matrix, k: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the labels with the largest cosines above 0, and these; -1 and 0 where none is."""
    top = topk_csr(alike, k)
    none = ~(top.scores > 0)
    return np.where(none, -1, top.labels), np.where(none, 0.0, top.scores)


def _companies(company: NDArray[np.int64], together: NDArray[np.float32]) -> csr_matrix:
    """Return a row for each label: with whom it goes, labels that go with few counting most."""
    n_labels = len(company)
    there = company >= 0
    n_companies = np.bincount(company[there], minlength=n_labels)
    weight = np.log((1 + n_labels) / np.maximum(n_companies, 1))
    weight[n_companies > MAX_COMPANIES] = 0.0
    label = np.nonzero(there)[0]
    # The root brings those that go with it seldom nearer to those that always do.
    data = np.sqrt(together[there]) * weight[company[there]]
    found = coo_matrix((data, (label, company[there])), shape=(n_labels, n_labels))
    return csr_matrix(found, dtype=np.float32)


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
