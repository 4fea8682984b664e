"""Requests that arrive together are ranked together, and more than fit are refused."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from labelspace import Tagger, threads
from labelspace.server.batcher import MAX_BATCH, Batcher
from labelspace.server.metrics import Metrics
from labelspace.server.refusal import Refusal
from labelspace.server.schemas import Row
from labelspace.server.served import Served


class Slow(Served):
    """A model that can be held up, and remembers the batches that it ranked."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.batches: list[int] = []
        self.may_go = threading.Event()
        self.entered = threading.Event()
        self.may_go.set()

    def rank(self, rows: Any, k: int) -> Any:
        self.entered.set()
        self.may_go.wait()
        self.batches.append(len(rows))
        return super().rank(rows, k)


def run(trained: Tagger, work: Any, **options: Any) -> Slow:
    """Run ``work(batcher, served)`` on an event loop."""
    served = Slow(trained)

    async def main() -> None:
        batcher = Batcher(served, Metrics(), **{"queue": 64, "time_limit": 30.0, **options})
        try:
            await work(batcher, served)
        finally:
            served.may_go.set()
            await asyncio.to_thread(batcher.close)

    asyncio.run(main())
    return served


async def held_up(batcher: Batcher, served: Slow) -> asyncio.Task[Any]:
    """Let a first request occupy the model."""
    served.may_go.clear()
    first = asyncio.create_task(batcher.rank([Row(text="roses")], 1))
    await asyncio.to_thread(served.entered.wait)
    return first


def test_what_waits_while_the_model_works_is_ranked_together(trained: Tagger):
    texts = [f"{word} and roses" for word in ("harbour", "rook", "ink", "oven", "comet")]

    async def work(batcher: Batcher, served: Slow) -> None:
        first = await held_up(batcher, served)
        others = [
            asyncio.create_task(batcher.rank([Row(text=text)], k))
            for k, text in enumerate(texts, 1)
        ]
        await asyncio.sleep(0.05)
        served.may_go.set()
        answers = await asyncio.gather(*others)
        await first
        for k, (text, answer) in enumerate(zip(texts, answers, strict=True), 1):
            expected = trained.predict_topk([text], k)
            assert answer.top.labels.tolist() == expected.labels.tolist()

    assert run(trained, work).batches == [1, 5]


def test_a_full_queue_refuses_at_once_and_takes_on_again_when_there_is_room(trained: Tagger):
    async def work(batcher: Batcher, served: Slow) -> None:
        first = await held_up(batcher, served)
        waiting = [asyncio.create_task(batcher.rank([Row(text="ink")], 1)) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert batcher.is_full
        with pytest.raises(Refusal) as refused:
            await batcher.rank([Row(text="ink")], 1)
        assert refused.value.status == 429
        assert refused.value.headers["Retry-After"] == "1"
        served.may_go.set()
        await asyncio.gather(first, *waiting)
        assert not batcher.is_full
        await batcher.rank([Row(text="ink")], 1)

    run(trained, work, queue=3)


def test_an_answer_that_takes_too_long_is_given_up_and_not_worked_on(trained: Tagger):
    async def work(batcher: Batcher, served: Slow) -> None:
        first = await held_up(batcher, served)
        with pytest.raises(Refusal) as refused:
            await batcher.rank([Row(text="ink")] * 7, 1)
        assert refused.value.status == 503
        served.may_go.set()
        with pytest.raises(Refusal):
            await first
        await batcher.rank([Row(text="ink")], 1)

    assert 7 not in run(trained, work, time_limit=0.3).batches


def test_bulk_rows_and_single_rows_take_turns(trained: Tagger):
    async def work(batcher: Batcher, served: Slow) -> None:
        first = await held_up(batcher, served)
        bulk = [
            asyncio.create_task(batcher.rank([Row(text="ink")] * 50, 1, bulk=True))
            for _ in range(3)
        ]
        single = [asyncio.create_task(batcher.rank([Row(text="ink")], 1)) for _ in range(4)]
        await asyncio.sleep(0.05)
        served.may_go.set()
        await asyncio.gather(first, *bulk, *single)

    assert run(trained, work).batches == [1, 4, 50, 50, 50]


def test_batches_are_bounded(trained: Tagger):
    async def work(batcher: Batcher, served: Slow) -> None:
        first = await held_up(batcher, served)
        waiting = [asyncio.create_task(batcher.rank([Row(text="ink")], 1)) for _ in range(150)]
        await asyncio.sleep(0.1)
        served.may_go.set()
        await asyncio.gather(first, *waiting)

    assert max(run(trained, work, queue=200).batches) == MAX_BATCH


def test_one_bad_row_does_not_fail_its_batch(trained: Tagger):
    class Picky(Slow):
        def rank(self, rows: Any, k: int) -> Any:
            ranked = super().rank(rows, k)
            if any(row.text == "bad" for row in rows):
                raise ValueError("bad")
            return ranked

    async def main() -> None:
        served = Picky(trained)
        batcher = Batcher(served, Metrics(), queue=64, time_limit=10)
        first = await held_up(batcher, served)
        good = asyncio.create_task(batcher.rank([Row(text="ink")], 1))
        bad = asyncio.create_task(batcher.rank([Row(text="bad")], 1))
        await asyncio.sleep(0.05)
        served.may_go.set()
        await asyncio.gather(first, good)
        with pytest.raises(ValueError):
            await bad
        await asyncio.to_thread(batcher.close)

    asyncio.run(main())


def test_another_model_is_used_from_the_next_batch_on(trained: Tagger):
    other = Served(Tagger("most-common").fit(["a", "b ball"], [["x"], ["x"]]), "other")

    async def work(batcher: Batcher, served: Slow) -> None:
        first = await held_up(batcher, served)
        batcher.replace(other)
        next_one = asyncio.create_task(batcher.rank([Row(text="roses")], 1))
        await asyncio.sleep(0.02)
        served.may_go.set()
        assert (await first).served is served
        assert (await next_one).served is other

    run(trained, work)


def test_closing_finishes_what_waits(trained: Tagger):
    async def work(batcher: Batcher, served: Slow) -> None:
        first = await held_up(batcher, served)
        waiting = asyncio.create_task(batcher.rank([Row(text="ink")], 1))
        await asyncio.sleep(0.02)
        closing = asyncio.create_task(asyncio.to_thread(batcher.close))
        await asyncio.sleep(0.02)
        with pytest.raises(Refusal) as refused:
            await batcher.rank([Row(text="ink")], 1)
        assert refused.value.status == 503
        served.may_go.set()
        await asyncio.gather(first, waiting, closing)
        assert not batcher.is_alive

    run(trained, work)


def test_one_row_is_ranked_quickly(trained: Tagger):
    served = Served(trained)
    row = [Row(text="prune the roses in the harbour before the eclipse")]
    with threads.limit(1):
        served.rank(row, 5)
        began = time.process_time()
        for _ in range(50):
            served.rank(row, 5)
    assert (time.process_time() - began) / 50 < 0.002
