"""A short run of the fuzzing of model folders; ``make fuzz`` is the long one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from labelspace import registry
from tests.fuzz import folder_models
from tests.fuzz.processes import run_cases

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")


def test_a_changed_folder_is_refused_or_answers() -> None:
    # One of each kind of index: sparse, lists around centroids, a tree; and texts.
    some = "one-vs-all,annexml,hierarchicalxc,tagger-encoder,tagger-vocabulary,taught,sharded"
    report = run_cases("folder_cases", f"{some},tagger-transformers", 240)
    assert report.faults == []
    assert report.counts["refused"] > 60
    assert report.counts["answered"] > 10


@pytest.mark.slow
def test_every_class_that_can_be_stored_is_changed(tmp_path: Path) -> None:
    stored: set[str] = set()
    for name in folder_models.NAMES:
        made = folder_models.make(name)[1]
        folder_models.save(name, made, tmp_path / name)
        stored |= _names(json.loads((tmp_path / name / "manifest.json").read_bytes())["model"])
    # The state of a training is checked by the training that goes on from it.
    assert set(registry._PLACES) - stored == {"TrainingState"}


def _names(value: Any) -> set[str]:
    inside = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(inside, list):
        return set()
    own = {value["$object"]} if isinstance(value, dict) and "$object" in value else set()
    return own.union(*map(_names, inside))
