"""The published systems, one file each, and their names on the command line."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

from labelspace.errors import UsageError, nearest
from labelspace.registry import DEFAULT_METHOD, METHODS

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
    from labelspace.models.label_compression.column_subset import MLCSSP
    from labelspace.models.label_compression.compressed_sensing import CompressedSensing
    from labelspace.models.label_compression.principal_labels import CPLST, PLST
    from labelspace.models.label_trees.balanced_label_tree import BalancedLabelTree
    from labelspace.models.label_trees.label_embedding import LabelEmbedding
    from labelspace.models.label_trees.label_embedding_tree import LabelEmbeddingTree
    from labelspace.models.label_trees.label_tree import LabelTree
    from labelspace.models.label_trees.parabel import Parabel
    from labelspace.models.labelspace.model import LabelSpace
    from labelspace.models.leml.model import LEML
    from labelspace.models.leml.robustxml import RobustXML
    from labelspace.models.neuralxc.model import NeuralXC
    from labelspace.models.row_trees.fastxml import FastXML
    from labelspace.models.row_trees.lpsr import LPSR
    from labelspace.models.row_trees.pfastrexml import PfastreXML
    from labelspace.models.sleec.model import SLEEC
    from labelspace.models.sparse_margins.pdsparse import PDSparse
    from labelspace.models.sparse_margins.ppdsparse import PPDSparse
    from labelspace.models.sparse_margins.proxml import ProXML
    from labelspace.models.wsabie.model import WSABIE
    from labelspace.models.xml_cnn.model import XMLCNN

__all__ = [
    "CPLST",
    "DEFAULT_METHOD",
    "DXML",
    "LEML",
    "LPSR",
    "METHODS",
    "MLCSSP",
    "PLST",
    "SLEEC",
    "WSABIE",
    "XMLCNN",
    "AnnexML",
    "BalancedLabelTree",
    "CompressedSensing",
    "FastXML",
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
    "PDSparse",
    "PPDSparse",
    "Parabel",
    "PfastreXML",
    "ProXML",
    "RandomLabels",
    "RobustXML",
    "find",
    "make",
]


def find(name: str) -> type[LabelRanker]:
    """Return the estimator class of a method, such as ``"one-vs-all"``."""
    if name not in METHODS:
        raise UsageError(f"There is no method '{name}'{nearest(name, METHODS)}")
    module, _, kind = METHODS[name].path.partition(":")
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

    ``parameters`` are those of its constructor, or fields of its settings.

    >>> make("one-vs-all", C=0.5).C
    0.5
    """
    from labelspace.parameters import setting_names

    kind = find(name)
    own, beyond = parameter_names(kind), setting_names(kind.settings_type)
    given: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for parameter, value in parameters.items():
        if parameter in own:
            given[parameter] = value
        elif parameter in beyond:
            settings[parameter] = value
        else:
            known = [*own, *beyond]
            raise UsageError(
                f"Method '{name}' has no parameter '{parameter}'{nearest(parameter, known)}"
            )
    if settings:
        given["settings"] = {**(given.get("settings") or {}), **settings}
    return kind(**given)


def parameter_names(kind: type[LabelRanker]) -> list[str]:
    """Return the names of an estimator's parameters."""
    return [name for name in inspect.signature(kind).parameters if name != "self"]


def __getattr__(name: str) -> Any:
    for method, described in METHODS.items():
        if described.class_name == name:
            return find(method)
    raise AttributeError(f"module 'labelspace.models' has no attribute {name!r}")
