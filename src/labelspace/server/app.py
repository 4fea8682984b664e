"""The routes of the API and the page, and what starts and ends with the server."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from gzip import decompress
from multiprocessing import connection
from typing import Annotated, Any

from fastapi import FastAPI, Query
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from labelspace import __version__
from labelspace.errors import LabelspaceError
from labelspace.server import openapi
from labelspace.server.annif_door import add_annif, project_id
from labelspace.server.batch import MEDIA_TYPE as BATCH_TYPE
from labelspace.server.batch import BatchTagger
from labelspace.server.batcher import Batcher
from labelspace.server.body import read_json
from labelspace.server.description import describe
from labelspace.server.docs_page import add_docs_page
from labelspace.server.guard import Guard
from labelspace.server.label_index import LabelIndex
from labelspace.server.learning import Learning
from labelspace.server.metrics import MEDIA_TYPE, Metrics
from labelspace.server.page import Page
from labelspace.server.refusal import Refusal
from labelspace.server.reload import Watcher
from labelspace.server.review import Review
from labelspace.server.review_routes import add_review
from labelspace.server.schemas import LearnRequest, TagRequest
from labelspace.server.served import Served
from labelspace.server.settings import ServerSettings
from labelspace.server.several import SeveralModels, settings_of_each
from labelspace.server.tables import WORKBOOK_TYPE, TableFiles
from labelspace.server.tagging import tag, to_json

logger = logging.getLogger("labelspace.server")

MAX_FOUND = 1000
MAX_MAP = 200_000


def make_app(settings: ServerSettings, served: Served | None = None) -> Guard:
    """Return the application; loads the model unless it is given.

    Parameters
    ----------
    settings : ServerSettings
    served : Served, optional
        The model, where it was loaded before.
    """
    if served is None:
        served = Served.load(settings.folder, settings.n_threads, settings.encoder)
    parts = Parts(settings, served)
    app = FastAPI(
        title="labelspace",
        version=__version__,
        description=openapi.DESCRIPTION,
        docs_url=None,  # they would fetch their scripts from elsewhere
        redoc_url=None,
        lifespan=parts.lifespan,
        redirect_slashes=False,
    )
    app.openapi = openapi.generator(app, parts.batcher, parts.projects)  # type: ignore[method-assign]
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, handler)
    for add in (_add_tagging, _add_tables, _add_labels, add_review, _add_state):
        add(app, parts)
    add_annif(app, parts.projects, settings.limits)
    page = Page()
    app.add_route("/", page.index, methods=["GET"], include_in_schema=False)
    app.mount("/static", page)
    add_docs_page(app, page)
    return Guard(app, settings=settings, batcher=parts.batcher, metrics=parts.metrics, parts=parts)


def make_apps(
    settings: ServerSettings, served: Sequence[Served] | None = None
) -> Guard | SeveralModels:
    """Return the application of one model or of several."""
    each = settings_of_each(settings)
    loaded: list[Served | None] = [None] * len(each) if served is None else list(served)
    apps = {one.name: make_app(one, model) for one, model in zip(each, loaded, strict=True)}
    return SeveralModels(apps) if len(apps) > 1 else next(iter(apps.values()))


def from_environment() -> Guard | SeveralModels:
    """Return the application of a worker process."""
    _end_with_parent()
    return make_apps(ServerSettings.from_environment())


def _end_with_parent() -> None:
    """End this worker well if the process is killed that started it: nobody else would."""

    def wait(sentinel: int) -> None:
        connection.wait([sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=wait, args=(parent.sentinel,), daemon=True).start()


class Parts:
    """All that works behind the routes."""

    def __init__(self, settings: ServerSettings, served: Served) -> None:
        limits = settings.limits
        self.settings = settings
        self.metrics = Metrics()
        self.batcher = Batcher(
            served,
            self.metrics,
            queue=limits.queue,
            time_limit=limits.time,
            n_threads=settings.n_threads,
        )
        self.learning = Learning(settings, self.batcher, self.metrics)
        self.watcher = Watcher(settings, self.batcher, self.learning, self.metrics)
        self.batches = BatchTagger(self.batcher, limits)
        self.labels = LabelIndex(self.batcher)
        self.tables = TableFiles(settings)
        self.review = Review(settings.folder, self.batcher, limits.free_disk)
        self.siblings = [self]
        self.is_ready = False
        try:
            self.learning.start(served)
        except BaseException:
            self.batcher.close()
            raise
        self.metrics.add("labelspace_model_loads_total", 1)

    def projects(self) -> dict[str, Batcher]:
        """Return what Annif's clients find: the model by the name of its folder."""
        return {project_id(self.settings.folder.resolve().name): self.batcher}

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Watch the model while the server runs; at its end finish and save."""
        self.watcher.start()
        self.is_ready = True
        yield
        self.is_ready = False
        await self.watcher.stop()
        self.batcher.close()
        await self.learning.save()


def _add_tagging(app: FastAPI, parts: Parts) -> None:
    limits = parts.settings.limits

    @app.post("/v1/tag", **openapi.TAG)
    async def tag_one(request: Request) -> Response:
        """Give one row its labels, best first."""
        asked = await read_json(request, TagRequest, limit=limits.body, seconds=limits.time)
        return _json(await tag(asked, parts.batcher))

    @app.post("/v1/tag/batch", **openapi.BATCH)
    async def tag_batch(request: Request) -> Response:
        """Give each line of a body of JSON lines its labels, as JSON lines in the same order."""
        return await parts.batches.answer(request)

    @app.post("/v1/learn", **openapi.LEARN)
    async def learn(request: Request) -> Response:
        """Learn rows, which may have new labels; they are on disk when the answer comes."""
        parts.learning.check_token(request.headers.get("authorization"))
        asked = await read_json(request, LearnRequest, limit=limits.body, seconds=limits.time)
        if asked.preview:
            return _json(to_json(await parts.learning.preview(asked.rows)))
        return _json(to_json(await parts.learning.learn(asked.rows)))

    @app.get("/v1/lessons", **openapi.LESSONS)
    async def lessons(request: Request) -> Response:
        """Tell how many rows were taught, and the last request, which can be undone."""
        parts.learning.check_token(request.headers.get("authorization"))
        return _json(to_json(await parts.learning.lessons()))

    @app.post("/v1/lessons/undo", **openapi.UNDO)
    async def undo(request: Request) -> Response:
        """Forget the last request that was learned, as if it had never been."""
        parts.learning.check_token(request.headers.get("authorization"))
        return _json(to_json(await parts.learning.undo()))


def _add_tables(app: FastAPI, parts: Parts) -> None:
    @app.post("/v1/table", **openapi.TABLE)
    async def read_table(
        request: Request,
        name: Annotated[str, Query(max_length=500, description="What to call the file.")] = "",
    ) -> Response:
        """Read a file as a table, as the command line does, and give its rows."""
        kept = parts.batcher.served.tagger.fields_
        return Response(await parts.tables.read(request, name, kept), media_type=BATCH_TYPE)

    @app.post("/v1/workbook", **openapi.WORKBOOK)
    async def write_workbook(request: Request) -> Response:
        """Write rows into an Excel file."""
        return Response(await parts.tables.write(request), media_type=WORKBOOK_TYPE)


def _add_labels(app: FastAPI, parts: Parts) -> None:
    @app.get("/v1/labels", **openapi.LABELS)
    async def labels(
        q: Annotated[str, Query(max_length=500, description="Part of a name.")] = "",
        limit: Annotated[int, Query(ge=1, le=MAX_FOUND, description="Labels to give.")] = 20,
        offset: Annotated[int, Query(ge=0, le=10**9, description="Labels to skip.")] = 0,
    ) -> Response:
        """Find labels by name, with their frequency and nearest labels; without q, all."""
        return _json(to_json(await parts.labels.find(q, limit, offset)))

    @app.get("/v1/map", **openapi.MAP)
    async def label_map(
        request: Request,
        limit: Annotated[
            int, Query(ge=1, le=MAX_MAP, description="Labels to give, the most frequent first.")
        ] = 50_000,
    ) -> Response:
        """Give the places of labels in the unit disk."""
        packed = await parts.labels.map(limit)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                packed,
                media_type="application/json",
                headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"},
            )
        return _json(decompress(packed))


def _add_state(app: FastAPI, parts: Parts) -> None:
    @app.get("/v1/model", **openapi.MODEL)
    async def model() -> Response:
        """Describe the model that is served."""
        served, is_on = parts.batcher.served, parts.learning.is_on
        return _json(to_json(describe(served, parts.settings.name, learning=is_on)))

    @app.get("/v1/models", **openapi.MODELS)
    async def models() -> Response:
        """List the models that this server has, each with what it was trained on."""
        return _json(to_json({"models": [_listed(one) for one in parts.siblings]}))

    @app.get("/healthz", **openapi.HEALTH)
    async def healthz() -> Response:
        """Say that the process is alive."""
        return _json(b'{"status":"alive"}')

    @app.get("/readyz", **openapi.READY)
    async def readyz() -> Response:
        """Say whether requests will be answered."""
        if not parts.is_ready or not parts.batcher.is_alive:
            raise Refusal(503, "The server is starting or ending: try again in a second.")
        return _json(b'{"status":"ready"}')

    @app.get("/metrics", **openapi.METRICS)
    async def metrics() -> Response:
        """Give counters in the text form of Prometheus."""
        return Response(parts.metrics.text(_gauges(parts)), media_type=MEDIA_TYPE)


def _listed(parts: Parts) -> dict[str, Any]:
    told = describe(parts.batcher.served, parts.settings.name, learning=parts.learning.is_on)
    return {name: told[name] for name in ("name", "method", "n_labels", "text_languages")}


def _gauges(parts: Parts) -> dict[str, tuple[str, float]]:
    served = parts.batcher.served
    return {
        "labelspace_queue_rows": ("Rows waiting in this worker.", parts.batcher.n_waiting),
        "labelspace_labels": ("Labels of the model.", served.n_labels),
        "labelspace_examples": ("Rows that the model has learned.", served.estimator.n_examples_),
    }


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


async def _on_refusal(request: Request, error: Any) -> Response:
    return error.response()


async def _on_invalid(request: Request, error: Any) -> Response:
    first = error.errors()[0]
    name = ".".join(str(step)[:50] for step in first["loc"][1:])
    what = first["msg"].replace("Input should", "it should")
    return Refusal(422, f"In '{name}': {what}.").response()


async def _on_http(request: Request, error: Any) -> Response:
    sentences = {
        404: "There is nothing at this address: GET /openapi.json lists what there is.",
        405: f"This address does not take {request.method}: GET /openapi.json tells what it does.",
    }
    sentence = sentences.get(error.status_code, f"{error.detail}.")
    return Refusal(error.status_code, sentence, dict(error.headers or {})).response()


async def _on_labelspace_error(request: Request, error: Any) -> Response:
    return Refusal(422, str(error)).response()


async def _on_bug(request: Request, error: Any) -> Response:
    # The server's log has the trace; the client gets none of it.
    return Refusal(500, "Something went wrong in the server; its log says what.").response()


_HANDLERS: dict[Any, Callable[..., Any]] = {
    Refusal: _on_refusal,
    LabelspaceError: _on_labelspace_error,
    RequestValidationError: _on_invalid,
    HTTPException: _on_http,
    Exception: _on_bug,
}
