"""Runs happen in a process of their own; what stops them is recorded as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import corpora, results, runner
from benchmarks.results import Run, read_lines
from benchmarks.runner import Limits, carry_out, run_all

RUN = Run("odd", "tiny", version="odd 1")


@pytest.fixture
def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let runs take a tiny corpus and one of the odd subjects."""
    home = tmp_path / "data" / "tiny"
    home.mkdir(parents=True)
    rows = ["0 0:1 2:0.5", "0,1 1:1", "1,5 2:1"]
    (home / "train.txt").write_text("\n".join(["3 3 6", *rows, ""]))
    (home / "test.txt").write_text("2 3 6\n0 0:1\n0,1 1:1\n")
    monkeypatch.setenv("LABELSPACE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(corpora, "CACHE", tmp_path / "cache")
    monkeypatch.setattr(results.read_lines, "__defaults__", (tmp_path / "results",))
    monkeypatch.setattr(results.append, "__defaults__", (tmp_path / "results",))
    monkeypatch.setattr(runner, "_rehearse", lambda job: None)

    def use(name: str) -> None:
        monkeypatch.setattr(runner, "OWN", f"tests.benchmarks.odd_subjects:{name}")

    return use


def test_a_finished_run_has_metrics_and_is_skipped_the_next_time(
    use: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    use("Steady")
    assert run_all([RUN], Limits()) == 0
    (line,) = read_lines()
    assert line["status"] == "done"
    assert line["metrics"]["P@1"] == 100.0
    assert line["metrics"]["P@3"] == 50.0
    assert line["train_cpu_s"] < 1.0
    assert run_all([RUN], Limits()) == 0
    assert "1 of them there already" in capsys.readouterr().out
    assert len(read_lines()) == 1


def test_a_run_past_its_time_is_marked_and_has_no_metrics(use: Callable[[str], None]) -> None:
    use("Sleeper")
    line = carry_out(RUN, 1, time_limit_s=1800.0, patience_s=4.0)
    assert line["status"] == "ended early"
    assert "metrics" not in line
    assert "train_cpu_s" not in line


def test_a_failed_run_tells_its_last_words(use: Callable[[str], None]) -> None:
    use("Broken")
    line = carry_out(RUN, 1, time_limit_s=60.0)
    assert line["status"] == "failed"
    assert line["stage"] == "train"
    assert "no memory left for 3 trees" in line["last_words"]


def test_when_the_hour_is_over_nothing_is_recorded(use: Callable[[str], None]) -> None:
    use("Steady")
    assert run_all([RUN], Limits(budget_s=0.0)) == 1
    assert read_lines() == []
