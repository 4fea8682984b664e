"""Trees of labels by spectral clustering: those that are alike stay together to the last.

The normalised affinity's leading eigenvectors are clustered by k-means, in parts of bounded size;
each part is clustered again, until it is small. A random tree is what this has to beat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.graph.spectral import BACKGROUND, leading_eigenvectors
from labelspace.graph.tree import Labels, Tree, grow_tree
from labelspace.models.label_trees import _bounded_clustering_kernels as kernels
from labelspace.models.label_trees.affinity import label_affinity


@dataclass(frozen=True)
class TreeShape:
    """How wide, deep and even a tree is; see :class:`labelspace.models.LabelTree`."""

    branching: int = 16
    leaf_size: int = 64
    max_depth: int | None = None
    balance: float = 0.8


def learn_tree(
    X: csr_matrix,
    Y: csr_matrix,
    shape: TreeShape,
    affinity: str = "auto",
    *,
    n_threads: int | None = None,
    seed: int = 0,
) -> Tree:
    """Return a tree of the labels that any row has, or the first label if none has any.

    ``affinity`` is one of those above, or "random".
    """
    labels = np.unique(Y.indices).astype(np.int64)
    if not labels.size:
        labels = np.zeros(1, dtype=np.int64)
    if affinity == "random":
        return random_tree(
            labels,
            Y.shape[1],
            branching=shape.branching,
            leaf_size=shape.leaf_size,
            max_depth=shape.max_depth,
            seed=seed,
        )
    return spectral_tree(
        label_affinity(X, Y, affinity, n_threads=n_threads, seed=seed),
        labels,
        branching=shape.branching,
        leaf_size=shape.leaf_size,
        max_depth=shape.max_depth,
        balance=shape.balance,
        seed=seed,
    )


def spectral_split(
    affinity: csr_matrix, n_parts: int, *, balance: float = 0.0, seed: int = 0
) -> list[Labels]:
    """Return the labels of each part of a spectral clustering.

    Parameters
    ----------
    affinity : csr_matrix of shape (n_labels, n_labels)
        Symmetric, not negative.
    n_parts : int
    balance : float
        No part is larger than the mean size divided by this: 1 makes parts of one size, 0 leaves
        them as they come.

    Examples
    --------
    >>> alike = csr_matrix([[1, 0.9, 0, 0.1], [0.9, 1, 0.1, 0], [0, 0.1, 1, 0.8], [0.1, 0, 0.8, 1]])
    >>> sorted(part.tolist() for part in spectral_split(alike, 2))
    [[0, 1], [2, 3]]
    """
    n = affinity.shape[0]
    if n <= n_parts:
        return list(np.arange(n).reshape(-1, 1))
    vectors = leading_eigenvectors(
        affinity, n_parts, background=BACKGROUND, tol=1e-2, seed=seed
    ).vectors
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return kmeans_split(vectors / lengths, n_parts, balance=balance, seed=seed)


def kmeans_split(
    points: NDArray[np.floating], n_parts: int, *, balance: float = 0.0, seed: int = 0
) -> list[Labels]:
    """Return the points of each part of a k-means clustering with bounded sizes."""
    n = points.shape[0]
    room = n if balance == 0 else min(n, int(np.ceil(n / (n_parts * balance) - 1e-9)))
    random = np.random.default_rng(seed)
    points = np.ascontiguousarray(points, dtype=np.float32)
    start = kernels.kmeans_plus_plus(points, n_parts, random.random(n_parts))
    part_of = kernels.bounded_kmeans(points, start, room, 30)
    return [np.flatnonzero(part_of == part) for part in range(n_parts)]


def spectral_tree(
    affinity: csr_matrix,
    labels: Labels,
    *,
    branching: int,
    leaf_size: int = 1,
    max_depth: int | None = None,
    balance: float = 0.0,
    seed: int = 0,
) -> Tree:
    """Return the tree of ``labels`` that comes from recursive spectral clustering.

    Examples
    --------
    >>> alike = csr_matrix([[1, 0.9, 0, 0.1], [0.9, 1, 0.1, 0], [0, 0.1, 1, 0.8], [0.1, 0, 0.8, 1]])
    >>> tree = spectral_tree(alike, np.arange(4), branching=2)
    >>> sorted(tree.labels_of(node).tolist() for node in tree.children(0))
    [[0, 1], [2, 3]]
    """

    def split(held: Labels) -> list[Labels]:
        alike = csr_matrix(affinity[held][:, held])
        n_parts = _n_parts(held, branching, leaf_size)
        return [held[one] for one in spectral_split(alike, n_parts, balance=balance, seed=seed)]

    return grow_tree(labels, affinity.shape[0], split, leaf_size=leaf_size, max_depth=max_depth)


def random_tree(
    labels: Labels,
    n_labels: int,
    *,
    branching: int,
    leaf_size: int = 1,
    max_depth: int | None = None,
    seed: int = 0,
) -> Tree:
    """Return a balanced tree of ``labels`` in random order: what learned trees have to beat."""
    random = np.random.default_rng(seed)

    def split(held: Labels) -> list[Labels]:
        n_parts = _n_parts(held, branching, leaf_size)
        return [np.sort(part) for part in np.array_split(random.permutation(held), n_parts)]

    return grow_tree(labels, n_labels, split, leaf_size=leaf_size, max_depth=max_depth)


def _n_parts(held: Labels, branching: int, leaf_size: int) -> int:
    """Return how many children to make: no more than leaf-sized ones need."""
    return min(branching, max(2, -(-held.size // leaf_size)))
