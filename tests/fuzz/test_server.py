"""A short run of the fuzzing of requests; ``make fuzz`` is the long one."""

from __future__ import annotations

import sys

import pytest

from tests.fuzz.processes import run_cases

pytest.importorskip("fastapi", reason="the server needs the extra 'serve'")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")


@pytest.mark.parametrize(("name", "n_cases"), [("server", 200), ("sockets", 100)])
def test_a_changed_request_is_answered_or_refused(name: str, n_cases: int) -> None:
    report = run_cases("server_cases", name, n_cases)
    assert report.faults == []
    assert report.counts["refused"] > n_cases // 4
    assert report.counts["answered"] > 0
