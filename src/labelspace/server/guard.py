"""What every request passes first: a look at the host name, at the queue, and at the clock.

A plain ASGI layer around the whole application, so that even answers that no route gave carry the
security headers and are counted.
"""

from __future__ import annotations

import re
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from labelspace.server.batcher import Batcher
from labelspace.server.metrics import Metrics
from labelspace.server.refusal import Refusal, overloaded
from labelspace.server.settings import LOOPBACK_NAMES, ServerSettings

HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        b"img-src 'self' data:; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'",
    ),
]


# A name or an address, and perhaps a port: nothing may stand before, between or behind them.
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\[\]:@/\s]+)(:[0-9]{0,5})?")


class Guard:
    """Wraps an application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        settings: ServerSettings,
        batcher: Batcher,
        metrics: Metrics,
        parts: Any = None,
    ) -> None:
        self._app = self.inner = app
        self.parts = parts
        self._batcher = batcher
        self._metrics = metrics
        self._local_only = settings.is_local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self._app(scope, receive, guarded)
            else:
                await refusal.response()(scope, receive, guarded)
        finally:
            self._metrics.count_request(scope["path"], status, time.perf_counter() - began)

    def _refusal(self, scope: Scope) -> Refusal | None:
        names = [name for name, _ in scope["headers"]]
        if b"content-length" in names and b"transfer-encoding" in names:
            # Two programs on the way may each believe another of them, and take what follows for
            # a request of its own.
            return Refusal(
                400,
                "The body has both a Content-Length and a Transfer-Encoding: send one of them.",
                {"Connection": "close"},
            )
        if self._local_only and not _is_local(scope):
            return Refusal(
                421,
                "This server answers to this machine's own names only, such as localhost: start "
                "it with --host to be reached by another.",
            )
        # Refused before the body is read and parsed: under overload that is most of the work.
        if scope["path"] == "/v1/tag" and scope["method"] == "POST" and self._batcher.is_full:
            return overloaded()
        return None


def _is_local(scope: Scope) -> bool:
    hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    return all(_host_name(host) in LOOPBACK_NAMES for host in hosts)


def _host_name(host: str) -> str | None:
    """Return the name in a host header, without its port; None where it is no name and port."""
    found = _HOST.fullmatch(host.strip().lower())
    return None if found is None else found["name"]
