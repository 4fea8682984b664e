"""Many rows in one request: JSON lines in, JSON lines out, while the body still arrives.

Each line is a request as for one row, and gives one line in the same order; a line that cannot be
answered gives one with ``error`` and its number, and the others go on. The body is taken in
without waiting for the answers to leave, since many clients read nothing before they have sent
everything; the limits on the body and on the number of batches bound what that can hold.

Where another batch waits, the one that has mostly kept the server waiting is given up for it: a
few clients that send or read slowly do not keep all others out.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from labelspace.server.batcher import LARGE_K, MAX_BATCH, Batcher
from labelspace.server.body import check_length, check_type
from labelspace.server.refusal import Refusal, error_json, overloaded, sentence_of, too_large
from labelspace.server.schemas import TagRequest
from labelspace.server.settings import Limits
from labelspace.server.tagging import LabelFilter, answer_of, label_filter, to_json

MEDIA_TYPE = "application/x-ndjson"
# Bytes a second below which a client only keeps others from their turn.
MIN_RATE = 1024
# Seconds for a client to take in a part of the answer.
SEND_SECONDS = 60.0
# Seconds for which a client has kept the server waiting before its batch may be given up.
PATIENCE = 1.0


class BatchTagger:
    """Answers batches, a few at a time."""

    def __init__(self, batcher: Batcher, limits: Limits) -> None:
        self._batcher = batcher
        self._limits = limits
        self._running: set[_Running] = set()

    async def answer(self, request: Request) -> Response:
        """Return a response that streams the answers of a batch."""
        check_type(request, MEDIA_TYPE)
        check_length(request, self._limits.batch_body)
        self._make_room()
        return _Stream(self, request)

    async def run(self, request: Request) -> AsyncIterator[bytes]:
        """Yield answers; a refusal of the whole batch is raised where nothing was yielded yet."""
        self._make_room()
        lines = _Lines(request, self._limits)
        running = _Running(lines)
        self._running.add(running)
        reading = asyncio.create_task(lines.read())
        try:
            number = 0
            while block := await lines.take(MAX_BATCH):
                running.begin()
                answers = await self._answers(block, number)
                running.end()
                yield answers
                number += len(block)
            if lines.refusal is not None:
                if number == 0:
                    raise lines.refusal
                yield error_json(lines.refusal.sentence, line=number + 1) + b"\n"
        finally:
            reading.cancel()
            self._running.discard(running)

    def _make_room(self) -> None:
        """Give up the batch that mostly waits, or refuse the new one if none does."""
        if len(self._running) < self._limits.batches:
            return
        slowest = max(self._running, key=lambda one: one.idle, default=None)
        if slowest is None or slowest.idle < max(PATIENCE, slowest.busy):
            raise overloaded()
        slowest.lines.give_up()
        self._running.discard(slowest)

    async def _answers(self, block: list[bytes], number: int) -> bytes:
        told: list[bytes] = [b""] * len(block)
        together: list[tuple[int, TagRequest, LabelFilter]] = []
        alone: list[tuple[int, TagRequest, LabelFilter]] = []
        for at, line in enumerate(block):
            if not line.strip():
                continue
            try:
                asked = _parsed(line)
                wanted = await label_filter(asked, self._batcher.served)
            except Refusal as refusal:
                told[at] = error_json(refusal.sentence, line=number + at + 1) + b"\n"
                continue
            (together if wanted.n_ranked <= LARGE_K else alone).append((at, asked, wanted))
        for group in (together, *([job] for job in alone)):
            for at, answer in await self._ranked(group, number):
                told[at] = answer
        return b"".join(told)

    async def _ranked(
        self, group: list[tuple[int, TagRequest, LabelFilter]], number: int
    ) -> list[tuple[int, bytes]]:
        if not group:
            return []
        rows = [asked for _, asked, _ in group]
        try:
            ranked = await self._batcher.rank(
                rows, max(wanted.n_ranked for _, _, wanted in group), bulk=True
            )
        except Refusal as refusal:
            if number == 0 and refusal.status == 503:
                raise
            if len(group) > 1 and refusal.status != 503:
                parts = [await self._ranked([job], number) for job in group]
                return [answer for part in parts for answer in part]
            return [
                (at, error_json(refusal.sentence, line=number + at + 1) + b"\n")
                for at, _, _ in group
            ]
        return [
            (at, to_json({"line": number + at + 1, **answer_of(ranked, row, wanted)}) + b"\n")
            for row, (at, asked, before) in enumerate(group)
            for wanted in (before.in_terms_of(ranked.served, asked),)
        ]


class _Running:
    """A batch that has begun: how long the model was at work for it, and how long it was not."""

    def __init__(self, lines: _Lines) -> None:
        self.lines = lines
        self._began = time.monotonic()
        self._block_began: float | None = None
        self._busy = 0.0

    def begin(self) -> None:
        """Rows go to the model."""
        self._block_began = time.monotonic()

    def end(self) -> None:
        """They are back."""
        self._busy, self._block_began = self.busy, None

    @property
    def busy(self) -> float:
        """Seconds in which the model, or its queue, had rows of the batch."""
        now = time.monotonic()
        return self._busy + (0.0 if self._block_began is None else now - self._block_began)

    @property
    def idle(self) -> float:
        """Seconds in which the client was waited for."""
        return time.monotonic() - self._began - self.busy


class _Lines:
    """The lines of a body, as it arrives."""

    def __init__(self, request: Request, limits: Limits) -> None:
        self.refusal: Refusal | None = None
        self._request = request
        self._limits = limits
        self._waiting: deque[bytes] = deque()
        self._more = asyncio.Event()
        self._ended = False

    async def read(self) -> None:
        """Take in the body, unless it is given up."""
        rest: list[bytes] = []
        n_rows = 0
        try:
            async for chunk in self._chunks():
                if self._ended:
                    return
                first, *others = chunk.split(b"\n")
                rest.append(first)
                if others:
                    self._waiting.append(b"".join(rest))
                    self._waiting.extend(others[:-1])
                    rest = [others[-1]]
                    n_rows += len(others)
                    self._more.set()
                if n_rows > self._limits.batch_rows:
                    raise Refusal(
                        422,
                        f"The batch has more than {self._limits.batch_rows:,} lines: send several.",
                    )
                if sum(map(len, rest)) > self._limits.body:
                    raise too_large(self._limits.body)
            if any(rest):
                self._waiting.append(b"".join(rest))
        except Refusal as refusal:
            self.refusal = self.refusal or refusal
        finally:
            self._ended = True
            self._more.set()

    async def _chunks(self) -> AsyncIterator[bytes]:
        """Yield what arrives, as long as it arrives quickly enough and is not too much."""
        began, size = time.monotonic(), 0
        while True:
            left = began + self._limits.time + size / MIN_RATE - time.monotonic()
            try:
                message = await asyncio.wait_for(self._request.receive(), max(0.001, left))
            except asyncio.TimeoutError:
                raise Refusal(408, "The body arrives too slowly: send it faster.") from None
            if message["type"] != "http.request":
                self._waiting.clear()
                raise Refusal(400, "The body ended before it was complete.")
            size += len(message.get("body", b""))
            if size > self._limits.batch_body:
                raise too_large(self._limits.batch_body)
            yield message.get("body", b"")
            if not message.get("more_body", False):
                return

    def give_up(self) -> None:
        """Take in no more, and forget what has come."""
        self.refusal = Refusal(
            408,
            "Other batches were waiting, and this one kept the server waiting for its body or for "
            "taking in the answer: send and read it faster.",
            {"Connection": "close"},
        )
        self._waiting.clear()
        self._ended = True
        self._more.set()

    async def take(self, most: int) -> list[bytes]:
        """Return the next lines, or nothing at the end."""
        while not self._waiting and not self._ended:
            self._more.clear()
            await self._more.wait()
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]


class _Stream(Response):
    """Sends answers as they come; reading the body is left to the batch."""

    def __init__(self, tagger: BatchTagger, request: Request) -> None:
        super().__init__(media_type=MEDIA_TYPE)
        self._tagger = tagger
        self._request = request

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answers = self._tagger.run(self._request)
        try:
            first = await anext(answers, b"")
        except Refusal as refusal:
            await refusal.response()(scope, receive, send)
            return
        headers = [(b"content-type", MEDIA_TYPE.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _send_part(send, first)
        async for part in answers:
            await _send_part(send, part)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_part(send: Send, part: bytes) -> None:
    message: dict[str, Any] = {"type": "http.response.body", "body": part, "more_body": True}
    await asyncio.wait_for(send(message), SEND_SECONDS)


def _parsed(line: bytes) -> TagRequest:
    try:
        asked = TagRequest.model_validate_json(line)
    except ValidationError as error:
        raise Refusal(422, sentence_of(error)) from None
    if asked.explain:
        raise Refusal(422, "In 'explain': a batch has no explanations, ask POST /v1/tag for them.")
    return asked
