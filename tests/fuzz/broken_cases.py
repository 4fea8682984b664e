"""Cases that go wrong in every way that there is, to see that it is noticed."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable

import numpy as np

from tests.fuzz import processes


def main(name: str, seed: int, first: int, last: int) -> None:
    """Print what comes of the cases."""
    processes.CPU_SECONDS = 1
    numbers = itertools.count(first)
    ways = (lambda: "raised ZeroDivisionError", _hang, _die, lambda: "answered")

    def make(random: np.random.Generator) -> tuple[str, Callable[[], str]]:
        return name, ways[next(numbers)]

    processes.run(make, seed, first, last, processes.addresses() + (1 << 30))


def _hang() -> str:
    while True:
        pass


def _die() -> str:
    os.kill(os.getpid(), signal.SIGSEGV)
    return "answered"


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
