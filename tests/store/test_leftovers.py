"""What a dead process left is removed by the next; what a living one uses is not."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from labelspace.store import leftovers
from labelspace.store.leftovers import (
    hold,
    remove_leftovers,
    temporary_file,
    temporary_folder,
    turn,
)

MAKE = """
import sys, time
from pathlib import Path
from labelspace.store.leftovers import temporary_file, temporary_folder
folder = Path(sys.argv[1])
with temporary_folder(folder, ".a.") as made, temporary_file(folder, ".b.", ".tmp") as (path, _):
    (made / "half").write_bytes(b"half")
    print("made", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen]:
    """Another process that has a temporary folder and a temporary file."""
    command = [sys.executable, "-c", MAKE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "made\n"
        yield process
        process.kill()


def clean(folder: Path) -> list[str]:
    remove_leftovers(folder, ".a.")
    remove_leftovers(folder, ".b.", ".tmp")
    return sorted(entry.name[:3] for entry in folder.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="this system has no such locks")
def test_what_a_living_process_uses_stays_until_it_is_killed(
    other: subprocess.Popen, tmp_path: Path
) -> None:
    assert clean(tmp_path) == [".a.", ".b."]
    other.kill()
    other.wait()
    assert clean(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="this system has no such locks")
def test_what_another_thread_uses_stays(tmp_path: Path) -> None:
    with (
        temporary_folder(tmp_path, ".a.") as folder,
        temporary_file(tmp_path, ".b.", ".tmp") as (path, descriptor),
    ):
        os.close(descriptor)  # it is held nevertheless, until it has its name
        assert clean(tmp_path) == [".a.", ".b."]
        with temporary_folder(tmp_path, ".a.") as second:
            assert second != folder
        assert folder.is_dir()
        assert path.is_file()
    assert not list(tmp_path.iterdir())


def test_a_file_that_has_got_its_name_stays(tmp_path: Path) -> None:
    with temporary_file(tmp_path, ".b.", ".tmp") as (path, descriptor):
        os.write(descriptor, b"whole")
        os.close(descriptor)
        os.replace(path, tmp_path / "b")
    assert clean(tmp_path) == ["b"]


@pytest.mark.parametrize(
    "name", [".a.txt", ".a.1-abcdef1", ".a.x-abcdef12", ".a.1-abcdef12.tmp", ".b.1-abcdef12", "a.1"]
)
def test_files_of_other_names_are_not_ours(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("years of work")
    remove_leftovers(tmp_path, ".a.")
    assert (tmp_path / name).read_text() == "years of work"


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text").write_text("years of work")
    (tmp_path / ".a.1-abcdef12").symlink_to(tmp_path / "thesis")
    remove_leftovers(tmp_path, ".a.")
    assert (tmp_path / "thesis" / "text").exists()


@pytest.mark.skipif(os.name != "posix", reason="this system has no such locks")
def test_a_place_is_held_by_one(tmp_path: Path) -> None:
    release = hold(tmp_path)
    assert release is not None
    assert hold(tmp_path) is None
    release()
    again = hold(tmp_path)
    assert again is not None
    again()
    assert hold(tmp_path / "none") is None


def test_without_locks_age_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "fcntl", None)
    with temporary_folder(tmp_path, ".a.") as folder:
        assert clean(tmp_path) == [".a."]
        os.utime(folder, (0, 0))
        assert clean(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="this system has no such locks")
def test_turns_are_taken_one_at_a_time(tmp_path: Path) -> None:
    entered = threading.Event()

    def enter() -> None:
        with turn(tmp_path):
            entered.set()

    waiting = threading.Thread(target=enter)
    with turn(tmp_path):
        waiting.start()
        assert not entered.wait(0.2)
    assert entered.wait(30)
    waiting.join()


@pytest.mark.skipif(os.name != "posix", reason="this system has no such locks")
def test_a_folder_that_is_taken_for_other_reasons_hinders_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "TURN_SECONDS", 0.05)
    release = hold(tmp_path)
    assert release is not None
    with turn(tmp_path):
        release()
