"""The page: Starlette serves the files of ``static``, and nothing that lies elsewhere."""

from __future__ import annotations

import mimetypes
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

# Windows' registry may call it text/plain, and no browser runs a script of that type.
mimetypes.add_type("text/javascript", ".js")


class Page(StaticFiles):
    """The files of the page."""

    def __init__(self) -> None:
        super().__init__(packages=[("labelspace.server", "static")])

    async def index(self, request: Request) -> Response:
        """Return the page itself."""
        return await self.get_response("index.html", request.scope)

    def file_response(self, *file: Any, **more: Any) -> Response:
        """Return a file, or only that it has not changed; a browser has to ask each time."""
        response = super().file_response(*file, **more)
        response.headers["Cache-Control"] = "no-cache"
        return response
