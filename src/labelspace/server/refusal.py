"""Every answer that is not what was asked for: a status, one sentence, perhaps a header."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError
from starlette.responses import Response

RETRY_SECONDS = 1


class Refusal(Exception):
    """Raised anywhere below a route; the client gets ``{"error": sentence}``."""

    def __init__(self, status: int, sentence: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = headers or {}

    def response(self) -> Response:
        """Return the answer as the client gets it."""
        return Response(
            error_json(self.sentence), self.status, self.headers, media_type="application/json"
        )


def error_json(sentence: str, **more: Any) -> bytes:
    """Return the body of a refusal."""
    # A body may name a lone surrogate that the request held; it cannot be written as UTF-8.
    return json.dumps({**more, "error": sentence}, ensure_ascii=True).encode()


def overloaded() -> Refusal:
    """The queue is full."""
    return Refusal(
        429,
        "The server has as much to do as it takes on: try again in a second.",
        {"Retry-After": str(RETRY_SECONDS)},
    )


def too_late(seconds: float) -> Refusal:
    """The answer would come after the time limit."""
    return Refusal(
        503,
        f"There was no answer within {seconds:g} seconds: try again, or send less at once.",
        {"Retry-After": str(RETRY_SECONDS)},
    )


def too_large(limit: int) -> Refusal:
    """The body is beyond the limit; what is left of it is not read."""
    return Refusal(
        413,
        f"The body is larger than {limit:,} bytes: send less at once.",
        {"Connection": "close"},
    )


def invalid(error: ValidationError) -> Refusal:
    """The body is JSON of the wrong form, or no JSON."""
    return Refusal(422, sentence_of(error))


def sentence_of(error: ValidationError) -> str:
    """Say what is wrong first in a body that does not fit."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    # Where several forms are allowed, what is wrong with the nearest one helps most.
    first = max(reversed(problems), key=lambda problem: len(problem["loc"]))
    if first["type"] == "json_invalid":
        return f"The body is not JSON ({first['msg'].removeprefix('Invalid JSON: ')})."
    what = first["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    return f"{_place(first['loc'])}: {what}."


def _place(path: tuple[int | str, ...]) -> str:
    # Steps with brackets are pydantic's names for the forms that it tried.
    steps = [
        str(step)[:50] for step in path if not re.search(r"[\[\]]|constrained|^int$", str(step))
    ]
    return f"In '{'.'.join(steps)}'" if steps else "In the body"
