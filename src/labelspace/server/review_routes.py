"""The routes of the review: queues of rows, and what people say of their labels."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import FastAPI, Query
from starlette.requests import Request
from starlette.responses import Response

from labelspace.server import openapi
from labelspace.server.batch import MEDIA_TYPE
from labelspace.server.body import read_json
from labelspace.server.review_schemas import MarksRequest, ReviewRequest
from labelspace.server.tagging import to_json


def add_review(app: FastAPI, parts: Any) -> None:
    """Add the routes; all of them need the token."""
    limits, review = parts.settings.limits, parts.review

    def allowed(request: Request) -> None:
        parts.learning.check_token(request.headers.get("authorization"))

    @app.get("/v1/review", **openapi.REVIEWS)
    async def queues(request: Request) -> Response:
        """List the queues, the newest first."""
        allowed(request)
        return _json({"queues": await asyncio.to_thread(review.queues)})

    @app.post("/v1/review", **openapi.REVIEW_BEGIN)
    async def begin(request: Request) -> Response:
        """Tag rows, and keep them as a queue that several people may go through."""
        allowed(request)
        how = {"limit": limits.batch_body, "seconds": limits.file_time}
        return _json(await review.begin(await read_json(request, ReviewRequest, **how)))

    @app.get("/v1/review/{queue}", **openapi.REVIEW)
    async def queue(
        request: Request,
        queue: str,
        after: Annotated[int, Query(ge=0, description="Marks that are known already.")] = 0,
    ) -> Response:
        """Give a queue with all marks; with `after` only those that came since."""
        allowed(request)
        return _json(await asyncio.to_thread(review.queue, queue, after))

    @app.post("/v1/review/{queue}/marks", **openapi.REVIEW_MARK)
    async def mark(request: Request, queue: str) -> Response:
        """Add marks; they are on disk when the answer comes, with those of others."""
        allowed(request)
        asked = await read_json(request, MarksRequest, limit=limits.body, seconds=limits.time)
        return _json(await asyncio.to_thread(review.mark, queue, asked.marks, asked.after))

    @app.get("/v1/review/{queue}/rows", **openapi.REVIEW_EXPORT)
    async def export(request: Request, queue: str) -> Response:
        """Give the rows as JSON lines, with labels that are right and wrong, and who differs."""
        allowed(request)
        lines = await asyncio.to_thread(lambda: b"".join(review.export(queue)))
        return Response(lines, media_type=MEDIA_TYPE)

    @app.delete("/v1/review/{queue}", **openapi.REVIEW_REMOVE)
    async def remove(request: Request, queue: str) -> Response:
        """Remove a queue with its marks."""
        allowed(request)
        await asyncio.to_thread(review.remove, queue)
        return _json({"status": "removed"})


def _json(told: Any) -> Response:
    return Response(to_json(told), media_type="application/json")
