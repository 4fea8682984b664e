"""A forest of trees of rows: grown side by side, asked together.

A tree sends a row from the root to a leaf, always to the side of a hyperplane on which it lies. A
leaf has the labels of the training rows that came there, each with its share. The forest's score
of a label is the mean of its shares over the trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.ensemble import train_learners
from labelspace.row_forest import _tree_kernels as kernels
from labelspace.store import Storable, schema
from labelspace.topk import TopK

SPLITS = {"rankings": kernels.RANKINGS, "means": kernels.MEANS}
# Rows for which another thread is worth its while.
_FEW_ROWS = 64


@dataclass(frozen=True)
class Growth:
    """How trees are grown.

    Attributes
    ----------
    split : {"rankings", "means"}
        How the two sides of a node are found.
    leaf_size : int
        A node with at most so many rows is a leaf.
    leaf_labels : int
        Labels that a leaf keeps at most, those with the largest shares.
    C : float
        Weight of the logistic loss against the length (L1) of a hyperplane's weights.
    tol : float
        Share of the violations at the start at which learning a hyperplane ends.
    max_steps, max_passes : int
        Steps of Newton's kind at most, and passes over the features in each.
    split_rows : int
        Rows from which a hyperplane is learned at most.
    ndcg : bool
        Whether rankings count a row's gains over its best DCG, or else as they are.
    """

    split: str = "rankings"
    leaf_size: int = 10
    leaf_labels: int = 100
    C: float = 1.0
    tol: float = 0.01
    max_steps: int = 10
    max_passes: int = 10
    split_rows: int = 1 << 40
    ndcg: bool = True


class GrownTree(NamedTuple):
    """What the kernel gives: nodes, weights, leaves, and the rows of each node."""

    first_child: NDArray[np.int32]
    weight_ptr: NDArray[np.int64]
    biases: NDArray[np.float32]
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    leaf_ptr: NDArray[np.int64]
    labels: NDArray[np.int32]
    shares: NDArray[np.float32]
    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class RowForest(Storable):
    """Trees of rows, one behind the other, ready to be asked.

    Attributes
    ----------
    roots : ndarray of shape (n_trees,)
        The node at which each tree begins.
    first_child : ndarray of shape (n_nodes,)
        The first of a node's two children, 0 for a leaf.
    weight_ptr, features, values, biases
        The hyperplane of each node, by feature.
    leaf_ptr, labels, shares
        The labels of each leaf.
    """

    _schema: ClassVar[schema.Schema] = {
        "n_features": schema.size("n_features"),
        "n_labels": schema.size("n_labels"),
        "first_child": schema.array("int32", "n_nodes", low=0, below="n_nodes"),
        "roots": schema.array("int64", None, low=0, below="n_nodes"),
        "weight_ptr": schema.offsets("n_nodes", "n_weights"),
        "features": schema.array("int32", "n_weights", low=0, below="n_features"),
        "values": schema.array("float32", "n_weights"),
        "biases": schema.array("float32", "n_nodes"),
        "leaf_ptr": schema.offsets("n_nodes", "n_shares"),
        "labels": schema.array("int32", "n_shares", low=0, below="n_labels"),
        "shares": schema.array("float32", "n_shares"),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if not len(state["roots"]):
            raise schema.Mismatch("roots is empty")
        if sizes.trusted:
            return
        first_child = state["first_child"]
        parents = np.flatnonzero(first_child)
        # Ways end only where children come after their parents, and both are there.
        if np.any(first_child[parents] <= parents) or np.any(
            first_child[parents] + 1 >= len(first_child)
        ):
            raise schema.Mismatch("first_child is no tree")

    def __init__(self, trees: Sequence[GrownTree], n_features: int, n_labels: int) -> None:
        self.n_features = n_features
        self.n_labels = n_labels
        sizes = [len(tree.first_child) for tree in trees]
        self.roots = np.cumsum([0, *sizes[:-1]])
        self.first_child = np.concatenate(
            [
                np.where(tree.first_child > 0, tree.first_child + root, 0)
                for tree, root in zip(trees, self.roots, strict=True)
            ]
        ).astype(np.int32)
        self.weight_ptr = _joined([tree.weight_ptr for tree in trees])
        self.features = np.concatenate([tree.features for tree in trees])
        self.values = np.concatenate([tree.values for tree in trees])
        self.biases = np.concatenate([tree.biases for tree in trees])
        self.leaf_ptr = _joined([tree.leaf_ptr for tree in trees])
        self.labels = np.concatenate([tree.labels for tree in trees])
        self.shares = np.concatenate([tree.shares for tree in trees])

    @property
    def n_trees(self) -> int:
        return len(self.roots)

    @property
    def n_nodes(self) -> int:
        return len(self.first_child)

    def leaves(self, X: csr_matrix) -> NDArray[np.int32]:
        """Return the leaf that each row comes to in each tree, (n, n_trees)."""
        leaves = np.zeros((X.shape[0], self.n_trees), dtype=np.int32)
        planes = self.first_child, self.weight_ptr, self.features, self.values, self.biases
        rows = X.indptr, X.indices, np.ascontiguousarray(X.data, dtype=np.float32)

        def fall(first: int, last: int) -> None:
            kernels.fall(*rows, first, last, self.roots, *planes, self.n_features, leaves)

        threads.deal(fall, X.shape[0], _FEW_ROWS)
        return leaves

    def rank(self, X: csr_matrix, k: int) -> TopK:
        """Return the ``k`` labels of largest share, on average over the trees."""
        top = TopK.empty(X.shape[0], k)
        leaves = self.leaves(X)
        held = self.leaf_ptr, self.labels, self.shares, self.n_labels

        def add_up(first: int, last: int) -> None:
            kernels.add_up(leaves, first, last, *held, top.labels, top.scores)

        threads.deal(add_up, X.shape[0], _FEW_ROWS)
        return top


def grow_trees(
    X: csr_matrix,
    Y: csr_matrix,
    growth: Growth,
    seeds: Sequence[int],
    *,
    gains: NDArray[np.float64] | None = None,
    row_weights: NDArray[np.float64] | None = None,
    n_threads: int | None = None,
) -> list[GrownTree]:
    """Return a tree for each seed, the same on any number of threads.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
    Y : csr_matrix of shape (n_examples, n_labels)
    growth : Growth
    seeds : sequence of int
    gains : ndarray of shape (n_labels,), optional
        What it is worth to have a label right: one for each unless given.
    row_weights : ndarray of shape (n_examples,), optional
        How much rows count in means and their leaves; in rankings it is 1 over a row's best DCG, or
        1 without ``growth.ndcg``.

    Examples
    --------
    >>> X = csr_matrix([[1.0, 0.0], [0.9, 0.0], [0.0, 1.0], [0.0, 0.8]], dtype=np.float32)
    >>> Y = csr_matrix([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)
    >>> trees = grow_trees(X, Y, Growth(leaf_size=2, C=10.0), seeds=[1, 2, 3])
    >>> RowForest(trees, 2, 2).rank(X, k=1).labels.ravel()
    array([0, 0, 1, 1])
    """
    gains = np.ones(Y.shape[1]) if gains is None else gains
    most = int(np.diff(Y.indptr).max(initial=0))
    discounts = 1.0 / np.log2(np.arange(max(Y.shape[1], most)) + 2.0)
    if growth.split == "rankings" or row_weights is None:
        row_weights = 1.0 / best_dcg(Y, gains) if growth.ndcg else np.ones(Y.shape[0])
    how = (
        *(SPLITS[growth.split], growth.leaf_size, min(growth.leaf_labels, Y.shape[1]), growth.C),
        *(growth.tol, growth.max_steps, growth.max_passes, growth.split_rows),
    )
    rows = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data.astype(np.float32)
    labels = Y.indptr.astype(np.int64), Y.indices.astype(np.int32)
    inputs = *rows, X.shape[1], *labels, Y.shape[1], gains, row_weights, discounts, *how
    return [GrownTree(*tree) for tree in train_learners(_grow, inputs, seeds, n_threads)]


def _grow(inputs: tuple[Any, ...], seed: int) -> GrownTree:
    return GrownTree(*kernels.grow(*inputs, seed))


def best_dcg(Y: csr_matrix, gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the DCG of each row's best ranking, 1 for rows without labels.

    >>> best_dcg(csr_matrix([[1, 1, 0], [0, 0, 1], [0, 0, 0]]), np.array([1.0, 2.0, 3.0])).round(3)
    array([2.631, 3.   , 1.   ])
    """
    row_of = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    own = gains[Y.indices]
    order = np.lexsort((-own, row_of))
    ranks = np.arange(Y.nnz) - np.repeat(Y.indptr[:-1], np.diff(Y.indptr))
    best = np.bincount(row_of, own[order] / np.log2(ranks + 2.0), minlength=Y.shape[0])
    return np.where(best > 0, best, 1.0)


def _joined(offsets: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return where lists begin once those of all trees stand behind each other."""
    begun = np.cumsum([0, *(part[-1] for part in offsets[:-1])])
    parts = [part[:-1] + start for part, start in zip(offsets, begun, strict=True)]
    return np.concatenate([*parts, [begun[-1] + offsets[-1][-1]]])
