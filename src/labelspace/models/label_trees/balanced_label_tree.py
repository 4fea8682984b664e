"""Balanced label trees: splits learned with their predictors, labels in several children.

Deng, Satheesh, Berg and Fei-Fei (2011) answer three limits of label trees. They need no one-vs-all
classifiers, since each node learns its split and its predictors in turns; a label may be in several
children, so that a row which goes either way still finds it; and how many labels a step may leave
is bounded, so that the tree is even where rows go. The bound trades accuracy against cost:

    max accuracy of the children   such that   mean share of labels left ≤ ambiguity / branching

See ``overlapping_split`` for the turns. The finished tree is trained and walked as a ``LabelTree``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import progress
from labelspace.graph.tree import Labels, Tree, grow_tree
from labelspace.models.label_trees.overlapping_split import overlapping_split
from labelspace.models.label_trees.predictor_tree import PredictorTree
from labelspace.models.label_trees.settings import BalancedLabelTreeSettings
from labelspace.models.label_trees.tree_ranker import Slack
from labelspace.parameters import Settings
from labelspace.store import schema


class BalancedLabelTree(PredictorTree):
    """A label tree whose splits are learned, may overlap, and are bounded in cost.

    The default is no longer the paper's method: it has a slack for each child where rows have
    several labels, leaves of up to 64 labels, a beam of ten, squared slacks and rows of length one.
    ``preset="paper"`` is as printed, as far as the slides say.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets where they differ.

    Parameters
    ----------
    preset : {"best", "paper", "repaired"}, default="best"
        "best" is what measures best; "paper" has one slack for a row's whole way and a walk along
        the best child. "repaired" has a slack for each child and a walk along ten, both of which
        rows with several labels need.
    ambiguity : float, optional
        Labels that a step of the walk may leave on average, as a multiple of what an even split
        would leave, three quarters at most. 1 is the cheapest tree, without overlap; more lets
        labels be in several children: better answers for more inner products. Each level may have
        so many times the leaves of the one above, so overlap wants a wide tree: 1.5.
    branching, leaf_size, beam
        The tree and the walk; as in :class:`labelspace.models.LabelTree`, but the paper's leaves
        hold two labels, and its walk takes the best child (1; repaired: 10).
    slack, C, min_weight, idf
        The predictors; as in :class:`labelspace.models.LabelTree`, relaxation 2.
    settings : dict or BalancedLabelTreeSettings, optional
        All else: ``n_rounds`` and what a label tree has; see
        :class:`labelspace.models.label_trees.settings.BalancedLabelTreeSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`.

    Attributes
    ----------
    tree_ : Tree
        The shape of the tree; a label may have several leaves.
    settings_ : BalancedLabelTreeSettings
        The settings as preset and parameters have made them.
    index_, C_, n_iter_
        The predictors; as in :class:`labelspace.models.LabelTree`.

    Examples
    --------
    >>> from labelspace.models import BalancedLabelTree
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = BalancedLabelTree(random_state=0).fit(X, ["red", "red", "round", "round"])
    >>> model.predict([[0.7, 0.1]])
    array(['red'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PredictorTree._parameter_constraints,
        "ambiguity": [*BalancedLabelTreeSettings.rules["ambiguity"], None],
    }
    settings_type: ClassVar[type[Settings]] = BalancedLabelTreeSettings
    settings_: BalancedLabelTreeSettings

    _schema: ClassVar[schema.Schema] = {"settings_": schema.part("BalancedLabelTreeSettings")}

    def __init__(
        self,
        *,
        preset: str = "best",
        ambiguity: float | None = None,
        branching: int | None = None,
        leaf_size: int | None = None,
        beam: int | None = None,
        slack: Slack | None = None,
        idf: bool | Literal["auto"] | None = None,
        C: float | Literal["auto"] | None = None,
        min_weight: float | None = None,
        settings: Mapping[str, Any] | BalancedLabelTreeSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.ambiguity = ambiguity
        self.branching = branching
        self.leaf_size = leaf_size
        self.beam = beam
        self.slack = slack
        self.idf = idf
        self.C = C
        self.min_weight = min_weight
        self.settings = settings

    def _learn_tree(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> Tree:
        """Split the labels that any row has, each node on the rows that it holds a label of."""
        by_label, told = Y.tocsc(), self.settings_

        def split(held: Labels) -> list[Labels]:
            here = csr_matrix(by_label[:, held])
            rows = np.flatnonzero(np.diff(here.indptr))
            parts = overlapping_split(
                csr_matrix(Z[rows]),
                csr_matrix(here[rows]),
                self._n_parts(held.size),
                ambiguity=told.ambiguity,
                balance=told.balance,
                n_rounds=told.n_rounds,
                n_threads=self.n_threads,
                seed=seed,
            )
            advance(1)
            return [held[part] for part in parts]

        labels = np.flatnonzero(self.label_counts_)
        if not labels.size:
            labels = np.zeros(1, dtype=np.int64)
        with progress.task("splitting labels") as advance:
            return grow_tree(
                labels, Y.shape[1], split, leaf_size=told.leaf_size, max_depth=told.max_depth
            )

    def _n_parts(self, n_labels: int) -> int:
        """Return how many children to make: no more than leaf-sized ones, with overlap, need."""
        told = self.settings_
        needed = int(np.ceil(told.ambiguity * n_labels / told.leaf_size))
        return min(told.branching, max(2, needed))
