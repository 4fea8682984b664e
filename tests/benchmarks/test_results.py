"""What counts as the same run, and which of several lines the tables show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.results import Run, append, is_there, latest, read_lines

RUN = Run("knn", "bibtex", "given", 0, {"k": 5}, "labelspace 0.1.0")


def a_line(**changes: Any) -> dict[str, Any]:
    line = {
        "method": "knn",
        "corpus": "bibtex",
        "split": "given",
        "seed": 0,
        "parameters": {"k": 5},
        "version": "labelspace 0.1.0",
        "status": "done",
        "date": "2026-01-01T00:00:00Z",
        "time_limit_s": 60,
    }
    return {**line, **changes}


def test_lines_come_back_oldest_first(tmp_path: Path) -> None:
    newer, older = a_line(date="2026-01-02"), a_line(date="2026-01-01", corpus="delicious")
    append(newer, tmp_path)
    append(older, tmp_path)
    assert read_lines(tmp_path) == [older, newer]


def test_a_finished_run_is_not_repeated() -> None:
    assert is_there(RUN, [a_line()], time_limit_s=60)


def test_another_setting_seed_split_or_version_is_another_run() -> None:
    for change in (
        {"parameters": {"k": 6}},
        {"seed": 1},
        {"split": "random-0"},
        {"version": "labelspace 0.2.0"},
        {"method": "one-vs-all"},
    ):
        assert not is_there(RUN, [a_line(**change)], time_limit_s=60)


def test_a_run_that_ended_early_is_repeated_only_with_more_time() -> None:
    early = a_line(status="ended early")
    assert is_there(RUN, [early], time_limit_s=60)
    assert not is_there(RUN, [early], time_limit_s=120)


def test_lines_older_than_a_date_do_not_count() -> None:
    assert is_there(RUN, [a_line()], time_limit_s=60, since="2025-12-31T12:00")
    assert not is_there(RUN, [a_line()], time_limit_s=60, since="2026-01-01T12:00")


def test_a_failed_run_is_repeated() -> None:
    assert not is_there(RUN, [a_line(status="failed")], time_limit_s=60)


def test_tables_show_the_newest_version_of_a_run() -> None:
    old, new = a_line(), a_line(version="labelspace 0.2.0", date="2026-02-01")
    assert latest([old, new]) == [new]


def test_tables_prefer_a_finished_run_to_a_later_one_that_ended_early() -> None:
    done = a_line()
    assert latest([done, a_line(status="ended early"), a_line(status="failed")]) == [done]
