"""Progress of long work, told to whoever listens.

The library is silent: ``track`` and ``task`` report to a listener that does nothing. The command
line puts a listener in place that draws a bar on a terminal and writes one plain line per stage
elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Protocol, TypeVar

Item = TypeVar("Item")


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
    """Yield ``items`` and report one step for each.

    >>> list(track([1, 2], "reading"))
    [1, 2]
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with task(description, total) as advance:
        for item in items:
            yield item
            advance(1)


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
