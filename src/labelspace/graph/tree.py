"""A tree of labels: every node holds a set of labels, every leaf a single one.

A walk from the root to a leaf asks only the children of the nodes on its way, so that finding a
label among thousands takes a few dozen questions. Nodes are numbered level by level, which puts
the children of a node side by side: those of node p are ``first_child[p] … first_child[p + 1]``.
A label may have several leaves; then the sets of siblings overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.store import Storable, schema

Labels = NDArray[np.int64]
Split = Callable[[Labels], Sequence[Labels]]


class Tree(Storable):
    """The shape of a label tree.

    Parameters
    ----------
    first_child : ndarray of shape (n_nodes + 1,)
        Where the children of each node begin; they end where those of the next begin.
    leaf_labels : ndarray of shape (n_nodes,)
        The label of each leaf, -1 for inner nodes.
    n_labels : int
        Labels that there are; those that no leaf has are never found.

    Attributes
    ----------
    parents : ndarray of shape (n_nodes,)
        -1 for the root.

    Examples
    --------
    >>> tree = Tree.from_nested([[0, 2], 1], n_labels=3)
    >>> tree.n_nodes, tree.depth
    (5, 2)
    >>> [tree.labels_of(node).tolist() for node in tree.children(0)]
    [[0, 2], [1]]
    """

    _schema: ClassVar[schema.Schema] = {
        "n_labels": schema.size("n_labels"),
        "leaf_labels": schema.array("int64", "n_nodes", low=-1, below="n_labels"),
        "first_child": schema.offsets("n_nodes", "n_nodes", first=1),
        "parents": schema.array("int64", "n_nodes"),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if sizes.trusted:
            return
        first_child, parents = state["first_child"], state["parents"]
        nodes = np.arange(sizes.known["n_nodes"])
        # Walks end only where children come after their parents.
        if np.any(first_child[:-1] <= nodes) or not np.array_equal(
            parents, np.append(-1, np.repeat(nodes, np.diff(first_child)))
        ):
            raise schema.Mismatch("parents and first_child are no tree")

    def __init__(
        self, first_child: NDArray[np.int64], leaf_labels: NDArray[np.int64], n_labels: int
    ) -> None:
        self.first_child = np.asarray(first_child, dtype=np.int64)
        self.leaf_labels = np.asarray(leaf_labels, dtype=np.int64)
        self.n_labels = int(n_labels)
        self.parents = np.full(self.n_nodes, -1, dtype=np.int64)
        self.parents[1:] = np.repeat(np.arange(self.n_nodes), np.diff(self.first_child))

    @classmethod
    def from_nested(cls, nested: Sequence[object], n_labels: int) -> Tree:
        """Return the tree of nested lists of labels, such as ``[[0, 2], 1]``."""
        level: list[object] = [nested]
        n_children: list[int] = []
        leaf_labels: list[int] = []
        while level:
            deeper: list[object] = []
            for node in level:
                children = list(node) if isinstance(node, Sequence) else []
                n_children.append(len(children))
                leaf_labels.append(-1 if isinstance(node, Sequence) else int(node))  # type: ignore[call-overload]
                deeper.extend(children)
            level = deeper
        first_child = np.concatenate(([0], np.cumsum(n_children))) + 1
        return cls(first_child, np.array(leaf_labels), n_labels)

    @property
    def n_nodes(self) -> int:
        return self.leaf_labels.shape[0]

    @property
    def n_children(self) -> NDArray[np.int64]:
        """How many children each node has."""
        return np.diff(self.first_child)

    @property
    def inner(self) -> NDArray[np.int64]:
        """The nodes that have children."""
        return np.flatnonzero(self.n_children)

    @property
    def levels(self) -> NDArray[np.int64]:
        """Steps from the root to each node."""
        levels = np.zeros(self.n_nodes, dtype=np.int64)
        start, end = 0, 1
        while end < self.n_nodes:
            start, end = end, int(self.first_child[end])
            levels[start:end] = levels[start - 1] + 1
        return levels

    @property
    def depth(self) -> int:
        """Steps from the root to the deepest leaf."""
        return int(self.levels[-1])

    @property
    def overlaps(self) -> bool:
        """Whether any label has several leaves."""
        labels = self.leaf_labels[self.leaf_labels >= 0]
        return np.unique(labels).size < labels.size

    def children(self, node: int) -> NDArray[np.int64]:
        """Return the numbers of a node's children."""
        return np.arange(self.first_child[node], self.first_child[node + 1])

    def labels_of(self, node: int) -> Labels:
        """Return the labels below a node, by rising number."""
        nodes = [np.array([node])]
        while nodes[-1].size:
            nodes.append(np.concatenate([self.children(one) for one in nodes[-1]] + [_NONE]))
        labels = self.leaf_labels[np.concatenate(nodes)]
        return np.unique(labels[labels >= 0])

    def membership(self) -> csr_matrix:
        """Return a 0-1 matrix (n_labels, n_nodes): which nodes hold each label."""
        nodes = np.flatnonzero(self.leaf_labels >= 0)
        labels = self.leaf_labels[nodes]
        rows, columns = [labels], [nodes]
        while nodes.size:
            above = self.parents[nodes]
            labels, nodes = labels[above >= 0], above[above >= 0]
            rows.append(labels)
            columns.append(nodes)
        pairs = (np.concatenate(rows), np.concatenate(columns))
        held = csr_matrix(
            (np.ones(pairs[0].size, dtype=np.float32), pairs), shape=(self.n_labels, self.n_nodes)
        )
        return _ones(held)

    def positive_nodes(self, Y: csr_matrix) -> csr_matrix:
        """Return a 0-1 matrix (n_examples, n_nodes): nodes that hold any label of each row."""
        return _ones(csr_matrix(Y @ self.membership()))


def grow_tree(
    labels: Labels, n_labels: int, split: Split, *, leaf_size: int, max_depth: int | None = None
) -> Tree:
    """Return the tree that comes from splitting sets of labels again and again.

    Parameters
    ----------
    labels : ndarray of int
        The root's labels.
    n_labels : int
        Labels that there are.
    split : callable
        Takes the labels of a node and returns those of its children.
    leaf_size : int
        A node with at most so many labels has them as its children.
    max_depth : int, optional
        Steps from the root to the deepest leaf at most.
    """
    level: list[Labels] = [labels]
    is_leaf: list[bool] = [False]
    n_children: list[int] = []
    leaf_labels: list[int] = []
    depth = 0
    while level:
        depth += 1
        last = max_depth is not None and depth >= max_depth
        deeper: list[Labels] = []
        deeper_is_leaf: list[bool] = []
        for held, leaf in zip(level, is_leaf, strict=True):
            leaf_labels.append(int(held[0]) if leaf else -1)
            parts: list[Labels] = []
            if not leaf and held.size > leaf_size and not last:
                parts = [part for part in split(held) if part.size]
            if not leaf and (len(parts) < 2 or max(part.size for part in parts) == held.size):
                parts = list(held.reshape(-1, 1))
            n_children.append(len(parts))
            deeper.extend(parts)
            deeper_is_leaf.extend(part.size == 1 for part in parts)
        level, is_leaf = deeper, deeper_is_leaf
    first_child = np.concatenate(([0], np.cumsum(n_children))) + 1
    return Tree(first_child, np.array(leaf_labels), n_labels)


def flat_tree(labels: Labels, n_labels: int) -> Tree:
    """Return the tree that is none: all labels are children of the root.

    >>> flat_tree(np.array([3, 5]), 6).leaf_labels
    array([-1,  3,  5])
    """
    first_child = np.full(labels.size + 2, labels.size + 1, dtype=np.int64)
    first_child[0] = 1
    return Tree(first_child, np.concatenate(([-1], labels)), n_labels)


_NONE = np.zeros(0, dtype=np.int64)


def _ones(counts: csr_matrix) -> csr_matrix:
    counts.sum_duplicates()
    counts.data = np.ones(counts.nnz, dtype=np.float32)
    return counts
