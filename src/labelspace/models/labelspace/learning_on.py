"""How LabelSpace learns on: new rows, new labels, and new names of labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelspace.base import LabelRanker
from labelspace.csr import NamedColumns, empty_csr
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import Learner
from labelspace.errors import DataError
from labelspace.label_features import LabelFeatures, NameVectors
from labelspace.labels import with_rows
from labelspace.linear.incremental import learn_on
from labelspace.models.labelspace.candidates import LabelCentroids
from labelspace.models.labelspace.evidence import vote
from labelspace.models.labelspace.label_partners import updated_partners
from labelspace.models.labelspace.leaf_mates import LeafMates
from labelspace.models.labelspace.learners import (
    add_rows,
    encode,
    find_neighbors,
    update_spaces,
)
from labelspace.models.labelspace.name_index import NameIndex
from labelspace.models.labelspace.reservoir import update_reservoir
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.models.labelspace.vector_space import VectorSpace
from labelspace.partial_labels import Marks, PartialRows
from labelspace.search.sparse import SparseIndex
from labelspace.selection import usable_rows

Model = TypeVar("Model", bound="LearnsOn")


class LearnsOn(LabelRanker, ABC):
    """What a fitted LabelSpace does with more rows and labels."""

    settings_: LabelSpaceSettings
    rows_: UnitRows
    Y_: csr_matrix
    learners_: list[Learner]
    mates_: LeafMates | None = None
    C_: float
    classifiers_: SparseIndex
    label_centroids_: LabelCentroids
    names_: NameIndex | None
    vectors_: VectorSpace | None = None
    partners_: csr_matrix
    reservoir_: csr_matrix
    partial_: PartialRows | None = None

    takes_partial_labels = True

    def partial_fit(
        self: Model,
        X: Any,
        Y: Any,
        classes: Any = None,
        label_features: Any = None,
        rejected: Any = None,
    ) -> Model:
        """Learn on from new rows; ``label_features`` are names of labels, old or new.

        Where ``rejected`` is given, labels that a row has neither in it nor in ``Y`` are unknown,
        and the row says nothing of them. See :meth:`labelspace.base.LabelRanker.partial_fit`.
        """
        return self._learn_on(X, Y, rejected, label_features=label_features)

    def add_labels(self: Model, names: Sequence[str], label_features: Any) -> Model:
        """Take in labels that no row has, by their names alone.

        Parameters
        ----------
        names : sequence of str
            What they are called; a model of numbered labels takes their number alone from it.
        label_features : sparse array of shape (n_names, n_features) or LabelFeatures
            Their names as rows of the features that the model learned from, one for each.
        """
        check_is_fitted(self, "_labels")
        first = self.n_labels_
        vectors = getattr(label_features, "vectors", None)
        rows = csr_matrix(getattr(label_features, "rows", label_features), dtype=np.float32)
        if rows.shape[0] != len(names):
            raise DataError(
                f"There are {len(names)} names of labels but {rows.shape[0]} rows of features: "
                "give one for each."
            )
        widened = empty_csr(0, first + len(names))
        own = self._labels.names
        with self._all_or_nothing():
            self._labels.learn(widened if own is None else NamedColumns(widened, [*own, *names]))
            self._set_label_counts(self.label_counts_, self.n_examples_, widened)
            new = np.arange(first, self.n_labels_)
            told = None if vectors is None else NameVectors(vectors.values, new[vectors.labels])
            self._add_columns(LabelFeatures(rows, new, vectors=told))
        return self

    @abstractmethod
    def _fit(
        self, X: csr_matrix, Y: csr_matrix, label_features: Any = None, groups: Any = None
    ) -> None: ...

    def _label_features(self, given: Any) -> LabelFeatures | None:
        """Return names of labels as their index takes them, or none."""
        if given is None:
            return None
        named = LabelFeatures.of(given, self.n_labels_, self.n_features_in_)
        return named if len(named.labels) else None

    def _update_vectors(self, X: csr_matrix, Y: csr_matrix, label_features: Any) -> None:
        """Let new rows move labels in the encoder's space, and take in names."""
        if self.vectors_ is not None:
            self.vectors_.learn_on(X, Y, self.label_counts_)
        self._name_vectors(label_features)

    def _name_vectors(self, given: Any) -> None:
        """Put vectors of names, if they come with the names of labels, into the encoder's space."""
        vectors = getattr(given, "vectors", None)
        if self.vectors_ is None or vectors is None:
            return
        if vectors.values.shape[1] != self.vectors_.n_dense:
            raise DataError(
                f"label_features has vectors of {vectors.values.shape[1]} numbers, but rows end "
                f"with {self.vectors_.n_dense}: make them with the same encoder."
            )
        self.vectors_.name_labels(vectors.values, vectors.labels)

    def _partial_fit(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        label_features: Any = None,
        rejected: csr_matrix | None = None,
    ) -> None:
        """Put the rows into the spaces, then train the classifiers of their labels on."""
        seed = int(check_random_state(self.random_state).randint(1 << 30))
        how: dict[str, Any] = {"n_threads": self.n_threads, "seed": seed}
        X = self.rows_.encode(X)
        if rejected is not None:
            self._learn_marks(X, Marks(Y, rejected), **how)
            self._update_names(X[:0], Y[:0], label_features)
            self._update_vectors(X, Y, label_features)
            return
        n_old = self.Y_.shape[0]
        self.Y_ = with_rows(self.Y_, Y)
        update_spaces(self.learners_, X, self.Y_, self.settings_, **how)
        self._add_mates(X, Y, n_old)
        self._update_classifiers(X, Y, n_old, **how)
        self._update_names(X, Y, label_features)
        self._update_vectors(X, Y, label_features)
        size = self.settings_.reservoir_size
        self.reservoir_ = update_reservoir(self.reservoir_, n_old, X, size, seed)

    def _learn_marks(self, X: csr_matrix, marks: Marks, **how: Any) -> None:
        """Learn rows of which only some labels are known; the spaces stay as they are."""
        n_old = self.Y_.shape[0]
        partial = PartialRows(X.shape[1]) if self.partial_ is None else self.partial_
        known, fresh = partial.add(X, marks, n_old, self.Y_)
        self.partial_ = partial
        self.Y_ = with_rows(self.Y_, known.right)
        # A text that is taught again is no further example of the labels that it had.
        n_labels = marks.right.shape[1]
        given, counted = (
            np.bincount(one.indices, minlength=n_labels) for one in (marks.right, fresh.right)
        )
        self.label_counts_ = self.label_counts_ - given + counted
        self._train_on(X, *fresh, encode(self.learners_, X), is_partial=True, **how)
        marked = csr_matrix(known.right + known.wrong)
        add_rows(self.learners_, X, marked, n_old)
        self._add_mates(X, marked, n_old)

    def _add_mates(self, X: csr_matrix, Y: csr_matrix, first: int) -> None:
        """Put rows, numbered from ``first`` on, into the leaves of trees, if they have labels."""
        if self.mates_ is not None:
            voters = usable_rows(X, Y)
            self.mates_.add(csr_matrix(X[voters]), first + voters)

    def _update_classifiers(self, X: csr_matrix, Y: csr_matrix, n_old: int, **how: Any) -> None:
        """Train the classifiers of the labels in ``Y`` on, against what neighbours propose."""
        told = self.settings_
        found, Z = find_neighbors(self.learners_, X, told.update_neighbors)
        own = np.arange(n_old, n_old + X.shape[0])
        votes = vote(found, self.Y_, told.update_negatives, told.vote_gamma, own)
        self._train_on(X, Y, votes.to_csr(Y.shape[1]), Z, is_partial=False, **how)

    def _train_on(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        negatives: csr_matrix,
        Z: NDArray[np.float32],
        *,
        is_partial: bool,
        **how: Any,
    ) -> None:
        """Move the centroids of the labels in ``Y`` and train their classifiers on."""
        told, n_old = self.settings_, self.Y_.shape[0] - X.shape[0]
        marked = (Y.indices, negatives.indices) if is_partial else (Y.indices,)
        new = np.arange(self.classifiers_.n_keys, Y.shape[1])
        labels = np.unique(np.concatenate((*marked, new)))
        if not labels.size:
            return
        of_each = csr_matrix(Y[:, labels].T)
        before = self.label_counts_[labels] - np.diff(of_each.indptr)
        self.label_centroids_.move(labels, before, np.asarray(of_each @ Z))
        learned = learn_on(
            X,
            Y,
            negatives,
            labels,
            before,
            self.classifiers_,
            self.reservoir_,
            C=self.C_,
            n_examples=n_old,
            min_weight=told.min_weight,
            is_partial=is_partial,
            **how,
        )
        self.classifiers_.put(labels, *learned)
        self.partners_ = updated_partners(self.partners_, self.Y_, told.n_partners, labels)

    def _add_columns(self, named: LabelFeatures) -> None:
        self.Y_ = with_rows(self.Y_, empty_csr(0, self.n_labels_, np.int8))
        new = np.arange(self.classifiers_.n_keys, self.n_labels_)
        biases = np.full(new.size, -1.0, dtype=np.float32)  # as of any label without rows
        self.classifiers_.put(new, empty_csr(new.size, self.n_features_in_), biases)
        dim = self.label_centroids_.vectors.shape[1]
        self.label_centroids_.move(new, np.zeros_like(new), np.zeros((new.size, dim), np.float32))
        n_partners = self.settings_.n_partners
        self.partners_ = updated_partners(self.partners_, self.Y_, n_partners, new)
        self._update_names(empty_csr(0, self.n_features_in_), self.Y_[:0], named)
        self._update_vectors(empty_csr(0, self.n_features_in_), csr_matrix(self.Y_[:0]), named)

    def _update_names(self, X: csr_matrix, Y: csr_matrix, label_features: Any) -> None:
        """Take in what labels are called, and how far names can be trusted on new rows."""
        named = self._label_features(label_features)
        if self.names_ is None and named is not None:
            self.names_ = NameIndex(named, self.reservoir_, Y.shape[1])
        elif self.names_ is not None:
            self.names_.add(named, Y.shape[1])
        if self.names_ is not None:
            self.names_.counts = self.names_.learn(X, Y)
