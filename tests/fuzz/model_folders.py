"""Fuzzing of model folders: cases run in processes that may die, and what came of them is counted.

``python -m tests.fuzz.model_folders [--cases 1000] [--seed 0] [METHOD …]`` (``make fuzz``) prints a
line for each method, and what went wrong; it ends with 1 if anything did.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from labelspace.registry import METHODS
from tests.fuzz.folder_cases import TAGGER

GOOD = ("refused", "answered")


@dataclass
class Report:
    """How many cases ended how, and the faults: what was changed, and what came of it."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def run_cases(method: str, n_cases: int, seed: int = 0) -> Report:
    """Run cases of a method, or of several with commas between.

    Where a case ends the process, the next process goes on behind it.
    """
    report, first = Report(), 0
    while first < n_cases:
        told = [method, str(seed), str(first), str(n_cases)]
        with subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.folder_cases", *told],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        ) as process:
            assert process.stdout is not None
            started = None
            for line in process.stdout:
                line = line.rstrip("\n")
                if line == "ready":
                    continue
                if started is None:
                    started = line
                    continue
                report.counts[line if line in GOOD else "faults"] += 1
                if line not in GOOD:
                    report.faults.append(f"{method} {started}: {line}")
                first, started = int(started.split()[0]) + 1, None
        if process.returncode and started is None:
            raise RuntimeError(f"{method}: the process ended by itself ({process.returncode})")
        if started is not None:
            report.counts["faults"] += 1
            report.faults.append(f"{method} {started}: ended with {process.returncode}")
            first = int(started.split()[0]) + 1
    return report


def main() -> int:
    """Run cases of the methods that are named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=[*METHODS, TAGGER])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    n_faults = 0
    for method in told.methods:
        report = run_cases(method, told.cases, told.seed)
        counts = ", ".join(f"{report.counts[name]} {name}" for name in (*GOOD, "faults"))
        print(f"{method}: {counts}", *report.faults, sep="\n  ", flush=True)
        n_faults += len(report.faults)
    return min(n_faults, 1)


if __name__ == "__main__":
    sys.exit(main())
