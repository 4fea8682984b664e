"""The page: a handful of files read at start-up and served by name, so that no path leads out."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Page:
    """The files of the page by their path."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, str, str]] = {}
        for file in files("labelspace.server").joinpath("static").iterdir():
            suffix = file.name.rpartition(".")[2]
            if suffix in _TYPES:
                content = file.read_bytes()
                tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
                self._files[f"/static/{file.name}"] = content, _TYPES[suffix], tag
        self._files["/"] = self._files["/static/index.html"]

    @property
    def paths(self) -> list[str]:
        """All that can be asked for."""
        return list(self._files)

    async def get(self, request: Request) -> Response:
        """Return a file, or only that it has not changed."""
        content, media_type, tag = self._files[request.url.path]
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=media_type, headers=headers)
