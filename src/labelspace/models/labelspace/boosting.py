"""Boosted trees that correct log odds: whom to trust depends on the case.

Gradient boosting of the log loss (Friedman, 2001) with oblivious trees, which ask the same question
in all nodes of a level: few numbers, hard to overfit, and an answer takes as many comparisons as
the tree is deep. They start from log odds that are given, so that where there is little to learn
from these stay as they are. Each tree sees half of the rows (Friedman, 2002), so that none goes by
what few of them have.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from labelspace.models.labelspace import _boosting_kernels as kernels
from labelspace.store import Storable, schema

MOST_BINS = 64


# No figure is larger: at this threshold a question is always answered with no.
_NEVER = 1e12
_DEEPEST = 16


def _check_leaves(value: Any, sizes: schema.Sizes) -> None:
    """Trees have a leaf for each way through their levels."""
    depth = min(sizes.known["depth"], _DEEPEST)
    schema.array("float32", "n_trees", 1 << depth)(value, sizes)


class BoostedTrees(Storable):
    """Oblivious trees, one after the other.

    Parameters
    ----------
    splits : ndarray of shape (n_trees, depth), int16
        Feature that a tree asks at each level.
    thresholds : ndarray of shape (n_trees, depth), float32
        What it is compared with: larger goes on to the second half of the leaves.
    values : ndarray of shape (n_trees, 2 ** depth), float32
        What each leaf adds to the log odds.
    """

    _schema: ClassVar[schema.Schema] = {
        "splits": schema.array("int16", "n_trees", "depth", low=0, below=kernels.N_FEATURES),
        "thresholds": schema.array("float32", "n_trees", "depth"),
        "values": _check_leaves,
    }

    def __init__(
        self,
        splits: NDArray[np.int16],
        thresholds: NDArray[np.float32],
        values: NDArray[np.float32],
    ) -> None:
        self.splits = splits
        self.thresholds = thresholds
        self.values = values

    @classmethod
    def none(cls) -> BoostedTrees:
        """Return no trees, which change nothing."""
        return cls(
            np.zeros((0, 1), dtype=np.int16),
            np.zeros((0, 1), dtype=np.float32),
            np.zeros((0, 2), dtype=np.float32),
        )

    @property
    def n_trees(self) -> int:
        return len(self.splits)

    def first(self, n_trees: int) -> BoostedTrees:
        """Return the first trees alone."""
        return BoostedTrees(self.splits[:n_trees], self.thresholds[:n_trees], self.values[:n_trees])

    def losses(
        self,
        features: NDArray[np.float32],
        is_true: NDArray[np.bool_],
        logits: NDArray[np.floating],
    ) -> NDArray[np.float64]:
        """Return the log loss of some cases after none of the trees, after one, and so on."""
        losses = np.zeros(self.n_trees + 1)
        start = np.asarray(logits, dtype=np.float64)
        trees = self.splits, self.thresholds, self.values
        kernels.losses_by_tree(features, is_true, start, *trees, losses)
        return losses


def grow_trees(
    features: NDArray[np.float32],
    is_true: NDArray[np.bool_],
    logits: NDArray[np.floating],
    rows: NDArray[np.int64] | None = None,
    *,
    n_trees: int = 100,
    depth: int = 4,
    rate: float = 0.1,
    l2: float = 10.0,
    fewest: float = 2.5,
) -> BoostedTrees:
    """Return trees that make the log loss of ``logits`` smaller.

    Parameters
    ----------
    features : ndarray of shape (n, n_features)
    is_true : ndarray of shape (n,), bool
    logits : ndarray of shape (n,)
        The log odds to start from.
    rows : ndarray of shape (n,), optional
        Which cases belong together: each tree is grown on half of the rows. Every case is one
        unless given.
    rate : float
        How much of a Newton step each tree takes.
    l2 : float
        Weight of leaves' squares: how many undecided cases (in units of their curvature) it takes
        to believe a leaf half.
    fewest : float
        Curvature that both sides of a split have at least, for it to count in a leaf.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 2000, dtype=np.float32)[:, np.newaxis]
    >>> trees = grow_trees(x, x[:, 0] > 0.5, np.zeros(2000), n_trees=50, depth=1)
    >>> bool(abs(np.median(trees.thresholds) - 0.5) < 0.05)
    True
    """
    columns, edges = _binned(features)
    splits = np.zeros((n_trees, depth), dtype=np.int16)
    cuts = np.zeros((n_trees, depth), dtype=np.int64)
    values = np.zeros((n_trees, 1 << depth))
    n_bins = np.array([len(one) + 1 for one in edges])
    start = np.array(logits, dtype=np.float64)
    owners = np.arange(len(features)) if rows is None else rows
    told = columns, n_bins, owners, is_true.astype(np.float64), start
    kernels.boost(*told, rate, l2, fewest, splits, cuts, values)
    thresholds = [
        edges[feature][cut] if cut < len(edges[feature]) else _NEVER
        for feature, cut in zip(splits.ravel(), cuts.ravel(), strict=True)
    ]
    return BoostedTrees(
        splits,
        np.array(thresholds, dtype=np.float32).reshape(splits.shape),
        values.astype(np.float32),
    )


def _binned(features: NDArray[np.float32]) -> tuple[NDArray[np.uint8], list[NDArray[np.float32]]]:
    """Return the bin of each value, (n_features, n), and the upper edges of all bins but the last.

    Bins hold about as many values each; a value lies in the first bin whose edge it does not pass.
    """
    places = np.linspace(0.0, 1.0, MOST_BINS + 1)[1:-1]
    columns = np.empty(features.shape[::-1], dtype=np.uint8)
    edges = []
    for number, column in enumerate(features.T):
        edge = np.unique(np.quantile(column, places, method="nearest"))
        edge = edge[edge < column.max(initial=-np.inf)]
        columns[number] = np.searchsorted(edge, column, side="left")
        edges.append(edge)
    return columns, edges
