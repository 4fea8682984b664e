"""What the command line shows while it works."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from labelspace import progress
from labelspace.cli import output
from labelspace.data import read_corpus


def drawn_by(work: Any) -> str:
    """Return what a terminal of 80 columns gets while ``work`` is done."""
    bars, drawn = output.Bars(), io.StringIO()
    bars._bars.live.console = Console(file=drawn, force_terminal=True, width=80)
    bars._bars.live.auto_refresh = False
    with progress.listening(bars):
        work(bars._bars.refresh)
    return drawn.getvalue()


def test_a_stage_without_a_length_has_no_bar_and_those_inside_have_theirs() -> None:
    def work(draw: Any) -> None:
        with progress.task("Training on 76,195 rows of a corpus with a long name"):
            draw()
            with progress.task("learning", total=50) as advance:
                advance(25)
                draw()

    before, _, after = drawn_by(work).partition("learning")
    assert "━" not in before
    assert "25/50" in after
    assert "0:00:" in before  # the time that it has taken
    assert "✓" in after  # what is over leaves a line


def test_a_large_file_is_read_with_a_bar(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    path.write_text("title;tags\n" + "a red rose in the garden;rose\n" * 200_000)
    steps: list[tuple[str, int | None]] = []

    class Told(output.Lines):
        def started(self, description: str, total: int | None) -> int:
            steps.append((description, total))
            return super().started(description, total)

        def advanced(self, task: int, n_steps: int) -> None:
            steps.append(("advanced", n_steps))

    with progress.listening(Told()), progress.reading(path):
        read_corpus(path)
    size = path.stat().st_size // 1_000_000
    assert steps[0] == (f"Reading {path}", size)
    assert sum(n or 0 for what, n in steps if what == "advanced") == size
    assert len(steps) > 3


def test_ctrl_c_ends_at_once_with_one_sentence(tmp_path: Path) -> None:
    script = (
        "import signal, threading, time\n"
        "from labelspace import threads\n"
        "from labelspace.cli import verbs\n"
        "from labelspace.cli.app import app\n"
        "import labelspace.cli.info as info\n"
        "def slow(*arguments, **more):\n"
        "    main = threading.main_thread().ident\n"
        "    threading.Timer(0.2, signal.pthread_kill, [main, signal.SIGINT]).start()\n"
        "    threads.train_in_parallel(lambda seed: time.sleep(60), [1, 2, 3, 4], 2)\n"
        "info.run_info = slow\n"
        "app(['info', 'x'])\n"
    )
    began = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 130
    assert ended.stderr == "Stopped by Ctrl-C: what was saved before stays as it is.\n"
    assert time.monotonic() - began < 30
