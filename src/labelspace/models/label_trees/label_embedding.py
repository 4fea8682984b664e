"""Label embedding: rows and labels in one small space, where a label costs a short product.

Bengio, Weston and Grangier (2010) map a row to Wx and give each label a vector V_y; the label of
largest product wins. W and V are learned together, which is not convex,

    min γ‖W‖² + (1/m) Σ_i ξ_i²   such that   (Wx_i)·V_y ≥ (Wx_i)·V_j + 1 − ξ_i,   ‖V_j‖ ≤ 1

or in a sequence of convex problems: V by Laplacian eigenmaps of an affinity of labels, so that
labels that are easily confused lie together, then W such that a row is nearer to its label than to
others, ‖Wx_i − V_y‖² ≤ ‖Wx_i − V_j‖² + ξ_i.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import with_constant
from labelspace.graph.spectral import laplacian_eigenmaps
from labelspace.graph.tree import Tree, flat_tree
from labelspace.models.label_trees.affinity import label_affinity
from labelspace.models.label_trees.embedding_settings import LabelEmbeddingSettings
from labelspace.models.label_trees.node_embedding import NodeEmbeddingSettings, train_node_embedding
from labelspace.models.label_trees.tree_ranker import Slack, slack_by_row
from labelspace.parameters import Settings, one_of
from labelspace.search.exact import ExactIndex
from labelspace.store import schema
from labelspace.topk import TopK

# Settings that are parameters too.
_TURNED = (
    "learning",
    "dim",
    "slack",
    "affinity",
    "n_epochs",
    "learning_rate",
    "decay",
    "n_sampled",
    "idf",
    "normalize",
)


class LabelEmbedding(LabelRanker):
    """A linear map of rows into a small space, and a vector there for each label.

    The default is no longer the paper's method: it learns map and vectors together, with a margin,
    a bias and squared slacks, one for each label where rows have several, on rows of length one.
    ``preset="paper"`` is as printed.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets where they differ.

    Parameters
    ----------
    preset : {"best", "paper", "repaired"}, default="best"
        "best" is what measures best; "paper" is the sequence of convex problems, as printed, and
        "repaired" the joint problem with a margin and a slack for each label.
    learning : {"joint", "sequence"}, optional
        Whether map and vectors are learned together, or first the vectors from the affinity of
        labels, by Laplacian eigenmaps, and then the map: a row is to be no farther from its label
        than from any other, whatever ``slack`` says: joint (sequence).
    dim : int, optional
        Dimensions of the space: 100.
    slack : {"auto", "row", "node"}, optional
        Whether a row asks for a margin between its labels and the worst other, or for a yes or no
        of each label, which is better with several labels. "auto" takes "row" if every row has
        one label: auto (row; repaired: node).
    affinity : {"auto", "confusion", "centroid", "cooccurrence"}, optional
        What says that labels are alike; see :class:`labelspace.models.LabelTree`: auto (confusion).
    n_epochs : int, optional
        Passes over the rows: 10 (100; repaired: 10).
    learning_rate : float, optional
        First step size, which AdaGrad makes smaller: 0.05 (0.02; repaired: 0.05).
    decay : float, optional
        γ: larger keeps the map shorter: 1e-6.
    n_sampled : int, optional
        Labels that a row is compared with in training, those alike to its own and random ones:
        1,024 (all).
    idf : bool or "auto", optional
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers, 0-1 features or counts: auto (False).
    normalize : bool, optional
        Whether rows are scaled to length one: True (False).
    settings : dict or LabelEmbeddingSettings, optional
        The same, all at once; see
        :class:`labelspace.models.label_trees.embedding_settings.LabelEmbeddingSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are products in the
        space.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The map.
    labels_ : ExactIndex
        The vectors of the labels that any row has, each with its bias.
    settings_ : LabelEmbeddingSettings
        The settings as preset and parameters have made them.

    Examples
    --------
    >>> from labelspace.models import LabelEmbedding
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = LabelEmbedding(random_state=0).fit(X, ["red", "red", "round", "round"])
    >>> model.predict([[0.7, 0.1]])
    array(['red'], dtype='<U5')
    """

    settings_type: ClassVar[type[Settings]] = LabelEmbeddingSettings
    settings_: LabelEmbeddingSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*LabelEmbeddingSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*LabelEmbeddingSettings.presets)],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("LabelEmbeddingSettings"),
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "encoder_": schema.part("LinearEncoder", n_features="n_features", dim="dim"),
        "labels_": schema.part(
            "ExactIndex", dim=schema.plus("dim", 1), ids_end=schema.up_to("n_labels")
        ),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if "labels_" in state and not sizes.trusted:
            schema.check_unique(state["labels_"].ids)

    def __init__(
        self,
        *,
        preset: str = "best",
        learning: Literal["joint", "sequence"] | None = None,
        dim: int | None = None,
        slack: Slack | None = None,
        affinity: str | None = None,
        n_epochs: int | None = None,
        learning_rate: float | None = None,
        decay: float | None = None,
        n_sampled: int | None = None,
        idf: bool | Literal["auto"] | None = None,
        normalize: bool | None = None,
        settings: Mapping[str, Any] | LabelEmbeddingSettings | None = None,
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
        self.affinity = affinity
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.decay = decay
        self.n_sampled = n_sampled
        self.idf = idf
        self.normalize = normalize
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31))
        self.settings_ = told = self._resolved(X, Y)
        self.rows_ = UnitRows(idf=told.idf, norm=told.normalize).learn(X)
        Z = self.rows_.encode(X)
        labels = np.flatnonzero(self.label_counts_)
        tree = flat_tree(labels, Y.shape[1])
        sequence, alike = told.learning == "sequence", None
        if sequence or labels.size > told.n_sampled:
            alike = label_affinity(Z, Y, told.affinity, n_threads=self.n_threads, seed=seed)
            alike = csr_matrix(alike[labels][:, labels])
        trained = train_node_embedding(
            Z,
            tree,
            tree.positive_nodes(Y),
            self._training(Y),
            vectors=self._places(alike, seed) if sequence else None,
            near=None if alike is None else _as_nodes(alike, tree),
            seed=seed,
        )
        self.encoder_ = LinearEncoder(trained.weights)
        keys = np.column_stack((trained.vectors, trained.biases))[1:]
        self.labels_ = ExactIndex(keys.astype(np.float32), labels)

    def _training(self, Y: csr_matrix) -> NodeEmbeddingSettings:
        told = self.settings_
        return NodeEmbeddingSettings.of(
            told, sequence=told.learning == "sequence", by_row=slack_by_row(told.slack, Y)
        )

    def _places(self, alike: csr_matrix | None, seed: int) -> NDArray[np.float32]:
        """Return where eigenmaps put the labels, Vᵀ D V = I; the root, node 0, is nowhere."""
        assert alike is not None
        dim = self.settings_.dim
        places = laplacian_eigenmaps(alike, dim, seed)
        return np.concatenate((np.zeros((1, dim), dtype=np.float32), places))

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        Z = self.encoder_.encode(self.rows_.encode(X))
        found = self.labels_.search(with_constant(Z), k)
        return TopK(found.ids, found.products)


def _as_nodes(alike: csr_matrix, tree: Tree) -> csr_matrix:
    """Return an affinity of labels as one of the nodes of a flat tree, whose root comes first."""
    pairs = alike.tocoo()
    return csr_matrix(
        (pairs.data, (pairs.row + 1, pairs.col + 1)), shape=(tree.n_nodes, tree.n_nodes)
    )
