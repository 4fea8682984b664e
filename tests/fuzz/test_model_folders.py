"""A short run of the fuzzing of model folders; ``make fuzz`` is the long one."""

from __future__ import annotations

import sys

import pytest

from tests.fuzz.folder_cases import ENCODER, VOCABULARY
from tests.fuzz.processes import run_cases

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")


def test_a_changed_folder_is_refused_or_answers() -> None:
    # One of each kind of index: sparse, lists around centroids, a tree; and texts.
    report = run_cases(
        "folder_cases", f"one-vs-all,annexml,hierarchicalxc,{ENCODER},{VOCABULARY}", 200
    )
    assert report.faults == []
    assert report.counts["refused"] > 60
    assert report.counts["answered"] > 10
