"""Bodies of requests, read no further than the limits allow and checked as they are parsed."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from labelspace.server.refusal import Refusal, invalid, too_large

Body = TypeVar("Body", bound=BaseModel)

# How much of a refused body is still taken in, so that the client gets to read the refusal.
DRAIN_BYTES = 16 << 20
DRAIN_SECONDS = 2.0


def check_type(request: Request, wanted: str) -> None:
    """Refuse a body of another kind than ``wanted``."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != wanted:
        raise Refusal(415, f"The body has to be {wanted}: say so with the header Content-Type.")


def check_length(request: Request, limit: int) -> None:
    """Refuse a body that says itself that it is too large."""
    given = request.headers.get("content-length")
    if given is not None and (not given.isdigit() or len(given) > 18 or int(given) > limit):
        raise too_large(limit)


async def read_json(request: Request, kind: type[Body], *, limit: int, seconds: float) -> Body:
    """Return the body as ``kind``."""
    check_type(request, "application/json")
    return parse(await read_bytes(request, limit=limit, seconds=seconds), kind)


async def read_bytes(request: Request, *, limit: int, seconds: float) -> bytes:
    """Return the body as it is."""
    try:
        check_length(request, limit)
        return await asyncio.wait_for(_read(request, limit), seconds)
    except asyncio.TimeoutError:
        raise Refusal(
            408,
            f"The body did not arrive within {seconds:g} seconds: send it faster.",
            {"Connection": "close"},
        ) from None
    except ClientDisconnect:
        raise Refusal(400, "The body ended before it was complete.") from None  # nobody reads it
    except Refusal:
        await drain(request)
        raise


def parse(raw: bytes, kind: type[Body]) -> Body:
    """Return JSON as ``kind``, or say what is wrong with it."""
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        raise invalid(error) from None


async def _read(request: Request, limit: int) -> bytes:
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise too_large(limit)
        chunks.append(chunk)
    return b"".join(chunks)


async def drain(request: Request) -> None:
    """Take in the rest of a body: a client that still sends does not read the answer."""
    ends, size = time.monotonic() + DRAIN_SECONDS, 0
    with suppress(ClientDisconnect, asyncio.TimeoutError, RuntimeError):
        while size < DRAIN_BYTES and time.monotonic() < ends:
            message = await asyncio.wait_for(request.receive(), DRAIN_SECONDS)
            size += len(message.get("body", b""))
            if not message.get("more_body", False):
                return
