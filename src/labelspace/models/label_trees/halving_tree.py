"""Trees of labels by halving: labels whose rows look alike stay together, in parts of one size.

A label is the unit vector in the middle of its rows. A set of labels is cut into two halves by
balanced two-means on these, each half again, until few are left: as many levels as it takes, and
no leaf larger than any other by more than one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.graph.centroids import label_centroids
from labelspace.graph.tree import Labels, Tree, grow_tree
from labelspace.models.label_trees import _halving_kernels as kernels

# Gain of the mean cosine at which halves are left as they are.
_TOL = 1e-4


def halving_trees(
    X: csr_matrix,
    Y: csr_matrix,
    seeds: list[int],
    *,
    leaf_size: int = 100,
    centroid_features: int = 1000,
) -> list[Tree]:
    """Return a tree for each seed of the labels that any row has, or the first label if none.

    Parameters
    ----------
    X, Y : csr_matrix
        Rows of length one, and their labels.
    seeds : list of int
        Trees differ in the two labels that each cut begins with.
    leaf_size : int
        A node with at most so many labels has them as its children.
    centroid_features : int
        Largest values of a label's vector that are looked at.

    Examples
    --------
    >>> X = csr_matrix(np.eye(4)[[0, 1, 2, 3]] + np.eye(4)[[2, 3, 0, 1]] * 0.5, dtype=np.float32)
    >>> (tree,) = halving_trees(X, csr_matrix(np.eye(4, dtype=np.float32)), [0], leaf_size=2)
    >>> sorted(tree.labels_of(node).tolist() for node in tree.children(0))
    [[0, 2], [1, 3]]
    """
    labels = np.unique(Y.indices).astype(np.int64)
    if not labels.size:
        labels = np.zeros(1, dtype=np.int64)
    centroids = label_centroids(X, Y, centroid_features)
    means = np.zeros((2, X.shape[1]))
    trees = []
    for seed in seeds:
        random = np.random.default_rng(seed)

        def split(held: Labels, random: np.random.Generator = random) -> list[Labels]:
            return halves(centroids, held, random, means)

        trees.append(grow_tree(labels, Y.shape[1], split, leaf_size=leaf_size))
    return trees


def halves(
    centroids: csr_matrix,
    labels: Labels,
    random: np.random.Generator,
    means: NDArray[np.float64] | None = None,
) -> list[Labels]:
    """Return two halves of some labels; ``means`` is a scratch of zeros, (2, n_features)."""
    if means is None:
        means = np.zeros((2, centroids.shape[1]))
    one, other = random.choice(labels.size, size=2, replace=False)
    vectors = centroids.indptr, centroids.indices, centroids.data
    second = kernels.halve(*vectors, labels, one, other, _TOL, means)
    return [labels[~second], labels[second]]
