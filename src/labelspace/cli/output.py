"""What the command line shows: results on stdout, all else on stderr.

On a terminal, progress is a bar; elsewhere it is one plain line per stage, so that a log file
stays short. With ``--json`` stdout holds exactly one JSON object.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from labelspace import progress
from labelspace.errors import LabelspaceWarning

COMPILING = "Compiling, once"
SECONDS_BETWEEN_LINES = 60.0


# What a terminal obeys instead of showing: names and texts may come from strangers.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def say(text: str) -> None:
    """Write a line for the person at the terminal."""
    print(visible(text), file=sys.stderr, flush=True)


def print_line(text: str, flush: bool = False) -> None:
    """Write a line of an answer: as it is, but on a terminal without what that would obey."""
    print(visible(text) if sys.stdout.isatty() else text, flush=flush)


def visible(text: str) -> str:
    """Return a text with its control characters written out; tabs and line breaks stay.

    >>> print(visible("\\x1b[2Ja red\\tball"))
    \\x1b[2Ja red	ball
    """
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def print_json(result: Mapping[str, Any]) -> None:
    """Write the one JSON object of a command."""
    print(json.dumps(result, ensure_ascii=False, allow_nan=False))


def print_table(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the same keys as a table; numbers with a fraction get two digits.

    The first column says what a row is about, so that it is never cut or broken.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name in rows[0] if rows else ():
        numeric = isinstance(rows[0][name], (int, float))
        is_first = name == next(iter(rows[0]))
        table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric or is_first)
    for row in rows:
        # A Text, since rich would take [b] in a name for markup.
        table.add_row(*(Text(visible(_shown(value))) for value in row.values()))
    console = Console(width=_width())
    console.print(visible(title), style="italic", markup=False, highlight=False, soft_wrap=True)
    console.print(table)


def _width() -> int | None:
    # A narrow pipe must not cut the figures off.
    return None if sys.stdout.isatty() else 160


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


@contextmanager
def told() -> Iterator[None]:
    """Show progress and warnings of everything in the block."""

    def show(message: Any, category: Any, *place: Any, **more: Any) -> None:
        if issubclass(category, LabelspaceWarning):
            say(f"Warning: {message}")

    listener: progress.Listener = Bars() if sys.stderr.isatty() else Lines()
    with warnings.catch_warnings(), progress.listening(listener):
        warnings.simplefilter("default", LabelspaceWarning)
        warnings.showwarning = show
        yield


class Lines:
    """One line when a stage ends, with the time that it took; one a minute while it goes on."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[str, float]] = {}
        self._counts: dict[int, tuple[int, int]] = {}
        self._told = time.perf_counter()
        self._next = 0
        self._has_compiled = False

    def started(self, description: str, total: int | None) -> int:
        self._next += 1
        self._open[self._next] = (description, time.perf_counter())
        if total is not None:
            self._counts[self._next] = (0, total)
        return self._next

    def advanced(self, task: int, steps: int) -> None:
        if task not in self._counts:
            return
        done, total = self._counts[task]
        self._counts[task] = done + steps, total
        description, began = self._open[task]
        now = time.perf_counter()
        if now - max(began, self._told) >= SECONDS_BETWEEN_LINES and 0 < done < total:
            self._told = now
            left = (now - began) * (total - done) / done
            say(f"{description}: {done:,} of {total:,}, {left / 60:.0f} minutes left")

    def finished(self, task: int) -> None:
        description, began = self._open.pop(task)
        self._counts.pop(task, None)
        # Stages inside others would fill a log; their time is part of the outer line.
        if not self._open:
            say(f"{description}: {time.perf_counter() - began:.1f} s")

    def compiling(self, kernel: str | None) -> None:
        if not self._has_compiled:
            say(f"{COMPILING}: later runs do not wait for this")
        self._has_compiled = True


class Bars:
    """A bar for each stage on a terminal; of what is over, outer stages leave one line each.

    A stage that does not know its length has no bar but a sign that it works; the stages inside it
    have theirs, with the time that is left.
    """

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._bars = Progress(*_columns(), console=Console(stderr=True))
        self._n_open = 0
        self._compiling: Any = None

    def started(self, description: str, total: int | None) -> int:
        if self._n_open == 0:
            self._bars.start()
        self._n_open += 1
        return self._bars.add_task(description, total=total)

    def advanced(self, task: int, steps: int) -> None:
        self._bars.advance(task, steps)  # type: ignore[arg-type]

    def finished(self, task: int) -> None:
        bar = next(bar for bar in self._bars.tasks if bar.id == task)
        self._n_open -= 1
        if self._n_open:
            self._bars.remove_task(bar.id)
            return
        self._bars.update(bar.id, completed=bar.total, is_over=True)
        self._bars.stop_task(bar.id)
        self._bars.stop()
        # Else each later bar would draw all earlier ones again.
        for over in self._bars.task_ids:
            self._bars.remove_task(over)
        self._compiling = None

    def compiling(self, kernel: str | None) -> None:
        if self._compiling is None:
            self._compiling = self._bars.add_task(COMPILING, total=None)
        if kernel is None:
            self._bars.update(self._compiling, visible=False)
        else:
            text = f"{COMPILING}: {kernel}"
            self._bars.update(self._compiling, description=text, visible=True, advance=1)


def _columns() -> list[Any]:
    """Return the columns of a line of progress."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class WithTotal(ProgressColumn):
        """What is there only where a stage knows its length."""

        def __init__(self, column: ProgressColumn) -> None:
            super().__init__()
            self._column = column

        def render(self, task: Any) -> Any:
            return Text("") if task.total is None else self._column(task)

    class Sign(SpinnerColumn):
        """A wheel that turns until the stage is over."""

        def render(self, task: Any) -> Any:
            return Text("✓") if task.fields.get("is_over") else super().render(task)

    name = Column(no_wrap=True, overflow="ellipsis", ratio=1)
    shown = (BarColumn(bar_width=16), MofNCompleteColumn(), TimeRemainingColumn())
    return [
        Sign(),
        TextColumn("{task.description}", markup=False, table_column=name),
        TimeElapsedColumn(),
        *map(WithTotal, shown),
    ]


class Meter:
    """Wall and CPU seconds of a block, and the peak of memory."""

    def __enter__(self) -> Meter:
        self._wall, self._cpu = time.perf_counter(), _cpu_seconds()
        return self

    def __exit__(self, *error: object) -> None:
        self.wall_seconds = time.perf_counter() - self._wall
        self.cpu_seconds = _cpu_seconds() - self._cpu

    @staticmethod
    def peak_rss_mib() -> float | None:
        try:
            import resource
        except ImportError:
            return None
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
