"""Seconds, memory and disk: how they are taken on every run, ours and the peers' alike.

CPU seconds are user plus system time of all threads and of finished child processes, because on a
shared machine they tell more than wall seconds. Peak memory is the kernel's own high-water mark of
the worker (``VmHWM``; unlike ``ru_maxrss`` it does not remember the parent) or the largest sum seen
over the worker's process group, whichever is larger.
"""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

MIB = 2.0**20


class Stopwatch:
    """Wall and CPU seconds spent inside a ``with`` block.

    >>> with Stopwatch() as watch:
    ...     total = sum(range(1000))
    >>> watch.wall_s >= 0 and watch.cpu_s >= 0
    True
    """

    wall_s = 0.0
    cpu_s = 0.0

    def __enter__(self) -> Stopwatch:
        self._start = (time.perf_counter(), cpu_seconds())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.wall_s = time.perf_counter() - self._start[0]
        self.cpu_s = cpu_seconds() - self._start[1]


def cpu_seconds() -> float:
    """User and system seconds of this process, its threads and its finished children."""
    return sum(
        spent.ru_utime + spent.ru_stime
        for spent in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def peak_rss_mib() -> float:
    """Return the most memory this process has held since it started."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MIB if sys.platform == "darwin" else peak / 1024.0


def group_usage(group: int) -> tuple[float, float]:
    """Return CPU seconds so far and MiB held now by a process group (zeros without /proc)."""
    pages = ticks = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The command name may hold spaces, so count the fields from its closing bracket.
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(stat[2]) == group:
                ticks += sum(map(int, stat[11:15]))
                pages += int((folder / "statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            continue  # the process ended while we looked
    return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / MIB


def folder_mib(folder: Path) -> float:
    """Return the size of a saved model."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / MIB


def machine() -> dict[str, Any]:
    """Return what a reader must know about the machine to read the seconds."""
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "load_average": round(os.getloadavg()[0], 2),
    }


def cpu_model() -> str:
    """Return the processor's name."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
