"""Connections that wait: for a request or a body that does not come, or an answer not taken.

uvicorn gives a connection all the time of the world for its first request, and again as soon as it
has sent a byte of the next. Here a head has to come within a time, and so has the client to take
in what was sent. When many connections are open, those whose clients are waited for longest make
room for new ones, so that they keep nobody out.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# Seconds for the head of a request to come, and for a part of an answer to be taken.
HEAD_SECONDS = 10.0
TAKE_SECONDS = 60.0
# Share of all connections that may wait for a request or its body.
MAX_WAITING = 0.5
# The route whose body is answered while it still comes.
BATCH = "/v1/tag/batch"


class TimedProtocol(H11Protocol):
    """uvicorn's protocol with limits on waiting."""

    _head_timer: asyncio.TimerHandle | None = None
    _take_timer: asyncio.TimerHandle | None = None
    _since = 0.0

    @property
    def waits_since(self) -> float | None:
        """Since when its client is waited for; None while a request is being answered."""
        if self.transport.is_closing():
            return None
        return self._since if self._head_timer is not None or self._lacks_body else None

    @property
    def _lacks_body(self) -> bool:
        """Whether the body of a request is still to come; batches have limits of their own."""
        cycle = self.cycle
        is_here = cycle is None or cycle.response_complete or not cycle.more_body
        return not is_here and self.scope["path"] != BATCH

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        self._stop_waiting()
        self._wait()
        super().on_response_complete()  # which may begin with a request that came meanwhile
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._take_timer is None:
            self._take_timer = self.loop.call_later(TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._take_timer is not None:
            self._take_timer.cancel()
            self._take_timer = None

    def _wait(self) -> None:
        self._since = self.loop.time()
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.close()

    def _make_room(self) -> None:
        most = MAX_WAITING * (self.limit_concurrency or 0)
        if not most or len(self.connections) <= most:
            return
        waiting: list[Any] = [
            one for one in self.connections if getattr(one, "waits_since", None) is not None
        ]
        if len(waiting) > most:
            min(waiting, key=lambda one: one.waits_since)._give_up()
