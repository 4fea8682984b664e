"""A few moments of each kind; ``make kill`` tries all of them, and a hundred at random."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the server needs the extra 'serve'")

from tests.kill.suite import Cases
from tests.kill.teaching import Taught
from tests.kill.verbs import VERBS, Checkpoints, Convert, Predict, Tune, Verb
from tests.kill.zygote import Zygote

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at open files in /proc")

QUICK: dict[str, Verb] = {
    "train": VERBS["train"][0],
    "update": VERBS["update"][0],
    "convert": Convert("out.txt"),
    "predict --out": Predict(".csv"),
}
SLOW: dict[str, Verb] = {"tune": Tune(), "train with checkpoints": Checkpoints("glas")}


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    started = Zygote()
    yield started
    started.close()


@pytest.mark.parametrize("name", QUICK)
def test_a_verb_that_is_disturbed_loses_nothing_and_leaves_nothing(
    name: str, zygote: Zygote, tmp_path: Path
) -> None:
    cases = Cases(QUICK[name], zygote, tmp_path / "cases")
    few = len(cases.steps) // 3
    reports = [
        cases.kill_at_random(2),
        cases.kill_at_each_step(few),
        cases.fail_at_each_step("ENOSPC", every=few),
        cases.fail_at_each_step("EIO", always=True, every=few),
        cases.two_at_once(),
    ]
    assert [fault for report in reports for fault in report.faults] == []
    assert reports[1].counts["killed"] >= 3
    assert reports[2].counts["refused"] >= 2
    assert cases.unflushed() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_what_goes_on_comes_to_the_same_end(name: str, zygote: Zygote, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    cases = Cases(SLOW[name], zygote, tmp_path / "cases")
    report = cases.kill_at_each_step(len(cases.steps) // 4)
    assert report.faults == []
    assert report.counts["killed"] >= 4


def test_a_server_that_is_killed_knows_what_it_has_answered_for(
    zygote: Zygote, tmp_path: Path
) -> None:
    taught = Taught(zygote, tmp_path / "taught")
    killed = taught.kill_at_random(3)
    failed = taught.fail_at_each_step("learned.jsonl", "ENOSPC", 3)
    assert killed.faults + failed.faults == []
    assert killed.counts["answered"] > 0
    assert failed.counts["refused"] > 0
