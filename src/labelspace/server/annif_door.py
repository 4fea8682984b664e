"""Annif's door: a model answers as a project of Annif does, to every tool that was made for Annif.

Annif's REST API knows projects and suggestions: ``GET /v1/projects``, ``GET /v1/projects/{id}``,
``POST /v1/projects/{id}/suggest`` (a form) and ``/suggest-batch`` (JSON, up to 32 documents). What
is refused is told as Annif tells it, as a problem with a title and a detail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any
from urllib.parse import parse_qsl

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from labelspace.server import annif_schemas as schemas
from labelspace.server.annif_schemas import SuggestBatchRequest, SuggestForm, SuggestOptions
from labelspace.server.batcher import Batcher
from labelspace.server.body import check_type, parse, read_bytes, read_json
from labelspace.server.refusal import Refusal, overloaded
from labelspace.server.schemas import MAX_K, TagRequest
from labelspace.server.served import Ranked, Served
from labelspace.server.settings import Limits
from labelspace.server.tagging import LabelFilter, to_json

Projects = Callable[[], Mapping[str, Batcher]]

FORM = "application/x-www-form-urlencoded"
PROBLEM = "application/problem+json"
# Members of a form: Annif sends the text, a few options, and one for each piece of metadata.
MAX_MEMBERS = 200
# What a language is called that nobody has named.
UNKNOWN_LANGUAGE = "und"
# Full texts are long: a batch may be as large as so many other bodies.
BATCH_BODIES = 16

_TITLES = {
    400: "Bad Request",
    404: "Project not found",
    413: "Payload Too Large",
    429: "Too Many Requests",
    503: "Service unavailable",
}


def project_id(folder_name: str) -> str:
    """Return the name of a model folder as Annif allows it for a project.

    >>> project_id("my model.v2")
    'my-model-v2'
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", folder_name).strip("-") or "model"


def add_annif(app: FastAPI, projects: Projects, limits: Limits) -> None:
    """Add the routes to an application; ``projects`` gives its models by project id."""
    door = AnnifDoor(projects, limits)

    @app.get("/v1/projects", **schemas.PROJECTS)
    async def list_projects() -> Response:
        """List the models as projects of Annif."""
        return _json({"projects": door.listed()})

    @app.get("/v1/projects/{project_id}", **schemas.PROJECT)
    async def show_project(request: Request) -> Response:
        """Describe a model as a project of Annif."""
        return await _answered(door.shown(request))

    @app.post("/v1/projects/{project_id}/suggest", **schemas.SUGGEST)
    async def suggest(request: Request) -> Response:
        """Suggest subjects for a text, as Annif does."""
        return await _answered(door.suggest(request))

    @app.post("/v1/projects/{project_id}/suggest-batch", **schemas.SUGGEST_BATCH)
    async def suggest_batch(request: Request) -> Response:
        """Suggest subjects for up to 32 documents, as Annif does."""
        return await _answered(door.suggest_batch(request))


class AnnifDoor:
    """Answers what Annif's clients ask."""

    def __init__(self, projects: Projects, limits: Limits) -> None:
        self._projects = projects
        self._limits = limits
        self._n_batches = 0

    def listed(self) -> list[dict[str, Any]]:
        """Return all projects."""
        return [describe(name, batcher.served) for name, batcher in self._projects().items()]

    async def shown(self, request: Request) -> dict[str, Any]:
        """Return one project."""
        return describe(request.path_params["project_id"], self._batcher(request).served)

    async def suggest(self, request: Request) -> dict[str, Any]:
        """Return the suggestions for the text in a form."""
        batcher = self._batcher(request)
        check_type(request, FORM)
        limit, seconds = self._limits.body, self._limits.time
        form = read_form(await read_bytes(request, limit=limit, seconds=seconds))
        if batcher.is_full:
            raise overloaded()
        return (await self._suggested(batcher, [form.text], form, bulk=False))[0]

    async def suggest_batch(self, request: Request) -> list[dict[str, Any]]:
        """Return the suggestions for each document of a batch, with its id."""
        batcher = self._batcher(request)
        options = parse(to_json(dict(request.query_params)), SuggestOptions)
        if self._n_batches >= self._limits.batches:
            raise overloaded()
        self._n_batches += 1
        try:
            limit = min(BATCH_BODIES * self._limits.body, self._limits.batch_body)
            asked = await read_json(
                request, SuggestBatchRequest, limit=limit, seconds=self._limits.time
            )
            texts = [document.text for document in asked.documents]
            found = await self._suggested(batcher, texts, options, bulk=True)
        finally:
            self._n_batches -= 1
        for told, document in zip(found, asked.documents, strict=True):
            told["document_id"] = document.document_id
        return found

    def _batcher(self, request: Request) -> Batcher:
        project = request.path_params["project_id"]
        found = self._projects().get(project)
        if found is None:
            asked = " ".join(project[:80].split())
            raise Refusal(
                404, f"Project '{asked}' not found: GET /v1/projects lists what there is."
            )
        return found

    async def _suggested(
        self, batcher: Batcher, texts: list[str], options: SuggestOptions, *, bulk: bool
    ) -> list[dict[str, Any]]:
        asked = request_for(options)
        wanted = LabelFilter(asked, batcher.served)  # refuses a language that no name is in
        if not texts or not options.limit:
            return [{"results": []} for _ in texts]
        rows = [asked.model_copy(update={"text": text}) for text in texts]
        ranked = await batcher.rank(rows, wanted.n_ranked, bulk=bulk)
        wanted = wanted.in_terms_of(ranked.served, asked)
        return [
            {"results": suggestions(ranked, row, wanted, options.threshold)}
            for row in range(len(texts))
        ]


def describe(project: str, served: Served) -> dict[str, Any]:
    """Return a model as Annif describes a project."""
    language = language_of(served)
    changed = None
    if served.identity is not None:
        changed = datetime.fromtimestamp(served.identity[1] / 1e9, timezone.utc).isoformat()
    return {
        "project_id": project,
        "name": project,
        "language": language,
        "backend": {"backend_id": f"labelspace-{served.method}"},
        "vocab": {
            "vocab_id": project,
            "languages": served.catalog.languages or [language],
            "size": served.n_labels,
            "loaded": True,
        },
        "vocab_language": language,
        "is_trained": True,
        "modification_time": changed,
    }


def language_of(served: Served) -> str:
    """Return the language that names are given in unless another is asked for."""
    known = served.tagger.vocabulary_
    chosen = None if known is None else known.vocabulary.default_language
    return chosen or next(iter(served.catalog.languages), UNKNOWN_LANGUAGE)


def request_for(options: SuggestOptions) -> TagRequest:
    """Return options as a request of ours, without a text."""
    language = None if options.language in ("", UNKNOWN_LANGUAGE) else options.language
    return TagRequest(text="", k=min(max(options.limit, 1), MAX_K), language=language)


def suggestions(
    ranked: Ranked, row: int, wanted: LabelFilter, threshold: float
) -> list[dict[str, Any]]:
    """Return one row's labels as Annif gives subjects; its scores are from 0 to 1."""
    found = []
    for label, score in wanted.chosen(ranked.top, row):
        told = ranked.served.about(label, wanted.language)
        probability = round(ranked.served.probability(score), 6)
        if probability >= threshold and probability > 0:
            uri = told.get("key", told["name"])
            name = {"uri": uri, "label": told["name"], "notation": None}
            found.append({**name, "score": probability})
    return found


def read_form(raw: bytes) -> SuggestForm:
    """Return the members of a form that count; metadata and what else there is are left out."""
    try:
        members = dict(
            parse_qsl(
                raw.decode("ascii"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=MAX_MEMBERS,
            )
        )
    except ValueError:
        raise Refusal(
            400, f"The body is not a form of at most {MAX_MEMBERS} members in UTF-8."
        ) from None
    return parse(to_json(members), SuggestForm)


async def _answered(work: Any) -> Response:
    """Return an answer as JSON, or a refusal as a problem in the form that Annif gives it."""
    try:
        return _json(await work)
    except Refusal as refusal:
        status = 400 if refusal.status in (409, 415, 422) else refusal.status
        problem = {
            "type": "about:blank",
            "title": _TITLES.get(status, "Error"),
            "detail": refusal.sentence,
            "status": status,
        }
        return Response(to_json(problem), status, refusal.headers, media_type=PROBLEM)


def _json(answer: Any) -> Response:
    return Response(to_json(answer), media_type="application/json")
