"""A linear map of rows and a vector for each node of a label tree, learned in one small space.

A row is mapped to z = Wx, a child c of a node scores z·V_c + b_c, and the scores of siblings are
to be told apart as in ``linear.node_classifiers``:

    min  γ‖W‖² + (1/m) Σ_i ξ_i²   such that   z_i·V_r + b_r ≥ z_i·V_s + b_s + 1 − ξ_i,   ‖V_c‖ ≤ 1

for siblings r (right) and s (wrong) on the way of row i, or with a yes or no of each child instead
of the pair. Labels without a tree are the children of a single root. Where a node has very many
children, a row is compared with some of them: those said to be near the right ones, and random
ones. Stochastic descent with AdaGrad's steps, of half the sum; a row takes part in γ‖W‖² by the
features that it has, the more the fewer rows have them, so that all rows together make it up.

With V fixed the problem is convex, the second of the "sequence of convex problems":

    min  γ‖W‖² + (1/m) Σ_i ξ_i   such that   ‖Wx_i − V_r‖² ≤ ‖Wx_i − V_s‖² + ξ_i

where V stays as Laplacian eigenmaps give it, Vᵀ D V = I. Half of the difference of the two squares
is that of the scores z·V_c − ½‖V_c‖².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import progress
from labelspace.csr import empty_csr
from labelspace.graph.tree import Tree
from labelspace.models.label_trees import _node_embedding_kernels as kernels


@dataclass(frozen=True)
class NodeEmbeddingSettings:
    """How to learn.

    Attributes
    ----------
    dim : int
        Dimensions of the small space.
    each : bool
        Whether each child says yes or no by itself, for rows with several labels; otherwise one
        slack per row, for its worst pair of siblings.
    n_epochs : int
        Passes over the rows.
    learning_rate : float
    decay : float
        γ: how much the lengths of W count.
    n_sampled : int
        Children that a row is compared with where there are more.
    margin : float
        By how much the right child is to be ahead, where there is one slack per row.
    squared : bool
        Whether that slack counts by its square.
    """

    dim: int = 100
    each: bool = False
    n_epochs: int = 20
    learning_rate: float = 0.1
    decay: float = 1e-6
    n_sampled: int = 256
    margin: float = 1.0
    squared: bool = True

    @classmethod
    def of(cls, told: Any, *, sequence: bool, by_row: bool) -> NodeEmbeddingSettings:
        """Return how to learn by a method's settings.

        The sequence has a constraint between pairs, without a margin, whatever labels rows have.
        """
        n_sampled = getattr(told, "n_sampled", None)
        return cls(
            dim=told.dim,
            each=not sequence and not by_row,
            n_epochs=told.n_epochs,
            learning_rate=told.learning_rate,
            decay=told.decay,
            n_sampled=cls.n_sampled if n_sampled is None else n_sampled,
            margin=0.0 if sequence else 1.0,
            squared=not sequence,
        )


class NodeEmbedding(NamedTuple):
    """The map (n_features, dim), the nodes' vectors (n_nodes, dim) and biases (n_nodes,)."""

    weights: NDArray[np.float32]
    vectors: NDArray[np.float32]
    biases: NDArray[np.float32]


def train_node_embedding(
    X: csr_matrix,
    tree: Tree,
    right: csr_matrix,
    settings: NodeEmbeddingSettings,
    *,
    vectors: NDArray[np.float32] | None = None,
    near: csr_matrix | None = None,
    seed: int = 0,
) -> NodeEmbedding:
    """Learn the map and the vectors.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
    tree : Tree
    right : csr_matrix of shape (n_examples, n_nodes)
        Which nodes each row is at.
    settings : NodeEmbeddingSettings
    vectors : ndarray of shape (n_nodes, dim), optional
        Vectors that stay as they are, compared by distance: biases are -½‖V‖².
    near : csr_matrix of shape (n_nodes, n_nodes), optional
        Siblings to compare a right node with, where there are too many.
    """
    random = np.random.default_rng(seed)
    weights = random.standard_normal((X.shape[1], settings.dim), dtype=np.float32)
    weights *= np.float32(settings.dim**-0.5)
    fixed = vectors is not None
    vectors, biases = _begin(X, tree, right, settings, weights, vectors)
    near = empty_csr(tree.n_nodes, tree.n_nodes) if near is None else near
    state = kernels.begin(weights, vectors)
    data = np.ascontiguousarray(X.data, dtype=np.float32)
    shape = tree.first_child, tree.parents, right.indptr, right.indices, near.indptr, near.indices
    options = (
        fixed,
        settings.each,
        np.float32(settings.margin),
        settings.squared,
        settings.n_sampled,
    )
    rows = np.flatnonzero((np.diff(X.indptr) > 0) & (np.diff(right.indptr) > 0))
    n_having = np.bincount(X[rows].indices, minlength=X.shape[1])
    weights[n_having == 0] = 0.0  # nothing is learned of these, and γ‖W‖² is least at zero
    decays = (settings.decay * rows.size / np.maximum(n_having, 1)).astype(np.float32)
    rates = np.float32(settings.learning_rate), decays
    for _ in progress.track(range(settings.n_epochs), "learning the space"):
        order = random.permutation(rows)
        kernels.epoch(
            *(order, X.indptr, X.indices, data),
            *shape,
            *(weights, vectors, biases),
            *state,
            *options,
            *rates,
            int(random.integers(2**31)),
        )
    return NodeEmbedding(weights, vectors, biases)


def _begin(
    X: csr_matrix,
    tree: Tree,
    right: csr_matrix,
    settings: NodeEmbeddingSettings,
    weights: NDArray[np.float32],
    vectors: NDArray[np.float32] | None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the nodes' first vectors and biases, or those of vectors that are fixed."""
    if vectors is not None:
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        return vectors, (-0.5 * np.square(vectors).sum(axis=1)).astype(np.float32)
    # Where the rows of a node begin, its vector does too.
    vectors = kernels.unit_rows(np.ascontiguousarray(right.T @ (X @ weights), dtype=np.float32))
    if settings.each and np.diff(tree.first_child).max() > settings.n_sampled:
        return vectors, _usual(tree, right)
    return vectors, np.zeros(tree.n_nodes, dtype=np.float32)


def _usual(tree: Tree, right: csr_matrix) -> NDArray[np.float32]:
    """Return the best yes or no of each node for all rows that come to its parent: 2p - 1.

    Where children are sampled, a bias is seldom stepped; begun at zero, all those of rare labels
    would for long pull at the map instead.
    """
    n_rows = np.bincount(right.indices, minlength=tree.n_nodes)
    shares = n_rows / np.maximum(n_rows[np.maximum(tree.parents, 0)], 1)
    return (2.0 * shares - 1.0).astype(np.float32)
