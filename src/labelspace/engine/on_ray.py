"""Blocks on a Ray cluster: tasks that hold no state and return nothing but what they took.

Ray starts a task again where its worker or its whole machine dies. No task waits for another, and
none holds a part of the answer, so there is nothing to hang at and nothing to lose.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from labelspace.engine.blocks import Done, Job, Lost, do_block
from labelspace.engine.executors import ATTEMPTS, ONE_THREAD
from labelspace.errors import EngineError

IN_FLIGHT = 2  # blocks that are handed out for each worker: one to do, one to go on with


class OnRay:
    """Workers of a Ray cluster.

    Parameters
    ----------
    n_workers : int, optional
        Blocks done at the same time; as many as the cluster has cores unless given.
    address : str, optional
        Of the cluster; one of this machine alone is started, and ended, unless given.
    """

    needs_files = True

    def __init__(self, n_workers: int | None = None, address: str | None = None) -> None:
        self._ray = _connected(n_workers, address)
        self._wanted = n_workers
        options: dict[str, Any] = {
            "num_cpus": 1,
            "max_retries": ATTEMPTS,
            "runtime_env": {"env_vars": ONE_THREAD},
        }
        self._do = self._ray.remote(do_block).options(**options)

    @property
    def n_workers(self) -> int:
        # Asked each time: machines come and go.
        return self._wanted or max(int(self._ray.cluster_resources().get("CPU", 1)), 1)

    @property
    def dashboard(self) -> str | None:
        """Where Ray shows what its workers do and log, if it does."""
        url = getattr(self._ray.get_runtime_context(), "dashboard_url", None)
        if url is None:
            url = getattr(self._ray._private.worker, "get_dashboard_url", lambda: None)()
        return f"http://{url}" if url else None

    def run(self, jobs: Sequence[Job], inputs: Any) -> Iterator[Done | Lost]:
        left = list(reversed(jobs))
        waiting: dict[Any, Job] = {}
        try:
            while left or waiting:
                while left and len(waiting) < self._most_handed_out():
                    job = left.pop()
                    waiting[self._do.remote(job)] = job
                finished, _ = self._ray.wait(list(waiting), num_returns=1)
                for one in finished:
                    yield self._result(one, waiting.pop(one))
        finally:
            for one in waiting:
                self._ray.cancel(one, force=True)

    def machine(self) -> tuple[int | None, int]:
        found = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        memories = [one["memory"] + one.get("object_store_memory", 0) for one in found]
        cores = max((int(one.get("CPU", 0)) for one in found), default=1)
        return int(min(memories, default=0)) or None, min(cores, self.n_workers)

    def close(self) -> None:
        self._ray.shutdown()

    def _most_handed_out(self) -> int:
        return self._wanted or IN_FLIGHT * self.n_workers

    def _result(self, reference: Any, job: Job) -> Done | Lost:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            cause = getattr(error, "cause", None)
            if isinstance(cause, EngineError):
                return Lost(job.number, cause)
            failed = EngineError(f"Block {job.number} failed: {_last_line(error)}")
            return Lost(job.number, failed)
        except errors.RayError as error:
            lost = EngineError(
                f"Block {job.number} was lost {ATTEMPTS} times ({_last_line(error)}): its machine "
                "may have too little memory; finished blocks are kept, so start again."
            )
            return Lost(job.number, lost)


def _connected(n_workers: int | None, address: str | None) -> Any:
    try:
        import ray
    except ImportError:
        raise EngineError(
            "The engine ray needs Ray, which is not installed: pip install 'labelspace[cluster]'."
        ) from None
    # "local" never joins a cluster that somebody else has left behind on this machine.
    options: dict[str, Any] = {"address": address or "local", "logging_level": "warning"}
    if address is None:
        options |= {"num_cpus": n_workers, "include_dashboard": False}
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        told = _last_line(error)
        if "ersion mismatch" in str(error):
            raise EngineError(
                f"This Python ({sys.version.split()[0]}) and Ray ({ray.__version__}) are not those "
                f"of the cluster at {address}: install the same versions of both here ({told})."
            ) from None
        raise EngineError(
            f"The Ray cluster at {address or 'this machine'} cannot be reached ({told}): is 'ray "
            "start' running there, with the same token?"
        ) from None
    return ray


def _last_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:200] if lines else type(error).__name__
