"""Which engine works, and how stages of training hand it their blocks."""

from __future__ import annotations

import json
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelspace import progress
from labelspace.engine.block_files import BlockContent
from labelspace.engine.blocks import Done, Lost, Work, inputs_name, job_for
from labelspace.engine.estimate import CorpusSize, Need, check_fits, estimate
from labelspace.engine.executors import Executor, InProcesses, InThreads
from labelspace.engine.workdir import Workdir
from labelspace.errors import EngineError, LabelspaceWarning, UsageError, nearest

ENGINES = ("threads", "processes", "ray")
LOG = "blocks.jsonl"


@dataclass
class Engine:
    """An executor, the folder of its blocks, and a log of them all."""

    name: str
    executor: Executor
    workdir: Workdir
    accept: int | None = None
    log: list[dict[str, Any]] = field(default_factory=list)
    n_found: int = 0
    n_lost: int = 0

    def run(
        self,
        work: Work,
        inputs: Any,
        blocks: Sequence[Any],
        title: str,
        sizes: Sequence[int],
        is_whole: Callable[[Any], bool],
        least: int,
    ) -> list[Any]:
        """Do the blocks that are not there yet, and return what is in all of them.

        If some cannot be done, ``least`` will do.
        """
        content = BlockContent(inputs)
        jobs = [
            job_for(number, work, content.digest, block, self.workdir.address)
            for number, block in enumerate(blocks)
        ]
        found: dict[int, Any] = {}
        for job in jobs:
            with suppress(KeyError):  # a file that is damaged is as none
                value = self.workdir.read(job.target)
                if is_whole(value):
                    found[job.number] = value
        left = [job for job in jobs if job.number not in found]
        self.n_found += len(found)
        lost: dict[int, EngineError] = {}
        with progress.task(title, total=sum(sizes)) as advance:
            advance(sum(sizes[number] for number in found))
            if left and self.executor.needs_files:
                self._put_inputs(content)
            for done in self.executor.run(left, inputs) if left else ():
                advance(sizes[done.number])
                if isinstance(done, Lost):
                    lost[done.number] = done.error
                    if len(jobs) - len(lost) < least:
                        raise done.error
                    continue
                self._note(title, len(jobs), done)
        self._tell_of(title, lost, len(jobs))
        jobs = [job for job in jobs if job.number not in lost]
        for job in (job for job in jobs if job.number not in found):
            try:
                found[job.number] = self.workdir.read(job.target)
            except KeyError:
                raise EngineError(
                    f"{job.target} is done but not in {self.workdir.address}: give a --workdir "
                    "that all machines see under the same name."
                ) from None
        return [found[job.number] for job in jobs]

    def about(self) -> list[str]:
        """Return what a person wants to know before it starts: who works, and where to look."""
        n_workers, kind = self.executor.n_workers, self.name
        lines = [f"{kind}: {n_workers} at a time; blocks and their log in {self.workdir.address}"]
        board = getattr(self.executor, "dashboard", None)
        return [*lines, f"Ray's dashboard: {board}"] if board else lines

    def check_fits(self, size: CorpusSize) -> Need:
        """Return what training on a corpus needs; raise if the machines have less."""
        memory, n_workers = self.executor.machine()
        need = estimate(size, n_workers)
        check_fits(need, memory, self.workdir.free_bytes())
        return need

    def figures(self) -> dict[str, Any]:
        """Return what was done: blocks, the seconds that they took, and by how many workers."""
        workers = {(line["node"], line["process"]) for line in self.log}
        return {
            "engine": self.name,
            "n_blocks_done": len(self.log),
            "n_blocks_found": self.n_found,
            "block_seconds": round(sum(line["cpu_seconds"] for line in self.log), 3),
            "n_workers": len(workers),
            "n_blocks_lost": self.n_lost,
        }

    def _put_inputs(self, content: BlockContent) -> None:
        name = inputs_name(content.digest)
        if self.workdir.has(name):
            with suppress(KeyError):
                self.workdir.read(name)
                return
        free = self.workdir.free_bytes()
        if free is not None and free < content.n_bytes:
            raise EngineError(
                f"{self.workdir.address} has room for {free / 2**30:.1f} GiB, but the rows to "
                f"learn from take {content.n_bytes / 2**30:.1f} GiB: give a larger --workdir."
            )
        self.workdir.write(name, content)

    def _tell_of(self, title: str, lost: dict[int, EngineError], n_blocks: int) -> None:
        if lost:
            self.n_lost += len(lost)
            one = next(iter(lost.values()))
            warnings.warn(
                f"{title}: {len(lost)} of {n_blocks} could not be done and are left out ({one})",
                LabelspaceWarning,
                stacklevel=4,
            )

    def _note(self, title: str, n_blocks: int, done: Done) -> None:
        line = {"time": round(time.time(), 3), "stage": title, "n_blocks": n_blocks}
        line |= done._asdict()
        self.log.append(line)
        if self.workdir.is_path:
            with open(Path(self.workdir.address, LOG), "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


_active: ContextVar[Engine | None] = ContextVar("labelspace_engine", default=None)


@contextmanager
def using(
    name: str,
    *,
    workdir: str | Path | None = None,
    n_workers: int | None = None,
    address: str | None = None,
    accept: int | None = None,
) -> Iterator[Engine]:
    """Let an engine do the heavy work of the block: training, whatever the method cuts up.

    Parameters
    ----------
    name : {"threads", "processes", "ray"}
        Threads of this process, processes of this machine, or a Ray cluster.
    workdir : path or address, optional
        Where blocks are kept: a folder that all workers see, or an address that fsspec knows. A run
        that was stopped goes on from what is there. A folder for this run alone unless given;
        Ray on several machines needs one.
    n_workers : int, optional
        Blocks done at the same time: as many as there are cores unless given.
    address : str, optional
        Of the Ray cluster: ``"auto"``, ``"host:port"`` or ``"ray://host:port"``. A cluster of this
        machine alone, for this block alone, unless given.
    accept : int, optional
        Learners of an ensemble that will do where others cannot be trained; a warning and
        ``figures`` tell how many were left out. All of them unless given.

    Examples
    --------
    >>> import labelspace
    >>> from labelspace.models import OneVsAll
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]], [["red"], ["round"]]
    >>> with labelspace.engine.using("threads") as engine:
    ...     model = OneVsAll(C=1.0).fit(X, Y)
    >>> [line["stage"] for line in engine.log]
    ['training classifiers']
    """
    if name not in ENGINES:
        raise UsageError(f"There is no engine '{name}'{nearest(name, ENGINES)}")
    if address is not None and name != "ray":
        raise UsageError(f"--address is for the engine ray, not for {name}: leave it out.")
    with _folder(workdir, name, address) as folder:
        folder.make()
        executor = _executor(name, n_workers, address)
        token = _active.set(Engine(name, executor, folder, accept))
        try:
            yield _engine()
        finally:
            _active.reset(token)
            executor.close()


def is_active() -> bool:
    """Tell whether there is an engine, to which work is given in blocks."""
    return _active.get() is not None


def run_blocks(
    work: Work,
    inputs: Any,
    blocks: Sequence[Any],
    title: str,
    sizes: Sequence[int] | None = None,
    is_whole: Callable[[Any], bool] = lambda value: True,
    may_lose: bool = False,
) -> list[Any]:
    """Let the engine do ``work(inputs, block)`` for each block; return what each gave, in order.

    Parameters
    ----------
    work : function
        Of a module, not of a function: workers find it by its name.
    inputs, blocks : arrays, sparse matrices, parts of models, plain data, tuples and dicts of them
        They alone decide what a block is; so no block may follow from the number of workers.
    title : str
        Of the stage, for people.
    sizes : sequence of int, optional
        How much of the progress each block is: one unless given.
    is_whole : callable, optional
        Tells whether what a block gave in an earlier run still holds, where it speaks of files.
    may_lose : bool
        Whether fewer blocks will do, if the engine was told to accept so many.
    """
    engine, n_blocks = _engine(), len(blocks)
    accepted = engine.accept if may_lose and engine.accept is not None else n_blocks
    least = min(accepted, n_blocks)
    return engine.run(work, inputs, blocks, title, sizes or [1] * n_blocks, is_whole, least)


def blocks_of_equal_work(
    work: ArrayLike, *, least: int = 1, most: int = 512, n_blocks: int = 64
) -> list[NDArray[np.int64]]:
    """Cut items into runs of about equal work, by what each costs, whoever does them.

    There are ``n_blocks``, fewer where blocks would have less than ``least`` items, more where they
    would have more than ``most`` on average.

    >>> [part.tolist() for part in blocks_of_equal_work([4, 1, 1, 1, 1], n_blocks=2)]
    [[0], [1, 2, 3, 4]]
    """
    costs = np.asarray(work, dtype=np.float64)
    if not costs.size:
        return []
    wanted = max(min(n_blocks, costs.size // least), -(-costs.size // most), 1)
    middles = np.cumsum(costs) - costs / 2
    number = np.minimum((middles / max(costs.sum(), 1e-300) * wanted).astype(np.int64), wanted - 1)
    return [np.flatnonzero(number == one) for one in np.unique(number)]


def _engine() -> Engine:
    engine = _active.get()
    if engine is None:
        raise EngineError("No engine is in use: call this within labelspace.engine.using(…).")
    return engine


@contextmanager
def _folder(workdir: str | Path | None, name: str, address: str | None) -> Iterator[Workdir]:
    if workdir is not None:
        yield Workdir(workdir)
        return
    if address is not None:
        raise UsageError(
            "A Ray cluster needs a --workdir that all its machines see: a shared folder, or an "
            "address such as s3://bucket/work."
        )
    with tempfile.TemporaryDirectory(prefix="labelspace-") as folder:
        yield Workdir(folder)


def _executor(name: str, n_workers: int | None, address: str | None) -> Executor:
    if name == "threads":
        return InThreads(n_workers)
    if name == "processes":
        return InProcesses(n_workers)
    from labelspace.engine.on_ray import OnRay

    return OnRay(n_workers, address)
