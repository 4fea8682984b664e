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

from labelspace.graph.tree import Tree
from labelspace.models.label_trees.predictor_tree import PREDICTORS_TURNED, PredictorTree
from labelspace.models.label_trees.settings import LabelTreeSettings
from labelspace.models.label_trees.tree_ranker import Slack
from labelspace.parameters import Settings
from labelspace.store import schema

_TURNED = ("relaxation", "affinity", *PREDICTORS_TURNED)


class LabelTree(PredictorTree):
    """A tree of labels with a linear predictor at each node.

    The default is no longer the paper's method: it has a slack for each child where rows have
    several labels, leaves of up to 64 labels, a beam of ten, squared slacks and rows of length one.
    ``preset="paper"`` is as printed.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets where they differ.

    Parameters
    ----------
    preset : {"best", "paper", "repaired"}, default="best"
        "best" is what measures best; "paper" is a tree of single labels from confusions, with one
        slack for a row's whole way, and a walk along the best child. "repaired" has a slack for
        each child and a walk along ten, both of which rows with several labels need.
    relaxation : {1, 2}, optional
        1: each node learns by itself to tell its rows from all others. 2: margins between
        siblings, so that a node only sees the rows that come to its parent: 2.
    slack : {"auto", "row", "node"}, optional
        Whether relaxation 2 has one slack for a row's whole way, as in the paper, or one for each
        child that it meets, which asks every child for a yes or no: better with several labels.
        "auto" takes "row" if every row has one label: auto (row; repaired: node).
    affinity : {"auto", "confusion", "centroid", "cooccurrence", "random"}, optional
        What says that labels are alike. "confusion" trains one-vs-all classifiers first; "auto"
        does so up to 200 labels, and beyond takes the "centroid" of each label's rows. "random"
        makes a random tree: auto (confusion).
    branching : int, optional
        Children of a node at most: 16.
    leaf_size : int, optional
        A node with at most so many labels has them as its children, no more splits: 64 (1).
    beam : int, optional
        Nodes of each level that the walk keeps; 1 follows the best child alone: 10 (1;
        repaired: 10).
    C : float or "auto", optional
        Weight of the training error against the length of the weights: larger fits closer.
        "auto" tries 0.4, for labels that people give freely, and 1.0, for clear-cut ones, on a
        sample of 5,000 rows, and takes what ranks a held-out fifth of it better; for rows that
        are not of length one, both divided by the mean of their squared lengths: auto.
    min_weight : float, optional
        Weights closer to zero are cut: 0.05 (0).
    idf : bool or "auto", optional
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers, 0-1 features or counts: auto (False).
    settings : dict or LabelTreeSettings, optional
        All else: ``max_depth``, ``balance``, ``normalize``, ``loss``, ``tol``, ``max_iter``; see
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
        The settings as preset and parameters have made them.
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
        **PredictorTree._parameter_constraints,
        **{name: [*LabelTreeSettings.rules[name], None] for name in _TURNED},
    }
    settings_type: ClassVar[type[Settings]] = LabelTreeSettings
    settings_: LabelTreeSettings

    _schema: ClassVar[schema.Schema] = {"settings_": schema.part("LabelTreeSettings")}

    def __init__(
        self,
        *,
        preset: str = "best",
        relaxation: int | None = None,
        slack: Slack | None = None,
        affinity: str | None = None,
        branching: int | None = None,
        leaf_size: int | None = None,
        beam: int | None = None,
        C: float | Literal["auto"] | None = None,
        min_weight: float | None = None,
        idf: bool | Literal["auto"] | None = None,
        settings: Mapping[str, Any] | LabelTreeSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
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

    @property
    def _relaxation(self) -> int:
        return self.settings_.relaxation

    def _learn_tree(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> Tree:
        return self._spectral_tree(Z, Y, self.settings_.affinity, seed)
