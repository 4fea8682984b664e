"""What label trees with linear predictors have in common: how these are learned and asked.

The tree is there first; a subclass says where it comes from. See ``label_tree`` for the losses.
"""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack

from labelspace.graph.tree import flat_tree
from labelspace.linear.node_classifiers import train_node_classifiers
from labelspace.linear.squared_hinge import LinearClassifiers, train_squared_hinge
from labelspace.models.label_trees.one_slack import train_one_slack
from labelspace.models.label_trees.settings import PredictorSettings
from labelspace.models.label_trees.tree_ranker import TreeRanker, slack_by_row
from labelspace.search.tree_beam import TreeIndex, TreeSearchResult
from labelspace.selection import best_of
from labelspace.store import schema
from labelspace.topk import TopK

# Settings that are parameters too, beside those of every tree.
PREDICTORS_TURNED = ("C", "min_weight")

# What is tried for C, for rows of length one.
_CHOICES = (1.0, 0.4)

# What turns margins into probabilities. A yes or no is 0.95 at a margin of 1. Among siblings it
# takes more: softmax adds up all that lose, and many small ones would outweigh the winner.
_SHARPNESS = {"logistic": 3.0, "softmax": 8.0}


class PredictorTree(TreeRanker, ABC):
    """A tree of labels with a linear predictor at each node."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TreeRanker._parameter_constraints,
        **{name: [*PredictorSettings.rules[name], None] for name in PREDICTORS_TURNED},
    }
    settings_: PredictorSettings

    _schema: ClassVar[schema.Schema] = {
        "index_": schema.part(
            "TreeIndex", n_labels="n_labels", features_end=schema.up_to("n_features")
        ),
        "C_": schema.number(0),
        "n_iter_": schema.integer(),
    }

    @property
    def _relaxation(self) -> int:
        return 2

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        Z, seed = self._begin(X, Y)
        by_row = self._relaxation == 2 and slack_by_row(self.settings_.slack, Y)
        C = self.settings_.C
        self.C_ = self._best_C(Z, Y, by_row, seed) if C == "auto" else float(C)
        self.index_, self.n_iter_ = self._train(Z, Y, self.C_, by_row, seed)

    def _best_C(self, Z: csr_matrix, Y: csr_matrix, by_row: bool, seed: int) -> float:
        def answer(C: float, Z: csr_matrix, Y: csr_matrix, Z_new: csr_matrix, k: int) -> TopK:
            return self._train(Z, Y, C, by_row, seed)[0].search(Z_new, k, self._beam).top

        choices = _CHOICES
        if not self.settings_.normalize:
            # Rows twice as long as others take weights half as long, and so a fourth of the error.
            lengths = np.square(Z.data).sum(dtype=np.float64) / max(Z.shape[0], 1)
            choices = (_CHOICES[0] / max(lengths, 1e-9), _CHOICES[1] / max(lengths, 1e-9))
        return best_of(choices, answer, Z, Y, seed=seed).choice

    def _train(
        self, Z: csr_matrix, Y: csr_matrix, C: float, by_row: bool, seed: int
    ) -> tuple[TreeIndex, int]:
        """Return the tree with predictors, and the passes that it took to learn them."""
        right = self.tree_.positive_nodes(Y)
        common: dict[str, Any] = {
            "C": C,
            "tol": self.settings_.tol,
            "max_iter": self.settings_.max_iter,
            "min_weight": self.settings_.min_weight,
            "seed": seed,
        }
        loss = self.settings_.loss
        if by_row:
            squared = loss == "squared_hinge"
            trained = train_one_slack(Z, self.tree_, right, squared=squared, **common)
        elif self._relaxation == 2:
            trained = train_node_classifiers(
                Z, self.tree_, right, loss=loss, n_threads=self.n_threads, **common
            )
        elif loss == "squared_hinge":
            trained = train_squared_hinge(Z, right, n_threads=self.n_threads, **common)
        else:
            trained = _train_hinge(Z, right, n_threads=self.n_threads, **common)
        link = "softmax" if by_row else "logistic"
        index = TreeIndex(
            self.tree_, trained.weights, trained.biases, link=link, sharpness=_SHARPNESS[link]
        )
        return index, trained.n_iter

    def _walk_block(self, Z: csr_matrix, k: int, beam: int) -> TreeSearchResult:
        return self.index_.search(Z, k, beam)


def _train_hinge(Z: csr_matrix, right: csr_matrix, **how: Any) -> LinearClassifiers:
    """Train each node against all rows, with hinges that count as they are.

    To the solver of siblings these are the children of a root that every row is at.
    """
    n_nodes = right.shape[1]
    at_root = csr_matrix(np.ones((Z.shape[0], 1), dtype=np.float32))
    tree = flat_tree(np.arange(n_nodes), n_nodes)
    nodes = csr_matrix(hstack((at_root, right)))
    trained = train_node_classifiers(Z, tree, nodes, loss="hinge", **how)
    return LinearClassifiers(trained.weights[1:], trained.biases[1:], trained.n_iter)
