"""labelspace: the few right labels out of thousands to millions, found by their neighbours.

>>> import labelspace
>>> from labelspace.models import MostCommon
>>> MostCommon().fit([[1.0], [2.0]], [["red"], ["red", "round"]]).classes_
array(['red', 'round'], dtype='<U5')
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from labelspace.base import LabelRanker
    from labelspace.csr import NamedColumns
    from labelspace.data import Corpus, read_corpus, write_corpus
    from labelspace.errors import DataError, LabelspaceError, ModelFileError, UsageError
    from labelspace.explanation import Explanation, Reason
    from labelspace.label_features import LabelFeatures
    from labelspace.store import load
    from labelspace.tagger import Tagger
    from labelspace.topk import TopK
    from labelspace.tuning.tuner import Tuner

# Resolved on first use: importing labelspace must not import scikit-learn, numba or faiss.
_WHERE = {
    "Corpus": "labelspace.data",
    "DataError": "labelspace.errors",
    "Explanation": "labelspace.explanation",
    "LabelFeatures": "labelspace.label_features",
    "LabelRanker": "labelspace.base",
    "LabelspaceError": "labelspace.errors",
    "ModelFileError": "labelspace.errors",
    "NamedColumns": "labelspace.csr",
    "Reason": "labelspace.explanation",
    "Tagger": "labelspace.tagger",
    "TopK": "labelspace.topk",
    "Tuner": "labelspace.tuning.tuner",
    "UsageError": "labelspace.errors",
    "load": "labelspace.store",
    "read_corpus": "labelspace.data",
    "write_corpus": "labelspace.data",
}

__all__ = [
    "Corpus",
    "DataError",
    "Explanation",
    "LabelFeatures",
    "LabelRanker",
    "LabelspaceError",
    "ModelFileError",
    "NamedColumns",
    "Reason",
    "Tagger",
    "TopK",
    "Tuner",
    "UsageError",
    "__version__",
    "load",
    "read_corpus",
    "write_corpus",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'labelspace' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
