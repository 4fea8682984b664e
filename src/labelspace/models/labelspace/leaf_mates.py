"""Rows that share leaves vote as well: trees of rows beside the spaces.

In a learned space rows are near by a linear map of their features; a tree divides them by one
hyperplane after the other, so that features count together. Trees are grown as in FastXML
(``row_forest``), but quickly, since their votes are added to those of neighbours: few steps for
each hyperplane, learned from some of the rows. As in the spaces, rows held out do not shape the
trees but are put there, and vote, like all others.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.csr import dense_tail
from labelspace.models.labelspace import _leaf_kernels as kernels
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.row_forest.forest import Growth, RowForest, grow_trees
from labelspace.search.result import SearchResult
from labelspace.selection import usable_rows
from labelspace.store import Storable, schema

GROWTH = Growth(
    leaf_size=10, leaf_labels=1, C=2.0, tol=0.1, max_steps=3, max_passes=3, split_rows=1000
)
MOST_MATES = 30  # rows of a leaf that vote; leaves that cannot be divided may have many
VOTES_OF_TREE = 0.05  # what all votes in a tree count against all of the spaces


class LeafMates(Storable):
    """The training rows by the leaves that they come to.

    Parameters
    ----------
    forest : RowForest
    X : csr_matrix of shape (n_examples, n_features)
    voters : ndarray of shape (n_voters,)
        Rows of ``X`` that vote.

    Attributes
    ----------
    ids : ndarray of shape (n_trees * n_voters,), int32
        Numbers of rows, leaf by leaf.
    starts : ndarray of shape (n_nodes + 1,)
        Where those of each leaf begin.
    """

    _schema: ClassVar[schema.Schema] = {
        "forest": schema.part("RowForest", n_nodes="n_nodes"),
        "ids": schema.array("int32", "n_placed", low=0, end="rows_end"),
        "starts": schema.offsets("n_nodes", "n_placed"),
    }

    def __init__(self, forest: RowForest, X: csr_matrix, voters: NDArray[np.int64]) -> None:
        self.forest = forest
        self.ids: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.starts: NDArray[np.int64] = np.zeros(forest.n_nodes + 1, dtype=np.int64)
        self.add(csr_matrix(X[voters]), voters)

    def add(self, X: csr_matrix, ids: NDArray[np.int64]) -> None:
        """Put rows of these numbers into their leaves; they vote from now on."""
        leaves = self._leaves(X)
        old = np.repeat(np.arange(self.forest.n_nodes), np.diff(self.starts))
        placed = np.concatenate((old, leaves.T.ravel()))
        numbers = np.concatenate((self.ids, np.tile(ids, self.forest.n_trees))).astype(np.int32)
        self.ids = numbers[np.argsort(placed, kind="stable")]
        counts = np.bincount(placed, minlength=self.forest.n_nodes)
        self.starts = np.concatenate(([0], np.cumsum(counts)))

    def find(self, X: csr_matrix) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the rows in the leaves of each row (-1 for none), and what each vote counts."""
        leaves = self._leaves(X)
        n_mates = np.minimum(np.diff(self.starts), MOST_MATES)[leaves].sum(axis=1)
        shape = X.shape[0], int(n_mates.max(initial=0))
        found, weights = np.full(shape, -1, dtype=np.int64), np.zeros(shape, dtype=np.float32)
        kernels.leaf_mates(leaves, self.starts, self.ids, MOST_MATES, found, weights)
        return found, weights

    def beside(
        self,
        X: csr_matrix,
        found: SearchResult,
        weights: NDArray[np.float32],
        own: NDArray[np.int64] | None = None,
        groups: NDArray[np.int64] | None = None,
    ) -> tuple[SearchResult, NDArray[np.float32]]:
        """Return neighbours and those who share leaves, and what the vote of each counts.

        Those in leaves have no cosine: it is 0. A row in ``own`` does not vote for itself, nor do
        those of its group; where no neighbour has a vote, nobody has.
        """
        ids, counts = self.find(X)
        if own is not None:
            kin = ids == own[:, np.newaxis]
            if groups is not None:
                kin |= groups[ids] == groups[own][:, np.newaxis]
            counts[kin] = 0.0
        counts[~weights.any(axis=1)] = 0.0
        sums = counts.sum(axis=1, keepdims=True)
        votes = VOTES_OF_TREE * self.forest.n_trees
        share = np.where(sums > 0, np.float32(votes / (1.0 + votes)), np.float32(0.0))
        counts *= np.divide(share, sums, out=np.zeros_like(sums), where=sums > 0)
        mates = SearchResult(ids, np.zeros(ids.shape, dtype=np.float32))
        joined = np.concatenate((weights * (1.0 - share), counts), axis=1, dtype=np.float32)
        return SearchResult.beside([found, mates]), joined

    def _leaves(self, X: csr_matrix) -> NDArray[np.int32]:
        """Return the leaves of rows, whose last features, of an encoder, trees do not ask about."""
        known = X if X.shape[1] <= self.forest.n_features else X[:, : self.forest.n_features]
        return self.forest.leaves(csr_matrix(known))


def grow_leaf_mates(
    X: csr_matrix,
    seen: csr_matrix,
    Y: csr_matrix,
    settings: LabelSpaceSettings,
    *,
    seed: int,
    n_threads: int | None,
) -> LeafMates | None:
    """Grow trees on rows with labels in ``seen``; put all rows with any in ``Y`` there."""
    words: Any = X[:, : X.shape[1] - dense_tail(X)]
    learned = usable_rows(words, seen)
    if not settings.n_row_trees or not learned.size:
        return None
    seeds = [seed + number for number in range(settings.n_row_trees)]
    rows = csr_matrix(words[learned]), csr_matrix(seen[learned])
    trees = grow_trees(*rows, GROWTH, seeds, n_threads=n_threads)
    forest = RowForest(trees, words.shape[1], Y.shape[1])
    return LeafMates(forest, X, usable_rows(X, Y))
