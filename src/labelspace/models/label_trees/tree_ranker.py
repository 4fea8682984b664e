"""What the estimators with a label tree have in common: the tree's shape, the walk, its loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelspace.base import LabelRanker
from labelspace.encoders.unit_rows import UnitRows
from labelspace.graph.tree import Tree
from labelspace.models.label_trees.settings import TreeSettings
from labelspace.models.label_trees.spectral_tree import TreeShape, learn_tree
from labelspace.parameters import one_of
from labelspace.search.tree_beam import TreeSearchResult
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK

Slack = Literal["auto", "row", "node"]

# Settings of every tree that are parameters too.
TURNED = ("slack", "branching", "leaf_size", "beam", "idf")


class TreeRanker(LabelRanker, ABC):
    """An estimator that learns a tree of labels and answers by walking it."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*TreeSettings.rules[name], None] for name in TURNED},
        "preset": [one_of(*TreeSettings.presets)],
    }
    beam: int | None
    settings_: TreeSettings
    rows_: UnitRows
    tree_: Tree

    _schema: ClassVar[schema.Schema] = {
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "tree_": schema.part("Tree", n_labels="n_labels"),
    }

    def _begin(self, X: csr_matrix, Y: csr_matrix) -> tuple[csr_matrix, int]:
        """Settle the settings and learn the tree; return rows of length one, and a seed."""
        seed = int(check_random_state(self.random_state).randint(2**31))
        self.settings_ = self._resolved(X, Y)
        self.rows_ = UnitRows(idf=self.settings_.idf, norm=self.settings_.normalize).learn(X)
        Z = self.rows_.encode(X)
        self.tree_ = self._learn_tree(Z, Y, seed)
        return Z, seed

    @abstractmethod
    def _learn_tree(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> Tree:
        """Return a tree of the labels that any row has."""

    def _spectral_tree(self, Z: csr_matrix, Y: csr_matrix, affinity: str, seed: int) -> Tree:
        told = self.settings_
        shape = TreeShape(told.branching, told.leaf_size, told.max_depth, told.balance)
        return learn_tree(Z, Y, shape, affinity, n_threads=self.n_threads, seed=seed)

    @abstractmethod
    def _walk_block(self, Z: csr_matrix, k: int, beam: int) -> TreeSearchResult:
        """Walk with some rows of length one."""

    def _walk(self, X: csr_matrix, k: int, beam: int) -> TreeSearchResult:
        def answer(block: csr_matrix) -> TreeSearchResult:
            return self._walk_block(block, k, beam)

        return TreeSearchResult.stack(in_blocks(answer, self.rows_.encode(X), self.n_threads))

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        return self._walk(X, k, self._beam).top

    @property
    def _beam(self) -> int:
        """Nodes of each level to keep: as it is told now, which may be after learning."""
        return self.settings_.beam if self.beam is None else self.beam

    def tree_loss(self, X: Any, y: Any) -> float:
        """Return the share of rows whose walk along the best children goes wrong."""
        check_is_fitted(self, "_labels")
        X = self._checked(X, reset=False)
        return self._walk(X, 1, beam=1).loss(self._labels.encode(y, X.shape[0]))

    def count_products(self, X: Any, k: int | None = None) -> NDArray[np.int64]:
        """Return how many inner products finding ``k`` labels takes; one-vs-all: ``n_labels_``.

        Where rows are mapped into a small space first, these are products of short vectors.
        """
        check_is_fitted(self, "_labels")
        return self._walk(self._checked(X, reset=False), self._asked(k), self._beam).n_products


def slack_by_row(slack: str, Y: csr_matrix) -> bool:
    """Tell whether a row has one slack for its whole way: "auto" says so if all have one label."""
    if slack == "auto":
        return bool(np.all(np.diff(Y.indptr) <= 1))
    return slack == "row"
