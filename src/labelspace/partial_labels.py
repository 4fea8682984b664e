"""Rows of which only some labels are known: one was said to be right, one wrong, the rest nothing.

A person who marks two of five tags has not said that the others are wrong. A row that was learned
so votes on the labels that were marked and on no other: of a label l that neighbours i with weights
w_i vote for, the share is

    Σ_i w_i [i has l]  /  Σ_i w_i [l is known of i]

and a row that is complete knows all labels. So a label that nobody marked has the share that it
would have if the row had never been learned.

A row that is learned again, with the same features, takes the place of the one before and keeps
its marks: however often one says the same of a text, it is one text.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from labelspace.csr import empty_csr
from labelspace.errors import UsageError
from labelspace.store import Storable, schema
from labelspace.topk import TopK

SAME = 1.0 - 1e-5  # cosine of rows from which on they are one


class Marks(NamedTuple):
    """Labels that are known to be right and wrong of some rows, both (n, n_labels)."""

    right: csr_matrix
    wrong: csr_matrix


class PartialRows(Storable):
    """Which training rows are partial, and what is known of them.

    Parameters
    ----------
    n_features : int

    Attributes
    ----------
    rows : ndarray of shape (n_partial,)
        Numbers of the rows, ascending.
    features : csr_matrix of shape (n_partial, n_features)
        The rows themselves, of length one.
    known : csr_matrix of shape (n_partial, n_labels)
        Labels that were marked, as right or as wrong.
    heard : ndarray of shape (n_partial,)
        1 for rows that vote, 0 for those that a later one took the place of.

    Examples
    --------
    >>> partial = PartialRows(2)
    >>> marks = Marks(csr_matrix([[1.0, 0.0, 0.0]]), csr_matrix([[0.0, 1.0, 0.0]]))
    >>> all_marks, _ = partial.add(csr_matrix([[0.6, 0.8]]), marks, 7, csr_matrix((7, 3)))
    >>> votes = TopK(np.array([[2, 0]]), np.array([[0.5, 0.5]], dtype=np.float32))
    >>> partial.shares(votes, np.array([[3, 7]]), np.array([[0.5, 0.5]], dtype=np.float32)).scores
    array([[1. , 0.5]], dtype=float32)
    """

    _schema: ClassVar[schema.Schema] = {
        "rows": schema.array("int64", "n_partial", low=0, end="rows_end"),
        "features": schema.csr("float32", "n_partial", "n_features"),
        "known": schema.csr("int8", "n_partial", "n_labels"),
        "heard": schema.array("int8", "n_partial", low=0),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if np.any(np.diff(state["rows"]) <= 0):  # a row is looked for by halving
            raise schema.Mismatch("rows do not rise")

    def __init__(self, n_features: int) -> None:
        self.rows = np.zeros(0, dtype=np.int64)
        self.features = empty_csr(0, n_features)
        self.known = empty_csr(0, 0, np.int8)
        self.heard: NDArray[np.int8] = np.zeros(0, dtype=np.int8)

    def add(self, X: csr_matrix, marks: Marks, first: int, Y: csr_matrix) -> tuple[Marks, Marks]:
        """Take in rows from number ``first`` on; ``Y`` has the labels of all rows before.

        Returns all that is known of these rows now, with what was known of the same rows before,
        and what of it was not known before.
        """
        before = self._known_before(X, marks.right.shape, Y)
        right = _union(marks.right, _without(before.right, marks.wrong))
        wrong = _union(marks.wrong, _without(before.wrong, marks.right))
        fresh = Marks(_without(marks.right, before.right), _without(marks.wrong, before.wrong))
        self.known.resize((self.known.shape[0], right.shape[1]))
        known = _union(right, wrong)
        self.rows = np.concatenate((self.rows, np.arange(first, first + X.shape[0])))
        self.features = csr_matrix(vstack([self.features, X], format="csr"), dtype=np.float32)
        self.known = csr_matrix(vstack([self.known, known], format="csr"), dtype=np.int8)
        return Marks(right, wrong), fresh

    def _known_before(self, X: csr_matrix, shape: tuple[int, int], Y: csr_matrix) -> Marks:
        """Return the marks of the same rows that are here already, which vote no more."""
        alike = csr_matrix(X @ self.features.T)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(alike.indptr))
        same = (alike.data >= SAME) & (self.heard[alike.indices] > 0)
        rows, earlier = rows[same], alike.indices[same]
        heard = np.concatenate((self.heard, np.ones(X.shape[0], dtype=np.int8)))
        heard[earlier] = 0
        self.heard = heard
        ones = np.ones(len(rows), dtype=np.float32)
        pick = csr_matrix((ones, (rows, earlier)), shape=(X.shape[0], len(self.rows)))
        of_earlier = csr_matrix(Y[self.rows], dtype=np.float32)
        of_earlier.resize((len(self.rows), shape[1]))
        known = csr_matrix(self.known, dtype=np.float32)
        known.resize((len(self.rows), shape[1]))
        right = csr_matrix(pick @ of_earlier)
        return Marks(right, _without(csr_matrix(pick @ known), right))

    def silenced(self, ids: NDArray[np.int64], weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return weights of votes in which rows that were learned again do not count."""
        silent = self.rows[self.heard == 0]
        if not silent.size:
            return weights
        gone = np.isin(ids, silent)
        if not gone.any():
            return weights
        total = weights.sum(axis=1, keepdims=True)
        weights = np.where(gone, np.float32(0), weights)
        left = weights.sum(axis=1, keepdims=True)
        return np.divide(weights * total, left, out=np.zeros_like(weights), where=left > 0)

    def without_silent(self, X: csr_matrix) -> csr_matrix:
        """Return all training rows, with those emptied that were learned again."""
        is_silent = np.zeros(X.shape[0], dtype=np.bool_)
        is_silent[self.rows[self.heard == 0]] = True
        data = np.where(np.repeat(is_silent, np.diff(X.indptr)), 0, X.data).astype(X.dtype)
        emptied = csr_matrix((data, X.indices, X.indptr), shape=X.shape)
        emptied.eliminate_zeros()
        return emptied

    def are_among(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of some numbers are those of partial rows."""
        return np.isin(ids, self.rows)

    def shares(self, votes: TopK, ids: NDArray[np.int64], weights: NDArray[np.float32]) -> TopK:
        """Return votes as shares of those who know something of the label.

        ``ids`` are the neighbours of each row, and ``weights`` their votes, which sum up to one.
        """
        partial = self.are_among(ids) & (weights > 0)
        touched = np.flatnonzero(partial.any(axis=1))
        if not touched.size:
            return votes
        labels, scores = votes.labels.copy(), votes.scores.copy()
        for row in touched.tolist():
            there = partial[row]
            said = np.zeros(len(self.rows), dtype=np.float32)
            places = np.searchsorted(self.rows, ids[row][there])
            np.add.at(said, places, weights[row][there])
            knowing = np.asarray(said @ self.known).ravel()
            given = labels[row] >= 0
            of_given = labels[row][given]
            inside = of_given < knowing.size
            heard = np.where(inside, knowing[np.where(inside, of_given, 0)], 0.0)
            all_who_know = np.maximum(1.0 - said.sum() + heard, 1e-6)
            scores[row][given] = np.minimum(scores[row][given] / all_who_know, 1.0)
            order = np.argsort(-np.where(given, scores[row], -np.inf), kind="stable")
            labels[row], scores[row] = labels[row][order], scores[row][order]
        return TopK(labels, scores)


# What a method that has partial rows says of its attribute ``partial_``; older models have none.
ATTRIBUTE = schema.maybe(
    schema.optional(
        schema.part(
            "PartialRows",
            rows_end=schema.up_to("n_examples"),
            n_features="n_features",
            n_labels=schema.up_to("n_labels"),
        )
    )
)


def rejected_labels(ranker: Any, rejected: Any, Y: csr_matrix) -> dict[str, csr_matrix]:
    """Return which labels of new rows are known to be wrong, as a matrix like ``Y``, if any is.

    ``rejected`` is given as labels are. Labels that the model does not know are wrong anyway.
    """
    if rejected is None:
        return {}
    if not ranker.takes_partial_labels:
        raise UsageError(
            f"{type(ranker).__name__} learns rows whose labels are all known: leave out 'rejected' "
            "and give all labels of each row, or use a method that learns from some, such as "
            "labelspace."
        )
    wrong = csr_matrix(ranker._labels.encode(rejected, Y.shape[0]), dtype=np.float32)
    wrong = csr_matrix(wrong[:, : Y.shape[1]])
    wrong.resize(Y.shape)
    return {"rejected": _without(wrong, Y)}


def _union(one: csr_matrix, other: csr_matrix) -> csr_matrix:
    found = csr_matrix(one + other, dtype=np.float32)
    found.eliminate_zeros()
    found.data[:] = 1
    return found


def _without(one: csr_matrix, other: csr_matrix) -> csr_matrix:
    """Return the entries of a 0-1 matrix that another has not."""
    there: Any = other.astype(bool)
    found = csr_matrix(one - one.multiply(there), dtype=np.float32)
    found.eliminate_zeros()
    return found
