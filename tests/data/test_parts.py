"""Parts of a table: each complete or not there, and only of the job that asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelspace.data.parts import TableParts
from labelspace.errors import DataError


def test_parts_of_another_job_are_thrown_away(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    with TableParts(target, {"k": 5}) as first:
        first.add(lambda file: file.write(b"old\n"))
    with TableParts(target, {"k": 3}) as second:
        assert second.n_done == 0
        second.add(lambda file: file.write(b"new\n"))
        second.finish(lambda file, paths: file.write(b"".join(path.read_bytes() for path in paths)))
    assert target.read_bytes() == b"new\n"
    assert list(tmp_path.iterdir()) == [target]


def test_a_part_that_fails_does_not_count(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"

    def fail(file: object) -> None:
        raise RuntimeError

    with TableParts(target, {}) as parts:
        parts.add(lambda file: file.write(b"whole\n"))
        with pytest.raises(RuntimeError):
            parts.add(fail)
    with TableParts(target, {}) as parts:
        assert parts.n_done == 1


def test_a_run_that_has_done_nothing_leaves_nothing(tmp_path: Path) -> None:
    with TableParts(tmp_path / "a.csv", {}):
        pass
    assert not list(tmp_path.iterdir())


def test_two_runs_do_not_write_the_same_file(tmp_path: Path) -> None:
    with TableParts(tmp_path / "a.csv", {"k": 5}) as parts:
        parts.add(lambda file: file.write(b"whole\n"))
        for job in ({"k": 5}, {"k": 3}):
            with pytest.raises(DataError, match="being written by another run"):
                TableParts(tmp_path / "a.csv", job)
        assert [path.read_bytes() for path in parts.paths] == [b"whole\n"]


def test_a_target_that_cannot_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make the folder"):
        TableParts(tmp_path / "none" / "a.csv", {})
    with pytest.raises(DataError, match="is a folder"):
        TableParts(tmp_path, {})
