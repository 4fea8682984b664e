"""The page about clusters shows what was measured, and what was played from it."""

from __future__ import annotations

import pytest

from benchmarks.studies.cluster import simulate
from tests.conftest import PROJECT


def test_the_tables_are_those_of_the_lines() -> None:
    page = (PROJECT / simulate.PAGE).read_text(encoding="utf-8")
    assert simulate.rendered(page) == page


def test_more_workers_leave_the_work_and_what_the_driver_does_alone() -> None:
    stages = [simulate.Stage("work", 100.0, 50, 0.08, 0.0, 0.0)]
    played = {n: simulate.play(stages, 7.0, n) for n in (1, 4, 64)}
    assert played[1]["work"] == pytest.approx(100.0)
    assert 25.0 <= played[4]["work"] < 30.0
    assert played[64]["work"] >= 100.0 / 50
    assert {one["driver alone"] for one in played.values()} == {7.0}
