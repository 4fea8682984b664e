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
from labelspace.models.label_trees.label_tree import LabelTree
from labelspace.models.label_trees.overlapping_split import overlapping_split
from labelspace.models.label_trees.settings import BalancedLabelTreeSettings
from labelspace.models.label_trees.tree_ranker import Slack
from labelspace.parameters import Settings, real
from labelspace.store import schema


class BalancedLabelTree(LabelTree):
    """A label tree whose splits are learned, may overlap, and are bounded in cost.

    Parameters
    ----------
    ambiguity : float, default=1.5
        Labels that a step of the walk may leave on average, as a multiple of what an even split
        would leave, three quarters at most. 1 is the cheapest tree, without overlap; more lets
        labels be in several children: better answers for more inner products. Each level may have
        so many times the leaves of the one above, so overlap wants a wide tree.
    branching, leaf_size, beam
        The tree and the walk; as in :class:`labelspace.models.LabelTree`.
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
        What was used of all else.
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
        name: rule
        for name, rule in LabelTree._parameter_constraints.items()
        if name not in {"relaxation", "affinity"}
    } | {
        "ambiguity": [real(1, closed="left")],
    }
    settings_type: ClassVar[type[Settings]] = BalancedLabelTreeSettings
    settings_: BalancedLabelTreeSettings

    _schema: ClassVar[schema.Schema] = {
        # Of the tree that splits by likeness, as they are there by default.
        "relaxation": schema.option(2),
        "affinity": schema.option("auto"),
    }

    def __init__(
        self,
        *,
        ambiguity: float = 1.5,
        branching: int = 16,
        leaf_size: int = 64,
        beam: int = 10,
        slack: Slack = "auto",
        idf: bool | Literal["auto"] = "auto",
        C: float | Literal["auto"] = "auto",
        min_weight: float = 0.05,
        settings: Mapping[str, Any] | BalancedLabelTreeSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(
            branching=branching,
            leaf_size=leaf_size,
            beam=beam,
            slack=slack,
            idf=idf,
            C=C,
            min_weight=min_weight,
            settings=settings,
            k=k,
            threshold=threshold,
            random_state=random_state,
            n_threads=n_threads,
        )
        self.ambiguity = ambiguity

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
                ambiguity=self.ambiguity,
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
                labels, Y.shape[1], split, leaf_size=self.leaf_size, max_depth=told.max_depth
            )

    def _n_parts(self, n_labels: int) -> int:
        """Return how many children to make: no more than leaf-sized ones, with overlap, need."""
        return min(self.branching, max(2, int(np.ceil(self.ambiguity * n_labels / self.leaf_size))))
