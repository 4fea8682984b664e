"""What a label tree consists of, where each of its nodes has a linear predictor on words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelspace.models.label_trees.parabel import FOUND
from labelspace.registry import method_name
from labelspace.search.tree_beam import TreeIndex
from labelspace.tagger import Tagger

TREES = ("label-tree", "balanced-label-tree", "parabel")

_ARRAYS = ("chunk_ptr", "features", "entry_ptr", "nodes", "values")


class TreeModel(NamedTuple):
    """Trees that answer together, and how each is walked.

    ``told`` has the nodes of a level to keep, the labels to find in each tree at least, and of each
    tree how scores become probabilities.
    """

    indexes: list[TreeIndex]
    told: dict[str, Any]

    @staticmethod
    def of(tagger: Tagger) -> TreeModel | None:
        """Return the trees of a tagger; None if its method has none of linear predictors."""
        estimator: Any = tagger.estimator_
        if method_name(type(estimator)) not in TREES:
            return None
        several = hasattr(estimator, "indexes_")
        indexes = estimator.indexes_ if several else [estimator.index_]
        beam = estimator.beam
        told = {
            "beam": int(estimator.settings_.beam if several or beam is None else beam),
            "least_found": FOUND if several else 0,
            "links": [[index.link, index.sharpness] for index in indexes],
        }
        return TreeModel(indexes, told)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of all trees by name and number of the tree."""
        found: dict[str, NDArray[Any]] = {}
        for at, index in enumerate(self.indexes):
            found[f"first_child_{at}"] = np.asarray(index.tree.first_child)
            found[f"leaf_labels_{at}"] = np.asarray(index.tree.leaf_labels)
            found[f"biases_{at}"] = index.biases
            for name, array in zip(_ARRAYS, index.chunks, strict=True):
                found[f"{name}_{at}"] = array
        return found
