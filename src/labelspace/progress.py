"""Progress of long work, told to whoever listens.

The library is silent: ``track`` and ``task`` report to a listener that does nothing. The command
line puts a listener in place that draws a bar on a terminal and writes one plain line per stage
elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

Item = TypeVar("Item")

MB = 1_000_000
LARGE = 4  # MB of a file whose reading is worth a bar


class Listener(Protocol):
    """What a display of progress has to do."""

    def started(self, description: str, total: int | None) -> int:
        """A piece of work begins; return a number for it."""

    def advanced(self, task: int, steps: int) -> None:
        """Work ``task`` has gone ``steps`` further."""

    def finished(self, task: int) -> None:
        """Work ``task`` has ended, well or not."""

    def compiling(self, kernel: str | None) -> None:
        """Work waits for ``kernel`` to be compiled, once on a machine; None: it goes on."""


class _Silent:
    def started(self, description: str, total: int | None) -> int:
        return 0

    def advanced(self, task: int, steps: int) -> None:
        pass

    def finished(self, task: int) -> None:
        pass

    def compiling(self, kernel: str | None) -> None:
        pass


_listener: Listener = _Silent()
_compiling_since: float | None = None
_seconds_compiled = 0.0


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report the progress of everything in the block to ``listener``."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


@contextmanager
def task(description: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Open a piece of work; call what it yields with the number of steps done.

    >>> with task("training", total=2) as advance:
    ...     advance(2)
    """
    listener = _listener
    number = listener.started(description, total)
    try:
        yield lambda steps: listener.advanced(number, steps)
    finally:
        listener.finished(number)


def track(items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
    """Yield ``items`` and report a step for each; of many, some hundreds of steps at a time.

    >>> list(track([1, 2], "reading"))
    [1, 2]
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    every = max(1, min(256, (total or 0) // 1000))
    with task(description, total) as advance:
        for number, item in enumerate(items, 1):
            yield item
            if number % every == 0:
                advance(every)


@contextmanager
def reading(path: Path, description: str | None = None) -> Iterator[None]:
    """Open a piece of work that goes as far as a file has been read, in MB.

    >>> from pathlib import Path
    >>> with reading(Path("train.txt")):
    ...     read_to(Path("train.txt"), 5_000_000)
    """
    global _file
    try:
        n_steps = path.stat().st_size // MB if path.is_file() else 0
    except OSError:
        n_steps = 0
    with task(description or f"Reading {path}", n_steps if n_steps >= LARGE else None) as advance:
        before, _file = _file, _File(path, advance)
        try:
            yield
        finally:
            _file = before


def read_to(path: Path, position: int) -> None:
    """Tell that a file, if it is the one of ``reading``, is read up to a byte."""
    if _file is not None and _file.path == path:
        _file.read_to(position // MB)


class _File:
    def __init__(self, path: Path, advance: Callable[[int], None]) -> None:
        self.path = path
        self._advance = advance
        self._at = 0

    def read_to(self, step: int) -> None:
        if step > self._at:
            self._advance(step - self._at)
            self._at = step


_file: _File | None = None


def compiling(kernel: str | None) -> None:
    """Tell that all work waits until ``kernel`` is compiled, or, with None, that it goes on."""
    global _compiling_since, _seconds_compiled
    now = time.monotonic()
    if _compiling_since is not None:
        _seconds_compiled += now - _compiling_since
    _compiling_since = None if kernel is None else now
    _listener.compiling(kernel)


def seconds_compiled() -> float:
    """Return for how long work has waited for kernels, which it does once on a machine.

    >>> seconds_compiled() >= 0
    True
    """
    return _seconds_compiled
