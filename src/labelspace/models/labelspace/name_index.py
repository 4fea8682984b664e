"""Names of labels as evidence: how much of a name a row has, and what that has been worth.

A name is a set of features. A word that few rows have tells more than one that most have, so its
weight in a name is its inverse document frequency; features that mean the same (words of a stem)
count as one. Training rows tell how far a name can be trusted: of those that have all of it, how
many have the label.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from labelspace.csr import empty_csr
from labelspace.label_features import LabelFeatures
from labelspace.models.labelspace import _name_kernels as kernels
from labelspace.store import Storable, schema

N_FIGURES = kernels.N_FIGURES


class NameIndex(Storable):
    """The names of all labels, ready to be found in rows.

    Parameters
    ----------
    named : LabelFeatures
        Checked, with a label and features for each row.
    X : csr_matrix of shape (n_examples, n_features)
        Rows that say how rare features are.
    n_labels : int

    Attributes
    ----------
    names : csr_matrix of shape (n_names, n_features)
        Weights of the features of each name, which add up to 1; names go by label.
    names_of : ndarray of shape (n_labels + 1,)
        Where the names of each label begin.
    label_of : ndarray of shape (n_names,)
        The label of each name.
    information : ndarray of shape (n_names,)
        How much it tells that a row has all of a name.
    counts : ndarray of shape (n_names, 2)
        How many training rows have all of a name, and how many of these its label.
    """

    _schema: ClassVar[schema.Schema] = {
        "names": schema.csr("float32", "n_names", "n_features"),
        "names_of": schema.offsets("n_labels", "n_names"),
        "label_of": schema.array("int64", "n_names", low=0, below="n_labels"),
        "alike": schema.array("int64", "n_features", low=0, below="n_features"),
        "weights": schema.array("float32", "n_features", low=0),
        "information": schema.array("float32", "n_names"),
        "counts": schema.array("int64", "n_names", 2, low=0),
        "by_rarest_ptr": schema.offsets("n_features", "n_listed"),
        "by_rarest": schema.array("int64", "n_listed", low=0, below="n_names"),
    }

    def __init__(self, named: LabelFeatures, X: csr_matrix, n_labels: int) -> None:
        assert named.alike is not None
        self.alike = named.alike
        self.weights = _rarity(X, self.alike)
        self.names_of: NDArray[np.int64] = np.zeros(1, dtype=np.int64)
        self.label_of: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.names = empty_csr(0, X.shape[1])
        self.counts: NDArray[np.int64] = np.zeros((0, 2), dtype=np.int64)
        self.add(named, n_labels)

    @property
    def n_labels(self) -> int:
        return len(self.names_of) - 1

    def add(self, named: LabelFeatures | None, n_labels: int) -> None:
        """Take in names of labels, old or new; labels without any have none."""
        if named is None and n_labels == self.n_labels:
            return
        rows, labels = self.names, self.label_of
        if named is not None:
            made = _names(named, self.alike, self.weights)
            rows, labels = (
                vstack([rows, made], format="csr"),
                np.concatenate((labels, named.labels)),
            )
        order = np.argsort(labels, kind="stable")
        self.names = csr_matrix(rows[order], dtype=np.float32)
        self.label_of = labels[order].astype(np.int64)
        self.names_of = np.searchsorted(self.label_of, np.arange(n_labels + 1)).astype(np.int64)
        more = np.zeros((len(labels) - len(self.counts), 2), dtype=np.int64)
        self.counts = np.concatenate((self.counts, more))[order]
        self._make_lists()

    def learn(self, X: csr_matrix, Y: csr_matrix) -> Any:
        """Return the counts of names with rows and their labels added."""
        counts = self.counts.copy()
        kernels.count_names(*_arrays(X), *self._lists, Y.indptr, Y.indices, counts)
        return counts

    def find(self, X: csr_matrix, n_labels: int) -> NDArray[np.int64]:
        """Return labels whose whole name a row has, those that tell most first; -1 for none."""
        labels = np.full((X.shape[0], n_labels), -1, dtype=np.int64)
        scores = np.zeros(labels.shape, dtype=np.float32)
        kernels.find_names(*_arrays(X), *self._lists, self.information, labels, scores)
        return labels

    def figures(self, X: csr_matrix, labels: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return what names say for candidates, (n, n_candidates, N_FIGURES)."""
        figures = np.zeros((*labels.shape, N_FIGURES), dtype=np.float32)
        kernels.compare_names(
            *_arrays(X),
            self.alike,
            self.names.indptr,
            self.names.indices,
            self.names.data,
            self.names_of,
            self.information,
            self.counts,
            labels,
            figures,
        )
        return figures

    def words_in(
        self, row: csr_matrix, label: int
    ) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
        """Return the features of a row that are in the best name of a label, and their weights."""
        best: tuple[Any, Any] = row.indices[:0], np.zeros(0, dtype=np.float32)
        for name in range(*self.names_of[label : label + 2].tolist()):
            own = slice(*self.names.indptr[name : name + 2].tolist())
            weight_of = dict(zip(self.names.indices[own], self.names.data[own], strict=True))
            weights = np.array([weight_of.get(self.alike[one], 0.0) for one in row.indices])
            if weights.sum() > best[1].sum():
                best = row.indices[weights > 0], weights[weights > 0].astype(np.float32)
        return best

    @property
    def _lists(self) -> tuple[NDArray[Any], ...]:
        return (
            self.alike,
            self.names.indptr,
            self.names.indices,
            self.by_rarest_ptr,
            self.by_rarest,
            self.label_of,
        )

    def _make_lists(self) -> None:
        """Put each name that a row can have all of under its feature that fewest names have."""
        names = self.names
        told = self.weights[names.indices]
        owner = np.repeat(np.arange(names.shape[0]), np.diff(names.indptr))
        self.information = np.bincount(owner, told, names.shape[0]).astype(np.float32)
        n_names = np.bincount(names.indices, minlength=names.shape[1])[names.indices]
        # By name, then by how many names have the feature: the first of each name is the rarest.
        order = np.lexsort((names.indices, n_names, owner))
        rarest = names.indices[order][names.indptr[:-1]]
        is_known = np.bincount(owner, names.data, names.shape[0]) > kernels.WHOLE
        listed = np.flatnonzero(is_known)
        self.by_rarest = listed[np.argsort(rarest[listed], kind="stable")].astype(np.int64)
        counts = np.bincount(rarest[listed], minlength=names.shape[1])
        self.by_rarest_ptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


def _arrays(X: csr_matrix) -> tuple[NDArray[np.integer], ...]:
    return X.indptr, X.indices, np.ascontiguousarray(X.data, dtype=np.float32)


def _rarity(X: csr_matrix, alike: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return how much each feature tells: ln((1 + n) / (1 + n_f)) and a little."""
    in_rows = np.minimum(np.bincount(alike[X.indices], minlength=X.shape[1]), X.shape[0])
    return (np.log((1.0 + X.shape[0]) / (1.0 + in_rows)) + 0.1).astype(np.float32)


def _names(
    named: LabelFeatures, alike: NDArray[np.int64], weights: NDArray[np.float32]
) -> csr_matrix:
    """Return names with the weight of each feature, adding up to 1 where all words are known."""
    rows = named.rows
    ends = rows.indptr.copy()  # which the next line but one moves
    taken = csr_matrix((np.ones(rows.nnz), alike[rows.indices], ends), shape=rows.shape)
    taken.sum_duplicates()
    told = weights[taken.indices].astype(np.float64)
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(taken.indptr))
    total = np.bincount(owner, told, rows.shape[0])
    if named.n_unknown is not None:
        total += weights.max(initial=1.0) * named.n_unknown  # no row has them: rarest of all
    told /= total[owner]
    return csr_matrix((told.astype(np.float32), taken.indices, taken.indptr), shape=rows.shape)
