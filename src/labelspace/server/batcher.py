"""Requests that arrive together are ranked together, on a thread of their own.

While the model works on one batch the next one gathers: nobody waits for a timer. The queue is
bounded in rows, so that overload is answered at once instead of piling up. Rows of a bulk request
wait in a second queue, one block of which runs after each batch of single requests, so that
neither keeps the other waiting for long.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from labelspace import threads
from labelspace.errors import EngineError
from labelspace.server.metrics import Metrics
from labelspace.server.refusal import Refusal, overloaded, too_late
from labelspace.server.schemas import Row
from labelspace.server.served import Ranked, Served

Result = TypeVar("Result")

MAX_BATCH = 32
# Ranking thousands of labels for one row must not make a whole batch do the same.
LARGE_K = 128


class Batcher:
    """Runs the model, one batch after the other.

    Parameters
    ----------
    served : Served
        The model to begin with; ``replace`` gives another.
    queue : int
        Rows that may wait.
    time_limit : float
        Seconds after which a request is given up.
    n_threads : int, default=1
        Threads that the model may use.
    """

    def __init__(
        self,
        served: Served,
        metrics: Metrics,
        *,
        queue: int,
        time_limit: float,
        n_threads: int = 1,
    ) -> None:
        self.served = served
        self.time_limit = time_limit
        self._metrics = metrics
        self._capacity = queue
        self._n_threads = n_threads
        self._wake = threading.Condition()
        self._single: deque[_Job] = deque()
        self._bulk: deque[_Job] = deque()
        self._n_waiting = 0
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="labelspace-model", daemon=True)
        self._thread.start()

    @property
    def n_waiting(self) -> int:
        """Rows in the queue of single requests."""
        return self._n_waiting

    @property
    def is_full(self) -> bool:
        """One more row would be refused."""
        return self._n_waiting >= self._capacity

    @property
    def is_alive(self) -> bool:
        """The thread of the model runs."""
        return self._thread.is_alive()

    async def rank(self, rows: Sequence[Row], k: int, *, bulk: bool = False) -> Ranked:
        """Return the ``k`` best labels of rows, or raise a refusal."""
        return await self._answer(_Ranking(rows, k), bulk=bulk)

    async def call(self, work: Callable[[Served], Result]) -> Result:
        """Run other work on the model's thread, with nothing else on it."""
        return await self._answer(_Call(work), bulk=False)

    def replace(self, served: Served) -> None:
        """Use another model from the next batch on."""
        self.served = served

    def close(self) -> None:
        """Finish what is waiting, then end the thread."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._thread.join()

    async def _answer(self, job: _Job, *, bulk: bool) -> Any:
        job.loop = asyncio.get_running_loop()
        job.future = job.loop.create_future()
        with self._wake:
            if self._closed:
                raise Refusal(503, "The server is shutting down.")
            if not bulk and self._n_waiting + job.n_rows > self._capacity:
                raise overloaded()
            if bulk:
                self._bulk.append(job)
            else:
                self._single.append(job)
                self._n_waiting += job.n_rows
            self._wake.notify()
        try:
            return await asyncio.wait_for(job.future, self.time_limit)
        except asyncio.TimeoutError:
            raise too_late(self.time_limit) from None

    def _work(self) -> None:
        # Set for the whole life of the thread: setting it takes longer than to rank a row.
        with threads.limit(self._n_threads):
            while batches := self._taken():
                for batch in batches:
                    self._run([job for job in batch if not job.future.done()])

    def _taken(self) -> list[list[_Job]]:
        """Wait, then take the single requests that fit into a batch and a block of a bulk request.

        Nothing is taken when the batcher is closed and nothing is left.
        """
        with self._wake:
            while not (self._single or self._bulk or self._closed):
                self._wake.wait()
            return self._batches()

    def _batches(self) -> list[list[_Job]]:
        batches: list[list[_Job]] = []
        together: list[_Job] = []
        n_rows = 0
        while self._single and n_rows < MAX_BATCH:
            job = self._single.popleft()
            self._n_waiting -= job.n_rows
            n_rows += job.n_rows
            if isinstance(job, _Ranking) and job.k <= LARGE_K:
                together.append(job)
            else:
                batches.append([job])
        if together:
            batches.insert(0, together)
        if self._bulk:
            batches.append([self._bulk.popleft()])
        return batches

    def _run(self, batch: list[_Job]) -> None:
        if not batch:
            return
        served = self.served
        try:
            first = batch[0]
            if isinstance(first, _Call):
                results: list[Any] = [first.work(served)]
            else:
                results = _ranked(served, batch)
                self._metrics.add("labelspace_rows_tagged_total", sum(job.n_rows for job in batch))
                self._metrics.add("labelspace_batches_total", 1)
        except Exception as error:
            if len(batch) > 1:  # one bad row must not fail the others
                for job in batch:
                    self._run([job])
                return
            lost = isinstance(error, EngineError)  # a shard does not answer, but may soon
            _deliver_soon(batch, [Refusal(503, str(error)) if lost else error])
            return
        _deliver_soon(batch, results)


class _Job:
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    n_rows = 1


class _Ranking(_Job):
    def __init__(self, rows: Sequence[Row], k: int) -> None:
        self.rows = rows
        self.k = k
        self.n_rows = len(rows)


class _Call(_Job):
    def __init__(self, work: Callable[[Served], Any]) -> None:
        self.work = work


def _ranked(served: Served, batch: Sequence[Any]) -> list[Ranked]:
    rows = [row for job in batch for row in job.rows]
    ranked = served.rank(rows, max(job.k for job in batch))
    results, start = [], 0
    for job in batch:
        part = slice(start, start + job.n_rows)
        top = type(ranked.top)(ranked.top.labels[part, : job.k], ranked.top.scores[part, : job.k])
        results.append(Ranked(served, top, ranked.n_unknown[part], ranked.missing_shards))
        start += job.n_rows
    return results


def _deliver_soon(batch: list[_Job], results: list[Any]) -> None:
    # One wake-up of the event loop for the whole batch. A loop that has ended asks no more.
    with suppress(RuntimeError):
        batch[0].loop.call_soon_threadsafe(_deliver, batch, results)


def _deliver(batch: list[_Job], results: list[Any]) -> None:
    for job, result in zip(batch, results, strict=True):
        if job.future.done():
            continue
        if isinstance(result, Exception):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)
