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
    from labelspace.data.formats import convert, read_corpus, write_corpus
    from labelspace.data.info import CorpusInfo, describe

_MODULE_OF = {
    "Corpus": "corpus",
    "CorpusInfo": "info",
    "convert": "formats",
    "describe": "info",
    "read_corpus": "formats",
    "write_corpus": "formats",
}

__all__ = ["Corpus", "CorpusInfo", "convert", "describe", "read_corpus", "write_corpus"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"labelspace.data.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
