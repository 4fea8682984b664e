"""``/docs``: the API as a page to try it on; the files of Swagger UI come from a package."""

from __future__ import annotations

from importlib import resources
from importlib.util import find_spec

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from labelspace.server.page import Page
from labelspace.server.refusal import Refusal

PACKAGE = "fastapi_swagger"
FILES = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css"}


def add_docs_page(app: FastAPI, page: Page) -> None:
    """Add the page and the files of Swagger UI to an application."""

    async def show(request: Request) -> Response:
        _check_installed()
        return await page.get_response("docs.html", request.scope)

    async def file(request: Request) -> Response:
        _check_installed()
        name = request.path_params["name"]
        if name not in FILES:
            raise Refusal(404, "There is nothing at this address: GET /docs is the page.")
        path = resources.files(PACKAGE) / "resources" / name
        kept = {"Cache-Control": "max-age=3600"}
        return FileResponse(str(path), media_type=FILES[name], headers=kept)

    app.add_route("/docs", show, methods=["GET"], include_in_schema=False)
    app.add_route("/docs/{name}", file, methods=["GET"], include_in_schema=False)


def _check_installed() -> None:
    if find_spec(PACKAGE) is None:
        raise Refusal(
            404,
            "The page of the API needs Swagger UI: install it with pip install "
            "'labelspace[serve]'; GET /openapi.json tells the same.",
        )
