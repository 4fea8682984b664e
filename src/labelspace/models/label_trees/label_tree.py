"""Label trees: a few questions on the way from the root to a leaf, not one for each label.

Bengio, Weston and Grangier (2010) learn the tree from labels that are confused with each other:
the confusion matrix of one-vs-all classifiers, made symmetric, is clustered spectrally, again and
again. Each child of a node has a linear predictor, and a walk follows the largest. What counts is
the tree loss, whether any step of the walk is wrong:

    R(f) = ∫ max_{j on the way of x} 1[y ∉ l_j] dP(x, y)

which two relaxations make learnable: independent hinge losses of all nodes (1), or margins between
siblings, with one slack for each row (2). With several labels a node is right if it holds any of
them, and the walk keeps the best few nodes of each level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from scipy.sparse import csr_matrix

from labelspace.linear.node_classifiers import train_node_classifiers
from labelspace.linear.squared_hinge import train_squared_hinge
from labelspace.models.label_trees.one_slack import train_one_slack
from labelspace.models.label_trees.settings import LabelTreeSettings, TreeSettings
from labelspace.models.label_trees.tree_ranker import Slack, TreeRanker, slack_by_row
from labelspace.parameters import Settings, one_of, real, whole
from labelspace.search.tree_beam import TreeIndex, TreeSearchResult
from labelspace.selection import best_of
from labelspace.store import schema
from labelspace.topk import TopK

# What turns margins into probabilities. A yes or no is 0.95 at a margin of 1. Among siblings it
# takes more: softmax adds up all that lose, and many small ones would outweigh the winner.
_SHARPNESS = {"logistic": 3.0, "softmax": 8.0}


class LabelTree(TreeRanker):
    """A tree of labels with a linear predictor at each node.

    Parameters
    ----------
    relaxation : {1, 2}, default=2
        1: each node learns by itself to tell its rows from all others. 2: margins between
        siblings, so that a node only sees the rows that come to its parent.
    slack : {"auto", "row", "node"}, default="auto"
        Whether relaxation 2 has one slack for a row's whole way, as in the paper, or one for each
        child that it meets, which asks every child for a yes or no: better with several labels.
        "auto" takes "row" if every row has one label.
    affinity : {"auto", "confusion", "centroid", "cooccurrence", "random"}, default="auto"
        What says that labels are alike. "confusion" trains one-vs-all classifiers first; "auto"
        does so up to 200 labels, and beyond takes the "centroid" of each label's rows. "random"
        makes a random tree.
    branching : int, default=16
        Children of a node at most.
    leaf_size : int, default=64
        A node with at most so many labels has them as its children: no more splits.
    beam : int, default=10
        Nodes of each level that the walk keeps; 1 follows the best child alone.
    C : float or "auto", default="auto"
        Weight of the training error against the length of the weights: larger fits closer.
        "auto" tries 0.4, for labels that people give freely, and 1.0, for clear-cut ones, on a
        sample of 5,000 rows, and takes what ranks a held-out fifth of it better.
    min_weight : float, default=0.05
        Weights closer to zero are cut.
    idf : bool or "auto", default="auto"
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts.
    settings : dict or LabelTreeSettings, optional
        All else: ``max_depth``, ``balance``, ``tol``, ``max_iter``; see
        :class:`labelspace.models.label_trees.settings.LabelTreeSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are products of
        the probabilities of a path's steps.

    Attributes
    ----------
    tree_ : Tree
        The shape of the tree.
    index_ : TreeIndex
        Its predictors, ready to be walked.
    settings_ : LabelTreeSettings
        What was used of all else.
    C_ : float
        The C that was used.
    n_iter_ : int
        The most passes over rows that were made.

    Examples
    --------
    >>> from labelspace.models import LabelTree
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = LabelTree(random_state=0).fit(X, ["red", "red", "round", "round"])
    >>> model.predict([[0.7, 0.1]])
    array(['red'], dtype='<U5')
    >>> model.tree_loss(X, ["red", "red", "round", "round"])
    0.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeRanker._parameter_constraints,
        "relaxation": [whole(1, 2)],
        "C": [real(0), one_of("auto")],
        "min_weight": [real(0, closed="left")],
    }
    settings_type: ClassVar[type[Settings]] = LabelTreeSettings
    settings_: LabelTreeSettings

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("LabelTreeSettings", "BalancedLabelTreeSettings"),
        "index_": schema.part(
            "TreeIndex", n_labels="n_labels", features_end=schema.up_to("n_features")
        ),
        "C_": schema.number(0),
        "n_iter_": schema.integer(),
    }

    def __init__(
        self,
        *,
        relaxation: int = 2,
        slack: Slack = "auto",
        affinity: str = "auto",
        branching: int = 16,
        leaf_size: int = 64,
        beam: int = 10,
        C: float | Literal["auto"] = "auto",
        min_weight: float = 0.05,
        idf: bool | Literal["auto"] = "auto",
        settings: Mapping[str, Any] | TreeSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.relaxation = relaxation
        self.slack = slack
        self.affinity = affinity
        self.branching = branching
        self.leaf_size = leaf_size
        self.beam = beam
        self.C = C
        self.min_weight = min_weight
        self.idf = idf
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        Z, seed = self._begin(X, Y)
        by_row = self.relaxation == 2 and slack_by_row(self.slack, Y)
        self.C_ = self._best_C(Z, Y, by_row, seed) if self.C == "auto" else float(self.C)
        self.index_, self.n_iter_ = self._train(Z, Y, self.C_, by_row, seed)

    def _best_C(self, Z: csr_matrix, Y: csr_matrix, by_row: bool, seed: int) -> float:
        def answer(C: float, Z: csr_matrix, Y: csr_matrix, Z_new: csr_matrix, k: int) -> TopK:
            return self._train(Z, Y, C, by_row, seed)[0].search(Z_new, k, self.beam).top

        return best_of((1.0, 0.4), answer, Z, Y, seed=seed).choice

    def _train(
        self, Z: csr_matrix, Y: csr_matrix, C: float, by_row: bool, seed: int
    ) -> tuple[TreeIndex, int]:
        """Return the tree with predictors, and the passes that it took to learn them."""
        right = self.tree_.positive_nodes(Y)
        common: dict[str, Any] = {
            "C": C,
            "tol": self.settings_.tol,
            "max_iter": self.settings_.max_iter,
            "min_weight": self.min_weight,
            "seed": seed,
        }
        if self.relaxation == 1:
            trained = train_squared_hinge(Z, right, n_threads=self.n_threads, **common)
        elif by_row:
            trained = train_one_slack(Z, self.tree_, right, **common)
        else:
            trained = train_node_classifiers(
                Z, self.tree_, right, n_threads=self.n_threads, **common
            )
        link = "softmax" if by_row else "logistic"
        index = TreeIndex(
            self.tree_, trained.weights, trained.biases, link=link, sharpness=_SHARPNESS[link]
        )
        return index, trained.n_iter

    def _walk_block(self, Z: csr_matrix, k: int, beam: int) -> TreeSearchResult:
        return self.index_.search(Z, k, beam)
