"""Corpora in and out.

The names below are loaded when they are first used, so that importing this package (and with it
the command line) costs nothing.

>>> from labelspace.data import read_corpus
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelspace.data.corpus import Corpus
    from labelspace.data.formats.fields import Fields
    from labelspace.data.info import CorpusInfo, describe
    from labelspace.data.read import read_corpus
    from labelspace.data.samples.demo import build_demo_corpus, write_demo_corpus
    from labelspace.data.samples.synthetic import SyntheticCorpus, make_corpus
    from labelspace.data.text.encoding.precomputed import with_vectors
    from labelspace.data.text.encoding.text_encoder import TextEncoder
    from labelspace.data.text.features import TextFeatures
    from labelspace.data.text.sequences import WordSequences
    from labelspace.data.write import convert, write_corpus

_MODULE_OF = {
    "Corpus": "corpus",
    "CorpusInfo": "info",
    "Fields": "formats.fields",
    "SyntheticCorpus": "samples.synthetic",
    "TextEncoder": "text.encoding.text_encoder",
    "TextFeatures": "text.features",
    "WordSequences": "text.sequences",
    "build_demo_corpus": "samples.demo",
    "convert": "write",
    "describe": "info",
    "make_corpus": "samples.synthetic",
    "read_corpus": "read",
    "with_vectors": "text.encoding.precomputed",
    "write_corpus": "write",
    "write_demo_corpus": "samples.demo",
}

__all__ = [
    "Corpus",
    "CorpusInfo",
    "Fields",
    "SyntheticCorpus",
    "TextEncoder",
    "TextFeatures",
    "WordSequences",
    "build_demo_corpus",
    "convert",
    "describe",
    "make_corpus",
    "read_corpus",
    "with_vectors",
    "write_corpus",
    "write_demo_corpus",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"labelspace.data.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
