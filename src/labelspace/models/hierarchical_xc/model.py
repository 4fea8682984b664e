"""HierarchicalXC: a binary tree of labels, with a classifier of two outputs at each inner node.

The idea is that of Srinivasan, Rao and Agarwal (2018): labels that come together form clusters,
clusters form a binary tree by complete-link clustering with d = −co-occurrence or −IoU, and each
inner node decides, from the encoded row, for none, one or both of its children. Their program
ranks bibtex worse than a list of the most common labels; the page of the method says why. Here a
node's classifiers learn from the rows that have a label below it, by logistic loss, so that each
gives P(child | node, x), and

    P(label | x) = Π P(child | node, x) along the path from the root to the label

holds if they are right. The likeliest labels are found best first, at the cost of some dozen nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelspace.base import LabelRanker
from labelspace.deep.requirements import require_torch
from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.network import NetworkEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.errors import UsageError
from labelspace.explain import FeatureContributions
from labelspace.explanation import Explanation, Reason
from labelspace.linear.node_classifiers import train_node_classifiers
from labelspace.models.hierarchical_xc.best_first import BestFirstIndex
from labelspace.models.hierarchical_xc.complete_link import complete_link_tree
from labelspace.models.hierarchical_xc.platt import learn_platt
from labelspace.models.hierarchical_xc.projection import projection
from labelspace.models.hierarchical_xc.settings import HierarchicalXCSettings
from labelspace.parameters import one_of
from labelspace.search.sparse import SparseIndex
from labelspace.search.tree_beam import TreeSearchResult
from labelspace.selection import N_ROWS, Trial, best_of
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK

_MANY_LABELS = 20_000
_WIDE_LEAF = 32
# A node that decides goes on to children that are at least so likely.
_YES = 0.5

# Settings that are parameters too.
_TURNED = (
    "likeness",
    "balanced",
    "leaf_size",
    "projection",
    "dim",
    "C",
    "min_weight",
    "idf",
    "tol",
    "max_iter",
)


class HierarchicalXC(LabelRanker):
    """A binary tree of labels from complete-link clustering, with logistic classifiers.

    The default is not the report's method: it has another tree, balanced and by intersection over
    union, classifiers that see the features and not codes, and it weighs all paths, where the
    report's nodes decide. ``preset="paper"`` has the report's, and infers what that leaves open.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets where they differ.

    Parameters
    ----------
    preset : {"best", "paper", "repaired"}, default="best"
        "best" is what measures best; "paper" is the report's: plain complete link by co-occurrence,
        codes of an auto-encoder, which needs torch, and nodes that decide for none, one or both of
        their children. Three things of its auto-encoder are inferred: that it is linear, how wide
        codes are, and its optimiser with an L2 term; see :class:`HierarchicalXCSettings`. On bibtex
        its P@3 and P@5 are below those of the most common labels. "repaired" is "paper" without
        the L2 term, and learns.
    likeness : {"iou", "cooccurrence"}, optional
        What says that labels are alike: the rows that have both, divided by those that have
        either ("iou") or as they are: iou (cooccurrence).
    balanced : bool, optional
        Whether clusters are bounded and counted again as they grow, which makes a tree of about
        log2 of the labels in depth. Otherwise the tree is plain complete link, which is a chain
        on large label sets: for hundreds of labels only. True (False).
    leaf_size : int or "auto", optional
        A node with at most so many labels has them as its children, each with a classifier: a
        last step that is not binary. 32 mostly ranks better and visits more nodes. "auto" is 1,
        and 32 from 20,000 labels on: these have few rows each, and on long paths with few rows
        too much is lost: auto (1).
    projection : {"none", "svd", "random", "autoencoder"}, optional
        What classifiers see: the features themselves, or their code of ``dim`` dimensions, by
        singular vectors, by directions drawn at random, or by the linear auto-encoder of the
        report's program, which needs torch and encodes only if told to. The features are best
        or as good: none (autoencoder).
    dim : int, optional
        Dimensions of the code: 300 (inferred, as in NeuralXC's "paper": 256 on bibtex, 125 on
        delicious).
    C : float or "auto", optional
        Weight of the training error against the length of the weights: larger fits closer. Nodes
        with few rows get more, by the fourth root. "auto" tries 3, for labels that people give
        freely, and 24, for clear-cut ones, on a sample of 5,000 rows, and takes what ranks a
        held-out fifth of it better: auto.
    min_weight : float, optional
        Weights closer to zero are cut: 0.1 (0).
    idf : bool or "auto", optional
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts: auto (False).
    tol : float, optional
        How exactly classifiers are trained: the difference that is let pass between a row's score
        and the one that its share in the weights says: 0.3.
    max_iter : int, optional
        Passes over a node's rows at most: 100.
    settings : dict or HierarchicalXCSettings, optional
        All else: ``normalize``, ``decide`` and ``l2``; see
        :class:`labelspace.models.hierarchical_xc.settings.HierarchicalXCSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are probabilities:
        products of those of a path's steps, set right by rows held out from the same sample if
        there are 500 rows.

    Attributes
    ----------
    tree_ : Tree
        The shape of the tree; a leaf is a label.
    index_ : BestFirstIndex
        Its classifiers, ready to be searched.
    C_ : float
        The C that was used.
    platt_ : Platt
        What sets probabilities right.
    n_iter_ : int
        The most passes over rows that a classifier took.

    Examples
    --------
    >>> from labelspace.models import HierarchicalXC
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = HierarchicalXC(random_state=0).fit(X, ["red", "red", "round", "round"])
    >>> model.predict([[0.7, 0.1]])
    array(['red'], dtype='<U5')
    >>> model.count_visited([[0.7, 0.1]], k=1)
    array([2])
    """

    settings_type = HierarchicalXCSettings
    settings_: HierarchicalXCSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*HierarchicalXCSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*HierarchicalXCSettings.presets)],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("HierarchicalXCSettings"),
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "encoder_": schema.optional(
            schema.part("LinearEncoder", "NetworkEncoder", n_features="n_features", dim="n_seen")
        ),
        "tree_": schema.part("Tree", n_labels="n_labels"),
        "C_": schema.number(0),
        "platt_": schema.part("Platt"),
        "index_": schema.part("BestFirstIndex", n_labels="n_labels", features_end="features_end"),
        "n_iter_": schema.integer(),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if "index_" in state and not sizes.trusted:
            seen = "n_features" if state["encoder_"] is None else "n_seen"
            sizes.settle(schema.up_to(seen), sizes.known["features_end"])

    def __init__(
        self,
        *,
        preset: str = "best",
        likeness: str | None = None,
        balanced: bool | None = None,
        leaf_size: int | Literal["auto"] | None = None,
        projection: str | None = None,
        dim: int | None = None,
        C: float | Literal["auto"] | None = None,
        min_weight: float | None = None,
        idf: bool | Literal["auto"] | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        settings: Mapping[str, Any] | HierarchicalXCSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.likeness = likeness
        self.balanced = balanced
        self.leaf_size = leaf_size
        self.projection = projection
        self.dim = dim
        self.C = C
        self.min_weight = min_weight
        self.idf = idf
        self.tol = tol
        self.max_iter = max_iter
        self.settings = settings

    @property
    def gives_probabilities(self) -> bool:
        """Whether a score is the probability that the label is right."""
        return True

    def _validate_params(self) -> None:
        super()._validate_params()
        settings = self.settings
        given = settings if isinstance(settings, Mapping) else vars(settings) if settings else {}
        by_preset = "none" if self.preset == "best" else "autoencoder"
        if (self.projection or given.get("projection", by_preset)) == "autoencoder":
            require_torch("HierarchicalXC with projection='autoencoder'")

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31))
        self.settings_ = told = self._resolved(X, Y)
        self.rows_ = UnitRows(idf=told.idf, norm=told.normalize).learn(X)
        self.encoder_ = self._learn_encoder(self.rows_.encode(X), seed)
        Z = self._encode(X)
        by_size = _WIDE_LEAF if Y.shape[1] >= _MANY_LABELS else 1
        leaf_size = by_size if told.leaf_size == "auto" else int(told.leaf_size)
        self.tree_ = complete_link_tree(
            Y, told.likeness, balanced=told.balanced, leaf_size=leaf_size
        )
        trial = self._try(Z, Y, seed)
        self.C_ = trial.choice
        # More rows than the sample had make classifiers less careful.
        self.platt_ = learn_platt(trial.top, trial.Y).faded(min(1.0, N_ROWS / X.shape[0]))
        self.index_, self.n_iter_ = self._train(Z, Y, self.C_, seed)

    def _learn_encoder(self, X: csr_matrix, seed: int) -> LinearEncoder | NetworkEncoder | None:
        told = self.settings_
        if told.projection == "none":
            return None
        if told.projection == "autoencoder":
            from labelspace.models.hierarchical_xc.linear_autoencoder import (
                learn_linear_autoencoder,
            )

            own_seed = int(check_random_state(seed).randint(2**31))
            return learn_linear_autoencoder(X, told.dim, l2=told.l2, seed=own_seed)
        return projection(X, told.dim, told.projection, seed)

    def _encode(self, X: csr_matrix) -> csr_matrix:
        """Return what the classifiers see of rows or of their codes, by default of length one."""
        Z = self.rows_.encode(X)
        if self.encoder_ is None:
            return Z
        codes = csr_matrix(self.encoder_.encode(Z))
        return UnitRows(norm=self.settings_.normalize).encode(codes)

    def _try(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> Trial:
        def answer(C: float, Z: csr_matrix, Y: csr_matrix, Z_new: csr_matrix, k: int) -> TopK:
            index, _ = self._train(Z, Y, C, seed)
            return TreeSearchResult.stack([self._found(index, Z_new, k)]).top

        C = self.settings_.C
        choices = (24.0, 3.0) if C == "auto" else (float(C),)
        return best_of(choices, answer, Z, Y, seed=seed)

    def _train(
        self, Z: csr_matrix, Y: csr_matrix, C: float, seed: int
    ) -> tuple[BestFirstIndex, int]:
        """Return the tree with classifiers, and the passes that it took to learn them."""
        weights, biases, n_iter = train_node_classifiers(
            Z,
            self.tree_,
            self.tree_.positive_nodes(Y),
            loss="logistic",
            C=C,
            tol=self.settings_.tol,
            max_iter=self.settings_.max_iter,
            min_weight=self.settings_.min_weight,
            n_threads=self.n_threads,
            seed=seed,
        )
        return BestFirstIndex(self.tree_, weights, biases), n_iter

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        return self._walk(X, k).top

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """A reason is a feature; its weight is what it adds to the scores on the label's path."""
        if self.encoder_ is not None:
            raise UsageError(
                "explain names features, which classifiers of encoded rows do not see: "
                "train with projection='none'."
            )
        Z = self._encode(X)

        def reasons_for(row: int, label: int) -> list[Reason]:
            path = SparseIndex(self.index_.path_weights(label, Z.shape[1]))
            return FeatureContributions(Z[row], path).reasons_for(0)[:n_reasons]

        return [
            [Explanation(label, score, reasons_for(row, label)) for label, score in top.given(row)]
            for row in range(len(top))
        ]

    def _walk(self, X: csr_matrix, k: int) -> TreeSearchResult:
        def answer(block: csr_matrix) -> TreeSearchResult:
            return self._found(self.index_, block, k)

        found = TreeSearchResult.stack(in_blocks(answer, self._encode(X), self.n_threads))
        return found._replace(top=self.platt_.apply(found.top))

    def _found(self, index: BestFirstIndex, Z: csr_matrix, k: int) -> TreeSearchResult:
        return index.search(Z, k, least=_YES if self.settings_.decide else 0.0)

    def count_visited(self, X: Any, k: int | None = None) -> NDArray[np.int64]:
        """Return how many nodes finding the ``k`` likeliest labels takes, for each row.

        A node is visited when its classifier is asked; there are ``tree_.n_nodes``.
        """
        check_is_fitted(self, "_labels")
        return self._walk(self._checked(X, reset=False), self._asked(k)).n_products
