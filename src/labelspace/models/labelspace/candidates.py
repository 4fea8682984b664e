"""What speaks for a label on a row: votes of neighbours, its classifier, and where it lies.

A row's candidates are the labels that its neighbours vote for and those whose classifiers score
highest. Classifiers are kept by feature, so a row's scores for all labels cost no more than the
weights that its own features have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.csr import split_dense
from labelspace.models.labelspace import _candidate_kernels as kernels
from labelspace.models.labelspace import _support_kernels as support_kernels
from labelspace.models.labelspace.impact_index import ImpactIndex
from labelspace.models.labelspace.name_index import N_FIGURES, NameIndex
from labelspace.models.labelspace.scratch import places
from labelspace.search.result import SearchResult
from labelspace.search.sparse import SparseIndex
from labelspace.spaces import sphere
from labelspace.spaces.quantized import dequantized, quantized
from labelspace.store import Storable, schema
from labelspace.topk import TopK

if TYPE_CHECKING:
    from labelspace.models.labelspace.vector_space import VectorSpace

_MARGINS_AT_ONCE = 1 << 22
_SOME_LABELS = 1 << 13


class Candidates(NamedTuple):
    """Candidates of each row, all (n, n_candidates); -1 where a row has fewer.

    ``margins`` are scores of the classifiers, ``shares`` shares of the votes, ``cosines`` those of
    row and label in all spaces together, ``nearest`` those of the row and its nearest voter for the
    label, of which there are ``n_voters``. ``names`` has what its names say for a label, (n,
    n_candidates, N_FIGURES); zeros where none is in the row. ``vectors`` has what an encoder's
    space says for it, where there is one, else no figures. ``rows`` says what is known of each row,
    (n, 4): how near its neighbours are (the nearest, the mean of five and of twenty), and how long
    it is.
    """

    labels: NDArray[np.int64]
    margins: NDArray[np.float32]
    shares: NDArray[np.float32]
    cosines: NDArray[np.float32]
    nearest: NDArray[np.float32]
    n_voters: NDArray[np.float32]
    names: NDArray[np.float32]
    vectors: NDArray[np.float32]
    rows: NDArray[np.float32]

    def some(self, chosen: NDArray[np.bool_]) -> Candidates:
        """Return the candidates of some rows."""
        return Candidates._make(np.ascontiguousarray(part[chosen]) for part in self)


class LabelCentroids(Storable):
    """Unit vectors of labels, as eight-bit integers; a label that lies nowhere has zeros."""

    _schema: ClassVar[schema.Schema] = {
        "vectors": schema.array("int8", "n_labels", "dim"),
        "scales": schema.array("float32", "n_labels"),
    }

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self.vectors, self.scales = quantized(vectors, "int8")

    @classmethod
    def amid(cls, Y: csr_matrix, Z: NDArray[np.float32]) -> LabelCentroids:
        """Put each label in the middle of its rows, whose vectors are ``Z``.

        Some labels at a time: as floats, their vectors may be larger than all else.
        """
        rows_of, n_labels = csr_matrix(Y.T), Y.shape[1]
        made = cls(np.zeros((0, Z.shape[1]), dtype=np.float32))
        made.vectors = np.empty((n_labels, Z.shape[1]), dtype=np.int8)
        made.scales = np.empty(n_labels, dtype=np.float32)
        for start in range(0, n_labels, _SOME_LABELS):
            some = slice(start, start + _SOME_LABELS)
            sums = np.asarray(rows_of[some] @ Z, dtype=np.float32)
            made.vectors[some], made.scales[some] = quantized(sphere.keys(sums), "int8")
        return made

    def move(
        self,
        labels: NDArray[np.integer],
        n_rows: NDArray[np.integer],
        sums: NDArray[np.float32],
    ) -> None:
        """Let new rows pull at labels, old or new.

        ``n_rows`` counts the rows in whose middle each label lies, ``sums`` adds up the vectors of
        its new rows.
        """
        n_more = int(labels.max(initial=-1)) + 1 - len(self.vectors)
        if n_more > 0:
            zeros = np.zeros((n_more, self.vectors.shape[1]), dtype=self.vectors.dtype)
            self.vectors = np.concatenate((self.vectors, zeros))
            self.scales = np.concatenate((self.scales, np.ones(n_more, dtype=np.float32)))
        else:
            # In new arrays: who holds the old ones, to go back to them, finds them as they were.
            self.vectors, self.scales = self.vectors.copy(), self.scales.copy()
        before = dequantized(self.vectors[labels], self.scales[labels])
        moved = sphere.keys(before * n_rows[:, np.newaxis].astype(np.float32) + sums)
        self.vectors[labels], self.scales[labels] = quantized(moved, "int8")


class Neighbors(NamedTuple):
    """Training rows near each row: who they are, their cosines, and what each vote counts.

    ``complete`` tells which of them have all their labels known; all unless given.
    """

    found: SearchResult
    weights: NDArray[np.float32]
    complete: NDArray[np.bool_] | None = None

    @property
    def nearness(self) -> NDArray[np.float32]:
        """The cosine of the nearest, and the means of five and of twenty: (n, 3)."""
        cosines, weights = self.found.products, self.weights
        if self.complete is not None:
            weights = np.where(self.complete, weights, np.float32(0.0))
        if not cosines.shape[1]:
            return np.zeros((len(cosines), 3), dtype=np.float32)
        ranked = np.empty((len(cosines), min(20, cosines.shape[1])), dtype=np.float32)
        support_kernels.nearest_voters(cosines, weights, ranked)
        return np.column_stack([ranked[:, :n].mean(axis=1) for n in (1, 5, 20)])

    def count_votes(self, Y: csr_matrix, k: int) -> tuple[TopK, Support]:
        """Return the ``k`` labels with most votes, and who votes for any; ``Y`` has their labels.

        It is ``voting.count_votes`` that notes the voters as well.
        """
        most = support_kernels.n_votes(self.found.ids, Y.indptr)
        starts = np.zeros(len(self.weights) + 1, dtype=np.int64)
        figures = np.empty(most, np.int32), np.empty(most, np.float32), np.empty(most, np.float32)
        support = Support(starts, *figures)
        top = TopK.empty(len(self.weights), k)
        found = self.found.ids, self.found.products, self.weights
        known = Y.indptr, Y.indices, places(Y.shape[1])
        support_kernels.count_votes(*found, *known, top.labels, top.scores, tuple(support))
        return top, support


class Support(NamedTuple):
    """Labels that are voted for, row after row, and their voters.

    The labels of row i are those from ``starts[i]`` to ``starts[i + 1]``; ``nearest`` is how near
    the nearest voter of each is, ``n_voters`` how many it has.
    """

    starts: NDArray[np.int64]
    labels: NDArray[np.int32]
    nearest: NDArray[np.float32]
    n_voters: NDArray[np.float32]

    def of(
        self, labels: NDArray[np.int64], n_labels: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return how near each candidate's nearest voter is, and how many vote for it."""
        nearest, n_voters = np.zeros((2, *labels.shape), dtype=np.float32)
        support_kernels.support(tuple(self), places(n_labels), labels, nearest, n_voters)
        return nearest, n_voters


def gather_candidates(
    X: csr_matrix,
    Z: NDArray[np.float32],
    votes: TopK,
    neighbors: Neighbors,
    support: Support,
    classifiers: SparseIndex,
    centroids: LabelCentroids,
    names: NameIndex | None,
    space: VectorSpace | None = None,
    *,
    n_by_margin: int,
    n_by_name: int,
) -> Candidates:
    """Return the candidates of rows and what speaks for each.

    Parameters
    ----------
    X, Z : csr_matrix, ndarray
        The rows, and their unit vectors.
    votes : TopK
        Labels that neighbours vote for, with their shares.
    neighbors, support : Neighbors, Support
        Who votes, and for which labels.
    names : NameIndex, optional
        What labels are called.
    space : VectorSpace, optional
        Labels and their names in the space of an encoder.
    n_by_margin, n_by_name : int
        How many labels the classifiers add to these, and names that a row has.
    """
    n_named = 0 if names is None else min(n_by_name, classifiers.n_keys)
    named = np.zeros((X.shape[0], 0), dtype=np.int64) if names is None else names.find(X, n_named)
    queries = None if space is None else space.encode(X)
    if space is not None and queries is not None:
        named = space.proposed(queries, named)
    filled = _filled(X, Z, votes, named, classifiers, centroids, n_by_margin)
    labels = filled[0]
    nearest, n_voters = support.of(labels, classifiers.n_keys)
    of_rows = np.column_stack((neighbors.nearness, np.diff(X.indptr))).astype(np.float32)
    figures: NDArray[np.float32] = np.zeros((*labels.shape, N_FIGURES), dtype=np.float32)
    if names is not None:
        figures = names.figures(X, labels)
    vectors: NDArray[np.float32] = np.zeros((*labels.shape, 0), dtype=np.float32)
    if space is not None and queries is not None:
        vectors = space.figures(queries, labels)
    return Candidates(*filled, nearest, n_voters, figures, vectors, of_rows)


def _filled(
    X: csr_matrix,
    Z: NDArray[np.float32],
    votes: TopK,
    named: NDArray[np.int64],
    classifiers: SparseIndex,
    centroids: LabelCentroids,
    n_by_margin: int,
) -> tuple[Any, Any, Any, Any]:
    """Return labels voted for, named and of large margins; their margins, shares and cosines."""
    shape = (X.shape[0], votes.k + named.shape[1] + min(n_by_margin, classifiers.n_keys))
    labels = np.full(shape, -1, dtype=np.int64)
    margins, shares, cosines = np.zeros((3, *shape), dtype=np.float32)
    lists = classifiers.inverted
    by_feature = lists.indptr, lists.indices, lists.data, *classifiers.long_lists(-0.0)
    of_labels = by_feature, classifiers.offsets, *_by_label(classifiers)
    where = centroids.vectors, centroids.scales
    for rows, words, start in _by_dense(X, classifiers):
        kernels.gather(
            words.indptr,
            words.indices,
            np.ascontiguousarray(words.data, dtype=np.float32),
            np.ascontiguousarray(Z[rows], dtype=np.float32),
            votes.labels[rows],
            votes.scores[rows],
            *of_labels,
            *where,
            named[rows],
            start,
            min(n_by_margin, classifiers.n_keys),
            labels[rows],
            margins[rows],
            shares[rows],
            cosines[rows],
        )
    return labels, margins, shares, cosines


def _by_dense(
    X: csr_matrix, classifiers: SparseIndex
) -> Iterator[tuple[slice, csr_matrix, NDArray[np.float32]]]:
    """Yield some rows at a time: which, their words, and what their vectors add to all margins."""
    if classifiers.dense is None:
        yield slice(None), X, np.zeros((X.shape[0], 0), dtype=np.float32)
        return
    size = max(_MARGINS_AT_ONCE // classifiers.n_keys, 1)
    for first in range(0, X.shape[0], size):
        rows = slice(first, first + size)
        words, vectors = split_dense(csr_matrix(X[rows]), classifiers.n_dense)
        yield rows, words, vectors @ classifiers.dense


def _by_label(classifiers: SparseIndex) -> tuple[NDArray[Any], ...]:
    """Return all weights by label, where those by feature are cut; else nothing."""
    if isinstance(classifiers, ImpactIndex):
        return classifiers.rows.indptr, classifiers.rows.indices, classifiers.rows.data
    lists = classifiers.inverted
    return lists.indptr[:0], lists.indices[:0], lists.data[:0]
