"""A process that holds a shard, and is started again where it was killed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

from scipy.sparse import csr_matrix

from labelspace.engine.executors import ONE_THREAD
from labelspace.errors import ModelFileError
from labelspace.sharding.ranker import ShardLost
from labelspace.topk import TopK

RETRIES = 2


class ShardProcess:
    """A shard in a process of this machine; one question at a time.

    Where it comes to another process, by fork or by pickle, a process of its own is started there:
    two who ask through the same pipes would get each other's answers.
    """

    def __init__(self, folder: Path, n_labels: int, n_features: int) -> None:
        self._folder = folder
        self._sizes = n_labels, n_features
        self._lock = threading.Lock()
        self._start()
        _all_here.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ShardProcess, (self._folder, *self._sizes)

    @property
    def process(self) -> int | None:
        """The number of the process; None before it is started again in a forked one."""
        return None if self._process is None else self._process.pid

    def search(self, Z: csr_matrix, k: int) -> TopK:
        """Return the best labels of the shard for rows."""
        with self._lock:
            if self._process is None:
                self._start()
            for _ in range(1 + RETRIES):
                asked: Any = self._process  # with both pipes
                try:
                    pickle.dump((Z, k), asked.stdin)
                    asked.stdin.flush()
                    answer = pickle.load(asked.stdout)
                except (EOFError, OSError, pickle.UnpicklingError):
                    self.close()
                    self._start()
                    continue
                if isinstance(answer, str):
                    raise ModelFileError(answer)
                return TopK(*answer)
        raise ShardLost(self._folder)

    def close(self) -> None:
        """End the process."""
        self._end()

    def _start(self) -> None:
        path = os.pathsep.join(place or os.getcwd() for place in sys.path)
        holder = [sys.executable, "-m", "labelspace.sharding.holder"]
        self._process: subprocess.Popen[bytes] | None = subprocess.Popen(
            [*holder, str(self._folder), *map(str, self._sizes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        )
        self._end = weakref.finalize(self, _end, self._process)

    def forget(self) -> None:
        """Let go of a process that belongs to the one that this one was forked from."""
        self._end.detach()
        self._lock, self._process = threading.Lock(), None


_all_here: weakref.WeakSet[ShardProcess] = weakref.WeakSet()


def _after_fork() -> None:
    for one in list(_all_here):
        one.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
