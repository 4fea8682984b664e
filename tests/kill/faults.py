"""A layer under everything that writes files: it counts the steps, and can fail or kill at one.

It is installed in a process that was started for it, never in this one. A step is what a process
asks of the system about files below one folder: to make or open one, to write to it, to flush,
rename or remove it. A step that is to fail raises what a full or broken disk gives, a write after
half of its bytes; one that is to kill ends the process before it is done, a write in the middle.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR
# What may fail for want of room; to remove something never does.
CAN_FAIL = ("open", "write", "flush", "mkdir", "rename", "exchange")


@dataclass
class Plan:
    """What is to happen below the folder ``root``.

    ``kill_at`` and ``fail_at`` are numbers of steps, from 1, of those whose path has ``part`` in
    it; ``always`` lets all later ones fail as well. At ``vanish_at`` the folder itself goes.
    ``trace`` is the file for a line of each step.
    """

    root: str
    trace: str | None = None
    part: str = ""
    kill_at: int = 0
    fail_at: int = 0
    vanish_at: int = 0
    error: str = "ENOSPC"
    always: bool = False


class Layer:
    """Puts itself under the functions that write files."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._root = os.path.realpath(plan.root)
        self._n_steps = self._n_failing = 0
        self._lock = threading.Lock()
        self._trace = None
        if plan.trace is not None:
            self._trace = os.open(plan.trace, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._write = os.write
        self._began = time.monotonic()

    def install(self) -> None:
        """Replace the functions; there is no way back."""
        layer = self

        class Raw(io.FileIO):
            def write(self, content: Any) -> int:
                view = memoryview(content).cast("B")
                path = path_of(self.fileno())
                layer.step("write", path, lambda: io.FileIO.write(self, view[: len(view) // 2]))
                return io.FileIO.write(self, view) or 0

        usual_open = builtins.open

        def opened(
            file: Any, mode: str = "r", buffering: int = -1, *more: Any, **named: Any
        ) -> Any:
            path = path_of(file) if isinstance(file, int) else file
            if not (set(mode) & set("wax+")) or "b" not in mode or not self.is_below(path):
                return usual_open(file, mode, buffering, *more, **named)
            if not isinstance(file, int):
                self.step("open", path)
            size = io.DEFAULT_BUFFER_SIZE if buffering < 0 else buffering
            return io.BufferedWriter(Raw(file, mode.replace("b", "")), size)

        builtins.open = opened
        io.open = opened
        self._install_calls()
        self._install_on_ours()

    def _install_calls(self) -> None:
        """Replace what opens, writes, flushes, renames and removes in ``os``."""
        usual_open, usual_write = os.open, os.write

        def opened(path: Any, flags: int, *more: Any, **named: Any) -> int:
            if flags & WRITES and self.is_below(path):
                self.step("open", path)
            return usual_open(path, flags, *more, **named)

        def write(descriptor: int, content: Any) -> int:
            view = memoryview(content)
            half = view[: len(view) // 2]
            self.step("write", path_of(descriptor), lambda: usual_write(descriptor, half))
            return usual_write(descriptor, content)

        os.open = opened
        os.write = write
        of_path = {"mkdir": "mkdir", "rmdir": "remove", "unlink": "remove", "remove": "remove"}
        of_path |= {"rename": "rename", "replace": "rename", "truncate": "cut"}
        for name, kind in of_path.items():
            setattr(os, name, self._counted(getattr(os, name), kind))
        for name, kind in {"fsync": "flush", "ftruncate": "cut"}.items():
            setattr(os, name, self._counted(getattr(os, name), kind))

    def _counted(self, usual: Any, kind: str) -> Any:
        def call(first: Any, *more: Any, dir_fd: int | None = None, **named: Any) -> Any:
            path = path_of(first) if isinstance(first, int) else first
            if dir_fd is not None:
                path = os.path.join(path_of(dir_fd), path)
                named["dir_fd"] = dir_fd
            self.step(kind, path, other=more[0] if kind == "rename" else None)
            return usual(first, *more, **named)

        return call

    def _install_on_ours(self) -> None:
        """Look at what goes past Python's own functions."""
        from numpy.lib import format as npy

        from labelspace.store import folders

        usual = folders._exchange

        def exchange(one: Any, other: Any) -> bool:
            try:
                self.step("exchange", one, other=other)
            except OSError:
                return False  # which is how it fails: it is done in two steps then
            return usual(one, other)

        folders._exchange = exchange
        for module in (npy, getattr(__import__("numpy.lib", fromlist=["x"]), "_format_impl", npy)):
            module.isfileobj = lambda file: False  # else arrays are written by C

    def is_below(self, path: Any) -> bool:
        """Tell whether a path is below the folder that is looked at."""
        try:
            whole = os.path.abspath(os.fspath(path))
        except TypeError:
            return False
        return isinstance(whole, str) and (whole + os.sep).startswith(self._root + os.sep)

    def step(self, kind: str, path: Any, half: Any = None, other: Any = None) -> None:
        """Count a step; fail or end here if it is the one."""
        if not self.is_below(path) or self._plan.part not in os.fspath(path):
            return
        with self._lock:
            self._n_steps += 1
            self._n_failing += kind in CAN_FAIL
            if self._trace is not None:
                told = [f"{time.monotonic() - self._began:.6f}", kind, os.fspath(path)]
                told += [] if other is None else [os.fspath(other)]
                self._write(self._trace, "\t".join(told).encode() + b"\n")
            if self._n_steps == self._plan.kill_at:
                if half is not None:
                    half()
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(60)
            if self._n_steps == self._plan.vanish_at:
                subprocess.run(["rm", "-rf", self._root], check=True)
            at = self._plan.fail_at
            is_time = self._n_failing == at or (self._plan.always and self._n_failing > at)
            if at and kind in CAN_FAIL and is_time:
                if half is not None:
                    half()
                code = getattr(errno, self._plan.error)
                raise OSError(code, os.strerror(code), os.fspath(path))


def path_of(descriptor: int) -> str:
    """Return the path that an open file has."""
    return os.readlink(f"/proc/self/fd/{descriptor}")
