"""The affinity of labels that a tree or label vectors are made from, by name, and the tree.

``"confusion"`` trains one-vs-all classifiers, as the paper does, and counts which labels they take
for each other on rows that they have not seen: each half of the rows is judged by the other's
classifiers. ``"centroid"`` and ``"cooccurrence"`` need no classifiers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.graph.spectral import random_tree, spectral_tree
from labelspace.graph.tree import Tree
from labelspace.linear.squared_hinge import train_squared_hinge
from labelspace.models.label_trees.affinity import (
    centroid_affinity,
    confusion_affinity,
    cooccurrence_affinity,
)
from labelspace.search.sparse import SparseIndex
from labelspace.topk import TopK

AFFINITIES = ("confusion", "centroid", "cooccurrence")
FEW_LABELS = 200  # up to so many one-vs-all costs little
N_ANSWERS = 10  # of each row, in which confusions are looked for


def label_affinity(
    X: csr_matrix,
    Y: csr_matrix,
    kind: str = "auto",
    *,
    n_neighbors: int = 20,
    n_threads: int | None = None,
    seed: int = 0,
) -> csr_matrix:
    """Return a sparse symmetric matrix (n_labels, n_labels), larger for labels more alike.

    Parameters
    ----------
    X, Y : csr_matrix
        Rows of length one, and their labels.
    kind : {"auto", "confusion", "centroid", "cooccurrence"}
        "auto": confusion for few labels, else centroid.
    n_neighbors : int
        Entries kept for each label.

    Examples
    --------
    >>> X = csr_matrix([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], dtype=np.float32)
    >>> alike = label_affinity(X, csr_matrix(np.eye(3, dtype=np.float32)), "centroid")
    >>> bool(alike[0, 1] > alike[0, 2])
    True
    """
    if kind == "auto":
        kind = "confusion" if Y.shape[1] <= FEW_LABELS else "centroid"
    if kind == "cooccurrence":
        return cooccurrence_affinity(Y, n_neighbors)
    if kind == "centroid":
        return centroid_affinity(X, Y, n_neighbors)
    return confusion_affinity(Y, _answers(X, Y, n_threads, seed), n_neighbors)


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


def _answers(X: csr_matrix, Y: csr_matrix, n_threads: int | None, seed: int) -> TopK:
    """Return what classifiers trained on the other half of the rows say of each row."""
    answers = TopK.empty(X.shape[0], min(N_ANSWERS, Y.shape[1]))
    half = np.random.default_rng(seed).permutation(X.shape[0]) % 2 == 0
    for asked in (half, ~half):
        if asked.all() or not asked.any():
            continue
        weights, biases, _ = train_squared_hinge(
            csr_matrix(X[~asked]), csr_matrix(Y[~asked]), n_threads=n_threads, seed=seed
        )
        found = SparseIndex(weights, biases).search(csr_matrix(X[asked]), answers.k)
        answers.labels[asked], answers.scores[asked] = found.labels, found.scores
    return answers
