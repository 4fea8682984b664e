"""Who does blocks: threads of this process, or processes of this machine.

An executor takes jobs and yields each as it is done, in whatever order. A worker that dies takes
nothing with it but the block that it was at, which another does again.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

from labelspace import threads
from labelspace.engine.blocks import Done, Job, Lost, finish_block
from labelspace.engine.estimate import memory_here
from labelspace.engine.workdir import Workdir
from labelspace.errors import EngineError

ATTEMPTS = 4  # that a block gets before it is taken to be what kills workers
# So that a worker's arrays are added up in the same order on any machine.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)


class Executor(Protocol):
    """What an engine has to do."""

    needs_files: bool  # whether workers read inputs from a file

    @property
    def n_workers(self) -> int:
        """Blocks that are done at the same time."""

    def run(self, jobs: Sequence[Job], inputs: Any) -> Iterator[Done | Lost]:
        """Yield each job when it is done, or when it is clear that it cannot be."""

    def machine(self) -> tuple[int | None, int]:
        """Return the memory of the smallest machine, if known, and the most workers of one."""

    def close(self) -> None:
        """Let go of all workers."""


class InThreads:
    """Threads of this process, which have the inputs in memory."""

    needs_files = False

    def __init__(self, n_workers: int | None = None) -> None:
        self.n_workers = threads.resolve(n_workers)

    def run(self, jobs: Sequence[Job], inputs: Any) -> Iterator[Done | Lost]:
        def do(job: Job) -> Done:
            return finish_block(job, Workdir(job.workdir), inputs)

        yield from _as_done(do, jobs, self.n_workers)

    def machine(self) -> tuple[int | None, int]:
        return memory_here(), self.n_workers

    def close(self) -> None:
        """Nothing is held between runs."""


class InProcesses:
    """Processes of this machine, which share the inputs by mapping the same file."""

    needs_files = True

    def __init__(self, n_workers: int | None = None) -> None:
        self.n_workers = threads.resolve(n_workers)
        self._idle: queue.SimpleQueue[WorkerProcess] = queue.SimpleQueue()
        self._all: list[WorkerProcess] = []
        self._is_closed = False

    def run(self, jobs: Sequence[Job], inputs: Any) -> Iterator[Done | Lost]:
        while len(self._all) < min(self.n_workers, len(jobs)):
            self._all.append(WorkerProcess())
            self._idle.put(self._all[-1])
        yield from _as_done(self._do, jobs, len(self._all))

    def machine(self) -> tuple[int | None, int]:
        return memory_here(), self.n_workers

    def close(self) -> None:
        self._is_closed = True
        for worker in self._all:
            worker.stop()

    def _do(self, job: Job) -> Done:
        worker = self._idle.get()
        try:
            for _ in range(ATTEMPTS):
                done = worker.do(job)
                if done is not None:
                    return done
                if self._is_closed:  # nobody waits for it any more
                    break
                worker.start()
        finally:
            self._idle.put(worker)
        raise EngineError(
            f"Block {job.number} ended its process {ATTEMPTS} times, as it does where memory runs "
            "out: use fewer workers or a machine with more memory, then start again."
        )


class WorkerProcess:
    """A Python process that does one block after another; its stderr is ours.

    It is no child of ``multiprocessing``, which would import the caller's script a second time.
    """

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin, or begin again after it was killed."""
        path = os.pathsep.join(place or os.getcwd() for place in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "labelspace.engine.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        )

    def do(self, job: Job) -> Done | None:
        """Return what came of a block; None where the process ended at it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            pickle.dump(job, self._process.stdin)
            self._process.stdin.flush()
            came = pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            self._process.kill()
            self._process.wait()
            return None
        if isinstance(came, BaseException):
            raise came
        return came

    def stop(self) -> None:
        """End the process, whatever it is at."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


def _as_done(
    do: Callable[[Job], Done], jobs: Sequence[Job], n_threads: int
) -> Iterator[Done | Lost]:
    pool = ThreadPoolExecutor(n_threads)
    waiting: dict[Future[Done], Job] = {pool.submit(do, job): job for job in jobs}
    try:
        while waiting:
            finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in finished:
                number = waiting.pop(future).number
                error = future.exception()
                yield Lost(number, error) if isinstance(error, EngineError) else future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
