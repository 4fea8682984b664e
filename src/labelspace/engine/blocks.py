"""A block: what is to be done, by which function, on which inputs, and where it goes.

The name of a block's file follows from all that it is computed from: the function, the fingerprint
of its inputs, the block's own number or list of labels, and the versions of what computes. So a
file that is there is the block, whoever made it and when.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import version
from typing import Any, NamedTuple

import labelspace
from labelspace import threads
from labelspace.engine.block_files import BlockContent
from labelspace.engine.workdir import Workdir
from labelspace.errors import EngineError

Work = Callable[[Any, Any], Any]
_LIBRARIES = ("numpy", "scipy", "numba", "faiss-cpu")


class Job(NamedTuple):
    """A block that somebody is to do; small, since the inputs are in a file.

    ``work`` is written as ``module:function``; ``inputs`` and ``target`` are names of files.
    """

    number: int
    work: str
    inputs: str
    block: Any
    target: str
    workdir: str
    versions: dict[str, str]


class Done(NamedTuple):
    """A block that is done: by whom, and what it took."""

    number: int
    node: str
    process: int
    seconds: float
    cpu_seconds: float
    n_bytes: int


class Lost(NamedTuple):
    """A block that could not be done, whatever was tried, and why."""

    number: int
    error: EngineError


def job_for(number: int, work: Work, inputs: str, block: Any, workdir: str) -> Job:
    """Return the job of a block whose inputs have the fingerprint ``inputs``."""
    name = f"{work.__module__}:{work.__qualname__}"
    used = versions()
    about = json.dumps([name, inputs, BlockContent(block).digest, used], sort_keys=True)
    key = hashlib.sha256(about.encode()).hexdigest()[:40]
    kind = name.rpartition(":")[2].strip("_").replace("_", "-")
    target = f"{kind}-{number:05d}-{key}.block"
    return Job(number, name, inputs_name(inputs), block, target, workdir, used)


def inputs_name(digest: str) -> str:
    """Return the name of the file for inputs with this fingerprint."""
    return f"inputs-{digest[:40]}.block"


def do_block(job: Job) -> Done:
    """Do a block in this process, on one thread, and write it, unless it is there."""
    _check_versions(job)
    workdir = Workdir(job.workdir)
    inputs = _opened(job.workdir, job.inputs)
    return finish_block(job, workdir, inputs)


def finish_block(job: Job, workdir: Workdir, inputs: Any) -> Done:
    """Do a block with inputs that are at hand."""
    begun, cpu = time.perf_counter(), time.thread_time()
    module, _, name = job.work.partition(":")
    work: Work = getattr(importlib.import_module(module), name)
    with threads.limit(1):
        content = BlockContent(work(inputs, job.block))
    workdir.write(job.target, content)
    spent = time.perf_counter() - begun, time.thread_time() - cpu
    return Done(job.number, platform.node(), os.getpid(), *spent, content.n_bytes)


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Return the versions of all that bytes depend on."""
    found = {"labelspace": labelspace.__version__, "python": sys.version.split()[0]}
    return found | {name: version(name) for name in _LIBRARIES}


# A worker does the blocks of one stage after another: it keeps the inputs of the last alone.
@lru_cache(maxsize=1)
def _opened(workdir: str, name: str) -> Any:
    try:
        return Workdir(workdir).read(name)
    except KeyError:
        raise EngineError(
            f"{platform.node()} does not find {name} in {workdir}: give a --workdir that all "
            "machines see under the same name, such as a folder on NFS or an address like s3://…."
        ) from None


def _check_versions(job: Job) -> None:
    here = versions()
    if here != job.versions:
        other = ", ".join(
            f"{name} {here.get(name)} instead of {wanted}"
            for name, wanted in job.versions.items()
            if here.get(name) != wanted
        )
        raise EngineError(
            f"{platform.node()} has {other}: install the same versions on all machines, or bytes "
            "would differ."
        )
