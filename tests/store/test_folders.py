"""One process at a time changes a model folder."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from labelspace.store import folders

HOLD = """
import sys, time
from labelspace.store import folders
with folders.locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that holds the lock of a model."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "model")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_another_process_waits_until_the_holder_ends(holder: subprocess.Popen, tmp_path: Path):
    entered = threading.Event()

    def enter() -> None:
        with folders.locked(tmp_path / "model"):
            entered.set()

    waiting = threading.Thread(target=enter)
    waiting.start()
    assert not entered.wait(0.3)
    holder.kill()  # nothing is cleaned up: the system ends the lock
    assert entered.wait(30)
    waiting.join()


def test_models_side_by_side_do_not_wait_for_each_other(holder: subprocess.Popen, tmp_path: Path):
    with folders.locked(tmp_path / "other"):
        assert holder.poll() is None


def test_a_lock_may_be_given_back_on_another_thread_and_taken_again(tmp_path: Path):
    for _ in range(3):
        lock = folders.locked(tmp_path / "model")
        lock.__enter__()
        back = threading.Thread(target=lock.__exit__, args=(None, None, None))
        back.start()
        back.join()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_only_the_owner_may_touch_the_lock(tmp_path: Path):
    with folders.locked(tmp_path / "model"):
        assert (tmp_path / ".model.lock").stat().st_mode & 0o777 == 0o600
