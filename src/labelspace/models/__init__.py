"""The published systems, one file each, and their names on the command line."""

from __future__ import annotations

import importlib
import inspect
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from labelspace.errors import UsageError

if TYPE_CHECKING:
    from labelspace.base import LabelRanker
    from labelspace.models.annexml import AnnexML
    from labelspace.models.balanced_label_tree import BalancedLabelTree
    from labelspace.models.dxml import DXML
    from labelspace.models.glas import GLaS
    from labelspace.models.hierarchical_xc import HierarchicalXC
    from labelspace.models.hyperbolic import Hyperbolic
    from labelspace.models.label_embedding import LabelEmbedding
    from labelspace.models.label_embedding_tree import LabelEmbeddingTree
    from labelspace.models.label_tree import LabelTree
    from labelspace.models.labelspace import LabelSpace
    from labelspace.models.most_common import MostCommon
    from labelspace.models.nearest_neighbors import NearestNeighbors
    from labelspace.models.neural_xc import NeuralXC
    from labelspace.models.one_vs_all import OneVsAll
    from labelspace.models.random_labels import RandomLabels

# name on the command line: (module, class, one line for `labelspace methods`)
METHODS = {
    "labelspace": ("labelspace", "LabelSpace", "neighbours propose labels, classifiers rank them"),
    "annexml": ("annexml", "AnnexML", "votes of nearest rows and labels in a learned space"),
    "label-tree": ("label_tree", "LabelTree", "a linear predictor at each node of a label tree"),
    "hyperbolic": ("hyperbolic", "Hyperbolic", "votes of nearest rows and labels in a ball"),
    "label-embedding": ("label_embedding", "LabelEmbedding", "rows and labels in a small space"),
    "label-embedding-tree": (
        "label_embedding_tree",
        "LabelEmbeddingTree",
        "a label tree that is walked in a small space",
    ),
    "balanced-label-tree": (
        "balanced_label_tree",
        "BalancedLabelTree",
        "a label tree with learned, overlapping splits of bounded cost",
    ),
    "hierarchicalxc": (
        "hierarchical_xc",
        "HierarchicalXC",
        "a binary tree of labels that come together, searched best first",
    ),
    "glas": ("glas", "GLaS", "rows and labels on one sphere, by a regularised network (deep)"),
    "neuralxc": ("neural_xc", "NeuralXC", "auto-encoders of rows and label sets, joined (deep)"),
    "dxml": ("dxml", "DXML", "votes of nearest rows where labels' walks put them (deep)"),
    "one-vs-all": ("one_vs_all", "OneVsAll", "a linear classifier per label, small weights cut"),
    "knn": ("nearest_neighbors", "NearestNeighbors", "votes of the nearest rows, on features"),
    "most-common": ("most_common", "MostCommon", "the same most frequent labels for every row"),
    "random": ("random_labels", "RandomLabels", "labels drawn at random: the floor"),
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
