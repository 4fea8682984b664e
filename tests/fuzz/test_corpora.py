"""A short run of the fuzzing of corpora and vocabularies; ``make fuzz`` is the long one."""

from __future__ import annotations

import importlib.util
import sys

import pytest

from tests.fuzz.processes import run_cases
from tests.fuzz.samples import CORPORA, VOCABULARIES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")


@pytest.mark.parametrize("formats", [CORPORA, VOCABULARIES], ids=["corpora", "vocabularies"])
def test_a_changed_file_is_read_or_refused(formats: dict[str, object]) -> None:
    for module in ("pyarrow", "openpyxl", "rdflib"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    n_cases = 20 * len(formats)
    report = run_cases("corpus_cases", ",".join(formats), n_cases)
    assert report.faults == []
    assert report.counts["refused"] > n_cases // 3
    assert report.counts["answered"] > n_cases // 6


def test_every_kind_of_fault_is_counted() -> None:
    # One that raises, one that hangs, one that ends the process, and one that is good again.
    report = run_cases("broken_cases", "broken", 4)
    assert report.counts == {"faults": 3, "answered": 1}
    assert [fault.split(": ")[-1] for fault in report.faults] == [
        "raised ZeroDivisionError",
        "ended with -27",
        "ended with -11",
    ]
