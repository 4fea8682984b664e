"""Label embedding trees: a label tree that is walked in a small space.

The row is mapped once to Wx; every node of the tree has a vector V_c there, so that a step of the
walk compares short dense vectors (Bengio, Weston and Grangier, 2010). Map and vectors are learned
together, by margins between siblings with one slack for a row's whole way,

    min γ‖W‖² + (1/m) Σ_i ξ_i²   such that   (Wx_i)·V_r ≥ (Wx_i)·V_s + 1 − ξ_i,   ‖V_c‖ ≤ 1

for siblings r, s on the way of row i, of which r holds its label and s does not. The tree is that
of ``LabelTree``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from scipy.sparse import csr_matrix

from labelspace.encoders.linear import LinearEncoder
from labelspace.models.label_trees.node_embedding import NodeEmbeddingSettings, train_node_embedding
from labelspace.models.label_trees.settings import LabelEmbeddingTreeSettings
from labelspace.models.label_trees.tree_ranker import Slack, TreeRanker, slack_by_row
from labelspace.parameters import Settings, real, whole
from labelspace.search.tree_beam import DenseTreeIndex, TreeSearchResult
from labelspace.store import schema

_SHARPNESS = 3.0  # a margin of 1 is then a probability of 0.95


class LabelEmbeddingTree(TreeRanker):
    """A tree of labels whose nodes are vectors in a small space.

    Parameters
    ----------
    dim : int, default=100
        Dimensions of the space.
    slack : {"auto", "row", "node"}, default="auto"
        Whether a row has one slack for its whole way, as in the paper, or one for each child that
        it meets, which asks every child for a yes or no: better with several labels. "auto" takes
        "row" if every row has one label.
    idf : bool or "auto", default="auto"
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts.
    affinity, branching, leaf_size
        The tree; as in :class:`labelspace.models.LabelTree`.
    beam : int, default=10
        Nodes of each level that the walk keeps; 1 follows the best child alone.
    n_epochs : int, default=10
        Passes over the rows.
    learning_rate : float, default=0.05
        First step size; AdaGrad makes it smaller.
    settings : dict or LabelEmbeddingTreeSettings, optional
        All else: ``max_depth``, ``balance``, ``decay``; see
        :class:`labelspace.models.label_trees.settings.LabelEmbeddingTreeSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; scores are those of :class:`labelspace.models.LabelTree`.

    Attributes
    ----------
    tree_ : Tree
        The shape of the tree.
    settings_ : LabelEmbeddingTreeSettings
        What was used of all else.
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
        "dim": [whole()],
        "n_epochs": [whole()],
        "learning_rate": [real(0)],
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
        dim: int = 100,
        slack: Slack = "auto",
        idf: bool | Literal["auto"] = "auto",
        affinity: str = "auto",
        branching: int = 16,
        leaf_size: int = 64,
        beam: int = 10,
        n_epochs: int = 10,
        learning_rate: float = 0.05,
        settings: Mapping[str, Any] | LabelEmbeddingTreeSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
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

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        Z, seed = self._begin(X, Y)
        each = not slack_by_row(self.slack, Y)
        settings = NodeEmbeddingSettings(
            dim=self.dim,
            each=each,
            n_epochs=self.n_epochs,
            learning_rate=self.learning_rate,
            decay=self.settings_.decay,
        )
        trained = train_node_embedding(
            Z, self.tree_, self.tree_.positive_nodes(Y), settings, seed=seed
        )
        self.encoder_ = LinearEncoder(trained.weights)
        self.index_ = DenseTreeIndex(
            self.tree_,
            trained.vectors,
            trained.biases,
            link="logistic" if each else "softmax",
            sharpness=_SHARPNESS,
        )

    def _walk_block(self, Z: csr_matrix, k: int, beam: int) -> TreeSearchResult:
        return self.index_.search(self.encoder_.encode(Z), k, beam)
