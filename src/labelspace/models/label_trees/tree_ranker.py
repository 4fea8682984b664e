"""What the estimators with a label tree have in common: the tree's shape, the walk, its loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from labelspace.base import LabelRanker
from labelspace.encoders.unit_rows import UnitRows
from labelspace.graph.tree import Tree
from labelspace.models.label_trees.structure import AFFINITIES, TreeShape, learn_tree
from labelspace.search.tree_beam import BeamResult
from labelspace.threads import in_blocks
from labelspace.topk import TopK

Slack = Literal["auto", "row", "node"]


class TreeRanker(LabelRanker, ABC):
    """An estimator that learns a tree of labels and answers by walking it."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "slack": [StrOptions({"auto", "row", "node"})],
        "affinity": [StrOptions({"auto", "random", *AFFINITIES})],
        "branching": [Interval(Integral, 2, None, closed="left")],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "balance": [Interval(Real, 0, 1, closed="both")],
        "beam": [Interval(Integral, 1, None, closed="left")],
        "idf": ["boolean", StrOptions({"auto"})],
    }
    rows_: UnitRows
    tree_: Tree

    def __init__(
        self,
        *,
        slack: Slack,
        affinity: str,
        branching: int,
        leaf_size: int,
        max_depth: int | None,
        balance: float,
        beam: int,
        idf: bool | Literal["auto"],
        k: int,
        threshold: float | None,
        random_state: Any,
        n_threads: int | None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.slack = slack
        self.affinity = affinity
        self.branching = branching
        self.leaf_size = leaf_size
        self.max_depth = max_depth
        self.balance = balance
        self.beam = beam
        self.idf = idf

    def _learn_tree(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> Tree:
        shape = TreeShape(self.branching, self.leaf_size, self.max_depth, self.balance)
        return learn_tree(Z, Y, shape, self.affinity, n_threads=self.n_threads, seed=seed)

    @abstractmethod
    def _walk_block(self, Z: csr_matrix, k: int, beam: int) -> BeamResult:
        """Walk with some rows of length one."""

    def _walk(self, X: csr_matrix, k: int, beam: int) -> BeamResult:
        def answer(block: csr_matrix) -> BeamResult:
            return self._walk_block(block, k, beam)

        return BeamResult.stack(in_blocks(answer, self.rows_.encode(X), self.n_threads))

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        return self._walk(X, k, self.beam).top

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
        return self._walk(self._checked(X, reset=False), self._asked(k), self.beam).n_products


def slack_by_row(slack: Slack, Y: csr_matrix) -> bool:
    """Tell whether a row has one slack for its whole way: "auto" says so if all have one label."""
    if slack == "auto":
        return bool(np.all(np.diff(Y.indptr) <= 1))
    return slack == "row"
