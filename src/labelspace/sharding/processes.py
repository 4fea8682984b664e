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
    """A shard in a process of this machine; one question at a time."""

    def __init__(self, folder: Path, n_labels: int, n_features: int) -> None:
        self._folder = folder
        self._sizes = str(n_labels), str(n_features)
        self._lock = threading.Lock()
        self._start()

    @property
    def process(self) -> int:
        """The number of the process."""
        return self._process.pid

    def search(self, Z: csr_matrix, k: int) -> TopK:
        """Return the best labels of the shard for rows."""
        with self._lock:
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
        self._process = subprocess.Popen(
            [*holder, str(self._folder), *self._sizes],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        )
        self._end = weakref.finalize(self, _end, self._process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
