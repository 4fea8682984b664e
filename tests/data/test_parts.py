"""Parts of a table: each complete or not there, and only of the job that asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelspace.data.parts import TableParts
from labelspace.errors import DataError


def test_parts_of_another_job_are_thrown_away(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    first = TableParts(target, {"k": 5})
    first.add(lambda file: file.write(b"old\n"))
    second = TableParts(target, {"k": 3})
    assert second.n_done == 0
    second.add(lambda file: file.write(b"new\n"))
    second.finish(lambda file, paths: file.write(b"".join(path.read_bytes() for path in paths)))
    assert target.read_bytes() == b"new\n"
    assert list(tmp_path.iterdir()) == [target]


def test_a_part_that_fails_does_not_count(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    parts = TableParts(target, {})
    parts.add(lambda file: file.write(b"whole\n"))

    def fail(file: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        parts.add(fail)
    assert TableParts(target, {}).n_done == 1


def test_a_target_that_cannot_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="make the folder"):
        TableParts(tmp_path / "none" / "a.csv", {})
    with pytest.raises(DataError, match="is a folder"):
        TableParts(tmp_path, {})
