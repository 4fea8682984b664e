"""Label embedding trees: a label tree that is walked in a small space.

The row is mapped once to Wx; every node of the tree has a vector V_c there, so that a step of the
walk compares short dense vectors (Bengio, Weston and Grangier, 2010). Map and vectors are learned
together, by margins between siblings with one slack for a row's whole way,

    min γ‖W‖² + (1/m) Σ_i ξ_i²   such that   (Wx_i)·V_r ≥ (Wx_i)·V_s + 1 − ξ_i,   ‖V_c‖ ≤ 1

for siblings r, s on the way of row i, of which r holds its label and s does not; or in a sequence
of convex problems, as in ``LabelEmbedding``: first all V_c by Laplacian eigenmaps, where two nodes
are as alike as their labels are together, then W with ‖Wx_i − V_r‖² ≤ ‖Wx_i − V_s‖² + ξ_i. The tree
is that of ``LabelTree``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.linear import LinearEncoder
from labelspace.graph.spectral import laplacian_eigenmaps
from labelspace.graph.tree import Tree
from labelspace.models.label_trees.affinity import label_affinity
from labelspace.models.label_trees.embedding_settings import LabelEmbeddingTreeSettings
from labelspace.models.label_trees.node_embedding import NodeEmbeddingSettings, train_node_embedding
from labelspace.models.label_trees.tree_ranker import Slack, TreeRanker, slack_by_row
from labelspace.parameters import Settings
from labelspace.search.tree_beam import DenseTreeIndex, TreeSearchResult
from labelspace.store import schema

_SHARPNESS = 3.0  # a margin of 1 is then a probability of 0.95

# Settings that are parameters too, beside those of every tree.
_TURNED = ("learning", "affinity", "dim", "n_epochs", "learning_rate")


class LabelEmbeddingTree(TreeRanker):
    """A tree of labels whose nodes are vectors in a small space.

    The default is no longer the paper's method: it learns map and vectors together, with a margin,
    a bias and squared slacks, one for each child where rows have several labels, on rows of length
    one, with leaves of up to 64 labels and a beam of ten. ``preset="paper"`` is as printed.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets where they differ.

    Parameters
    ----------
    preset : {"best", "paper", "repaired"}, default="best"
        "best" is what measures best; "paper" is the sequence of convex problems on a tree of single
        labels, walked along the best child; "repaired" is the joint problem there, with a margin
        and a slack for each child, walked along ten.
    learning : {"joint", "sequence"}, optional
        Whether map and vectors are learned together, or first the vectors of all nodes, by
        Laplacian eigenmaps, and then the map, whatever ``slack`` says: joint (sequence).
    dim : int, optional
        Dimensions of the space: 100.
    slack : {"auto", "row", "node"}, optional
        Whether a row has one slack for its whole way, as in the paper, or one for each child that
        it meets, which asks every child for a yes or no: better with several labels. "auto" takes
        "row" if every row has one label: auto (row; repaired: node).
    idf : bool or "auto", optional
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers, 0-1 features or counts: auto (False).
    affinity, branching, leaf_size
        The tree; as in :class:`labelspace.models.LabelTree`.
    beam : int, optional
        Nodes of each level that the walk keeps; 1 follows the best child alone: 10 (1;
        repaired: 10).
    n_epochs : int, optional
        Passes over the rows: 10 (100; repaired: 10).
    learning_rate : float, optional
        First step size, which AdaGrad makes smaller: 0.05 (0.02; repaired: 0.05).
    settings : dict or LabelEmbeddingTreeSettings, optional
        All else: ``max_depth``, ``balance``, ``normalize``, ``decay``; see
        :class:`labelspace.models.label_trees.embedding_settings.LabelEmbeddingTreeSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; scores are those of :class:`labelspace.models.LabelTree`.

    Attributes
    ----------
    tree_ : Tree
        The shape of the tree.
    settings_ : LabelEmbeddingTreeSettings
        The settings as preset and parameters have made them.
    encoder_ : LinearEncoder
        The map.
    index_ : DenseTreeIndex
        The nodes' vectors, ready to be walked.

    Examples
    --------
    >>> from labelspace.models import LabelEmbeddingTree
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = LabelEmbeddingTree(random_state=0).fit(X, ["red", "red", "round", "round"])
    >>> model.predict([[0.7, 0.1]])
    array(['red'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeRanker._parameter_constraints,
        **{name: [*LabelEmbeddingTreeSettings.rules[name], None] for name in _TURNED},
    }
    settings_type: ClassVar[type[Settings]] = LabelEmbeddingTreeSettings
    settings_: LabelEmbeddingTreeSettings

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("LabelEmbeddingTreeSettings"),
        "encoder_": schema.part("LinearEncoder", n_features="n_features", dim="dim"),
        "index_": schema.part("DenseTreeIndex", n_labels="n_labels", dim="dim"),
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        learning: Literal["joint", "sequence"] | None = None,
        dim: int | None = None,
        slack: Slack | None = None,
        idf: bool | Literal["auto"] | None = None,
        affinity: str | None = None,
        branching: int | None = None,
        leaf_size: int | None = None,
        beam: int | None = None,
        n_epochs: int | None = None,
        learning_rate: float | None = None,
        settings: Mapping[str, Any] | LabelEmbeddingTreeSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.learning = learning
        self.dim = dim
        self.slack = slack
        self.idf = idf
        self.affinity = affinity
        self.branching = branching
        self.leaf_size = leaf_size
        self.beam = beam
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.settings = settings

    def _learn_tree(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> Tree:
        return self._spectral_tree(Z, Y, self.settings_.affinity, seed)

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        Z, seed = self._begin(X, Y)
        told = self.settings_
        sequence = told.learning == "sequence"
        settings = NodeEmbeddingSettings.of(
            told, sequence=sequence, by_row=slack_by_row(told.slack, Y)
        )
        trained = train_node_embedding(
            Z,
            self.tree_,
            self.tree_.positive_nodes(Y),
            settings,
            vectors=self._places(Z, Y, seed) if sequence else None,
            seed=seed,
        )
        self.encoder_ = LinearEncoder(trained.weights)
        self.index_ = DenseTreeIndex(
            self.tree_,
            trained.vectors,
            trained.biases,
            link="logistic" if settings.each else "softmax",
            sharpness=_SHARPNESS,
        )

    def _places(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> NDArray[np.float32]:
        """Return where eigenmaps put the nodes, which are alike as far as their labels are."""
        told = self.settings_
        kind = "centroid" if told.affinity == "random" else told.affinity
        alike = label_affinity(Z, Y, kind, n_threads=self.n_threads, seed=seed)
        held = self.tree_.membership()
        return laplacian_eigenmaps(csr_matrix(held.T @ alike @ held), told.dim, seed)

    def _walk_block(self, Z: csr_matrix, k: int, beam: int) -> TreeSearchResult:
        return self.index_.search(self.encoder_.encode(Z), k, beam)
