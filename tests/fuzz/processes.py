"""Cases in processes that may die: one side runs them, the other counts what came of them.

The process that runs cases prints a line before each, what was changed, and one after it, what came
of it. A signal, a hang or an exhausted memory ends it between the two; another goes on behind.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

GOOD = ("refused", "answered")
CPU_SECONDS, SECONDS = 10, 120  # the second for what waits instead of working
READY = "ready"

# Makes a case: what it is in words, and what runs it and tells what came of it.
MakeCase = Callable[[np.random.Generator], tuple[str, Callable[[], str]]]


def run(make: MakeCase, seed: int, first: int, last: int, most_bytes: int) -> None:
    """Run cases ``first`` … ``last`` − 1, with limits that end the process."""
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))
    print(READY, flush=True)
    for case in range(first, last):
        what, attempt = make(np.random.default_rng([seed, case]))
        print(f"{case} {_line(what)}", flush=True)
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        signal.alarm(SECONDS)
        came = attempt()
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(_line(came), flush=True)


def addresses() -> int:
    """Return how many bytes of addresses the process has, most of them only reserved."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


@dataclass
class Report:
    """How many cases ended how, and the faults: what was changed, and what came of it."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def run_cases(module: str, name: str, n_cases: int, seed: int = 0) -> Report:
    """Run cases of a module; where one ends the process, the next process goes on behind it."""
    report, first = Report(), 0
    while first < n_cases:
        told = [name, str(seed), str(first), str(n_cases)]
        with subprocess.Popen(
            [sys.executable, "-m", f"tests.fuzz.{module}", *told],
            stdout=subprocess.PIPE,
            text=True,
            errors="replace",
            cwd=Path(__file__).parents[2],
        ) as process:
            assert process.stdout is not None
            started = None
            for line in process.stdout:
                line = line.rstrip("\n")
                if line == READY:
                    continue
                if started is None:
                    started = line
                    continue
                report.counts[line if line in GOOD else "faults"] += 1
                if line not in GOOD:
                    report.faults.append(f"{name} {started}: {line}")
                first, started = int(started.split()[0]) + 1, None
        if process.returncode and started is None:
            raise RuntimeError(f"{name}: the process ended by itself ({process.returncode})")
        if started is not None:
            report.counts["faults"] += 1
            report.faults.append(f"{name} {started}: ended with {process.returncode}")
            first = int(started.split()[0]) + 1
    return report


def _line(words: Any) -> str:
    text = str(words).encode("utf-8", "backslashreplace").decode()
    return " ".join(text.split())[:300]
