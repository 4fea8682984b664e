"""The published systems, one file each, and their names on the command line."""

from __future__ import annotations

import importlib
import inspect
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from labelspace.errors import UsageError

if TYPE_CHECKING:
    from labelspace.base import LabelRanker
    from labelspace.models.annexml.model import AnnexML
    from labelspace.models.baselines.knn import NearestNeighbors
    from labelspace.models.baselines.most_common import MostCommon
    from labelspace.models.baselines.one_vs_all import OneVsAll
    from labelspace.models.baselines.random_labels import RandomLabels
    from labelspace.models.dxml.model import DXML
    from labelspace.models.glas.model import GLaS
    from labelspace.models.hierarchical_xc.model import HierarchicalXC
    from labelspace.models.hyperbolic.model import Hyperbolic
    from labelspace.models.label_trees.balanced_label_tree import BalancedLabelTree
    from labelspace.models.label_trees.label_embedding import LabelEmbedding
    from labelspace.models.label_trees.label_embedding_tree import LabelEmbeddingTree
    from labelspace.models.label_trees.label_tree import LabelTree
    from labelspace.models.labelspace.model import LabelSpace
    from labelspace.models.neuralxc.model import NeuralXC

# name on the command line: (module, class, one line for `labelspace methods`)
METHODS = {
    "labelspace": (
        "labelspace.model",
        "LabelSpace",
        "neighbours propose labels, classifiers rank them",
    ),
    "annexml": ("annexml.model", "AnnexML", "votes of nearest rows and labels in a learned space"),
    "label-tree": (
        "label_trees.label_tree",
        "LabelTree",
        "a linear predictor at each node of a label tree",
    ),
    "hyperbolic": ("hyperbolic.model", "Hyperbolic", "votes of nearest rows and labels in a ball"),
    "label-embedding": (
        "label_trees.label_embedding",
        "LabelEmbedding",
        "rows and labels in a small space",
    ),
    "label-embedding-tree": (
        "label_trees.label_embedding_tree",
        "LabelEmbeddingTree",
        "a label tree that is walked in a small space",
    ),
    "balanced-label-tree": (
        "label_trees.balanced_label_tree",
        "BalancedLabelTree",
        "a label tree with learned, overlapping splits of bounded cost",
    ),
    "hierarchicalxc": (
        "hierarchical_xc.model",
        "HierarchicalXC",
        "a binary tree of labels that come together, searched best first",
    ),
    "glas": (
        "glas.model",
        "GLaS",
        "rows and labels on one sphere, by a regularised network (deep)",
    ),
    "neuralxc": (
        "neuralxc.model",
        "NeuralXC",
        "auto-encoders of rows and label sets, joined (deep)",
    ),
    "dxml": ("dxml.model", "DXML", "votes of nearest rows where labels' walks put them (deep)"),
    "one-vs-all": (
        "baselines.one_vs_all",
        "OneVsAll",
        "a linear classifier per label, small weights cut",
    ),
    "knn": ("baselines.knn", "NearestNeighbors", "votes of the nearest rows, on features"),
    "most-common": (
        "baselines.most_common",
        "MostCommon",
        "the same most frequent labels for every row",
    ),
    "random": ("baselines.random_labels", "RandomLabels", "labels drawn at random: the floor"),
}
DEFAULT_METHOD = "labelspace"

__all__ = [
    "DEFAULT_METHOD",
    "DXML",
    "METHODS",
    "AnnexML",
    "BalancedLabelTree",
    "GLaS",
    "HierarchicalXC",
    "Hyperbolic",
    "LabelEmbedding",
    "LabelEmbeddingTree",
    "LabelSpace",
    "LabelTree",
    "MostCommon",
    "NearestNeighbors",
    "NeuralXC",
    "OneVsAll",
    "RandomLabels",
    "find",
    "make",
]


def find(name: str) -> type[LabelRanker]:
    """Return the estimator class of a method, such as ``"one-vs-all"``."""
    if name not in METHODS:
        raise UsageError(f"There is no method '{name}'{_nearest(name, METHODS)}")
    module, kind, _ = METHODS[name]
    try:
        return getattr(importlib.import_module(f"labelspace.models.{module}"), kind)
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] == "torch":
            raise UsageError(
                f"Method '{name}' needs PyTorch: install it with pip install 'labelspace[deep]'."
            ) from None
        raise


def make(name: str, **parameters: Any) -> LabelRanker:
    """Return a new estimator by the name of its method.

    >>> make("one-vs-all", C=0.5).C
    0.5
    """
    kind = find(name)
    known = parameter_names(kind)
    for parameter in parameters:
        if parameter not in known:
            raise UsageError(
                f"Method '{name}' has no parameter '{parameter}'{_nearest(parameter, known)}"
            )
    return kind(**parameters)


def parameter_names(kind: type[LabelRanker]) -> list[str]:
    """Return the names of an estimator's parameters."""
    return [name for name in inspect.signature(kind).parameters if name != "self"]


def _nearest(wrong: str, right: Any) -> str:
    close = get_close_matches(wrong, list(right), n=1, cutoff=0.5)
    if close:
        return f": did you mean '{close[0]}'?"
    return f": choose one of {', '.join(sorted(right))}."


def __getattr__(name: str) -> Any:
    for method, (_, kind, _) in METHODS.items():
        if kind == name:
            return find(method)
    raise AttributeError(f"module 'labelspace.models' has no attribute {name!r}")
