"""Studies: what each part of a method is worth, what it costs, what it promises.

A folder for each, with ``run.py`` (what is trained and measured) and ``page.py`` (the tables and
pictures of its page in the documentation); ``python -m benchmarks study NAME`` does both. What is
measured goes to ``benchmarks/results/studies/NAME.jsonl``, one line a trial, with the same keys in
all of them; pages are written from these lines alone.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path

from benchmarks.studies.study import Study

_METHODS = "labelspace.models"
_OF_NO_METHOD = (
    "compared_systems", "encoders", "label_map", "server", "smce", "teaching", "text_features",
)  # fmt: skip


def names() -> list[str]:
    """Return the studies that there are; that of a method is gone when the method is."""
    folders = sorted(path.parent.name for path in Path(__file__).parent.glob("*/run.py"))
    return [name for name in folders if name in _OF_NO_METHOD or find_spec(f"{_METHODS}.{name}")]


def find(name: str) -> Study:
    """Return a study by the name of its folder."""
    if name not in names():
        raise SystemExit(f"There is no study {name!r}: choose from {', '.join(names())}.")
    study: Study = importlib.import_module(f"benchmarks.studies.{name}.run").STUDY
    return study
