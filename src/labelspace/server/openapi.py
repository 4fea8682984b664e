"""How the API describes itself: the schemas, examples and possible answers of each route.

FastAPI writes all of it but for bodies of requests: the routes read and check those themselves
(see ``body``), so it does not know of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastapi import FastAPI, Security
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from labelspace.server import annif_schemas, review_schemas, schemas
from labelspace.server.batch import MEDIA_TYPE
from labelspace.server.batcher import Batcher
from labelspace.server.tables import WORKBOOK_TYPE

DESCRIPTION = (
    "Tags texts (or sparse features) with a few right labels out of thousands to millions. "
    "Whatever is refused is answered with one sentence in `error`."
)

_REFERENCE = "#/components/schemas/{model}"
_PROBLEMS = {
    400: "The request is not HTTP as it should be.",
    401: "The token is missing or wrong.",
    403: "The server was started without a token.",
    404: "There is no such label.",
    408: "The body arrived too slowly.",
    409: "The model's method cannot do that.",
    413: "The body is too large.",
    415: "The body is of another type.",
    421: "The host name is not this machine's.",
    422: "The request does not have the form that it should have.",
    429: "The server has as much to do as it takes on; try again after Retry-After seconds.",
    500: "A mistake in the server.",
    503: "There was no answer in time, or the server is ending.",
    507: "As much was taught as the server takes; the sentence says what to do.",
}
_STRING = {"schema": {"type": "string"}}
_RETRY = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}


def _route(
    name: str,
    answer: type[BaseModel] | None,
    meaning: str,
    *problems: int,
    content: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return what FastAPI is told of a route; ``content`` is what ``answer`` does not say."""
    responses: dict[int | str, Any] = {
        status: {
            "model": schemas.Problem,
            "description": _PROBLEMS[status],
            **({"headers": _RETRY} if status == 429 else {}),
        }
        for status in problems
    }
    if content is not None:
        responses[200] = {"content": content}
    return {
        "operation_id": name,
        "response_model": answer,
        "response_description": meaning,
        "responses": responses,
        **more,
    }


def _body(schema: Any, examples: dict[str, Any], media_type: str = "application/json") -> Any:
    shown = {name: {"value": value} for name, value in examples.items()}
    content = {media_type: {"schema": schema, "examples": shown}}
    return {"requestBody": {"required": True, "content": content}}


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(model=model.__name__)}


_TAGGED = {
    "labels": [
        {"label": 7, "name": "sorting", "score": 0.91, "probability": 0.91},
        {"label": 3, "name": "arrays", "score": 0.42, "probability": 0.42},
    ],
    "unknown_features": 0,
    "model": "5f0c1c1d2a3b",
}
_LEARNED = {"learned": 1, "new_labels": ["stable sort"], "n_examples": 4881, "n_labels": 160}
_TEXT = {"text": "sort an array and return the indices", "k": 2}

TAG = _route(
    "tag",
    schemas.TagAnswer,
    "The labels, best first.",
    *(400, 404, 408, 409, 413, 415, 421, 422, 429, 500, 503),
    content={"application/json": {"example": _TAGGED}},
    openapi_extra=_body(
        _ref(schemas.TagRequest),
        {
            "text": _TEXT,
            "features": {"features": {"3": 0.5, "17": 1.0}, "k": 10, "threshold": 0.1},
            "why": {**_TEXT, "explain": True},
        },
    ),
)
BATCH = _route(
    "tagBatch",
    None,
    "A line for each line: `line` (from 1) and what /v1/tag gives, or `error`. Blank lines are "
    "passed over.",
    *(400, 408, 413, 415, 421, 422, 429, 500, 503),
    content={MEDIA_TYPE: _STRING},
    openapi_extra=_body(
        {"type": "string", "description": "A request as for /v1/tag in each line."},
        {"two": '{"text": "sort an array"}\n{"text": "read a file", "k": 2}\n'},
        MEDIA_TYPE,
    ),
)
TABLE = _route(
    "readTable",
    None,
    "JSON lines: how the file was understood (`how`, `columns`, `text`, `delimiter`), then an "
    "array of cells for each row.",
    *(400, 408, 413, 415, 421, 422, 429, 500, 503),
    content={MEDIA_TYPE: _STRING},
    openapi_extra=_body(
        {"type": "string", "format": "binary", "description": "A file as it is."},
        {"csv": "record_id;title\n17;Growing roses\n"},
        "application/octet-stream",
    ),
)
WORKBOOK = _route(
    "writeWorkbook",
    None,
    "The rows as an Excel file.",
    *(400, 408, 409, 413, 415, 421, 422, 429, 500, 503),
    content={WORKBOOK_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    openapi_extra=_body(
        {"type": "string", "description": "A JSON array of cells in each line."},
        {"two": '["title", "tags"]\n["Growing roses", "gardening"]\n'},
        MEDIA_TYPE,
    ),
)
LEARN = _route(
    "learn",
    schemas.LearnAnswer,
    "Learned, and on disk.",
    *(400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 429, 500, 503, 507),
    content={"application/json": {"example": _LEARNED}},
    openapi_extra=_body(
        _ref(schemas.LearnRequest),
        {"one": {"rows": [{"text": "keep equal keys in order", "labels": ["stable sort"]}]}},
    ),
    dependencies=[Security(HTTPBearer(scheme_name="token", auto_error=False))],
)
_TOKEN = [Security(HTTPBearer(scheme_name="token", auto_error=False))]
LESSONS = _route(
    "lessons",
    schemas.LessonsAnswer,
    "How many rows were taught, and the last request.",
    *(400, 401, 403, 421, 429, 500),
    dependencies=_TOKEN,
)
UNDO = _route(
    "undoLesson",
    schemas.LessonsAnswer,
    "The last request is forgotten.",
    *(400, 401, 403, 409, 421, 429, 500),
    dependencies=_TOKEN,
)
_REVIEWED = (400, 401, 403, 404, 421, 422, 429, 500, 503)
REVIEWS = _route(
    "reviewQueues", review_schemas.ReviewQueues, "The queues.", *_REVIEWED, dependencies=_TOKEN
)
REVIEW_BEGIN = _route(
    "beginReview",
    review_schemas.ReviewState,
    "The queue, with the model's labels.",
    *(*_REVIEWED, 408, 409, 413, 415, 507),
    openapi_extra=_body(
        _ref(review_schemas.ReviewRequest),
        {"one": {"name": "new titles", "rows": [{"text": "sort an array", "columns": {"id": 7}}]}},
    ),
    dependencies=_TOKEN,
)
REVIEW = _route(
    "reviewQueue", review_schemas.ReviewState, "The queue.", *_REVIEWED, dependencies=_TOKEN
)
REVIEW_MARK = _route(
    "markReview",
    review_schemas.ReviewState,
    "Marks that the client did not know.",
    *(*_REVIEWED, 408, 413, 415, 507),
    openapi_extra=_body(
        _ref(review_schemas.MarksRequest),
        {"one": {"marks": [{"row": 0, "label": "sorting", "verdict": "right", "who": "Ada"}]}},
    ),
    dependencies=_TOKEN,
)
REVIEW_EXPORT = _route(
    "exportReview",
    None,
    "A line for each row: `labels`, `rejected`, `undecided`, `disagreed`, `reviewers`.",
    *_REVIEWED,
    content={MEDIA_TYPE: _STRING},
    dependencies=_TOKEN,
)
REVIEW_REMOVE = _route(
    "removeReview", schemas.State, "It is gone.", *_REVIEWED, dependencies=_TOKEN
)
LABELS = _route("findLabels", schemas.LabelsAnswer, "Labels found.", 400, 421, 422, 429, 500, 503)
MAP = _route("map", schemas.MapAnswer, "Places of the labels.", 400, 421, 422, 429, 500, 503)
MODEL = _route("describeModel", schemas.ModelAnswer, "What is served.", 400, 421, 500)
MODELS = _route("listModels", review_schemas.ModelsAnswer, "The models.", 400, 421, 500)
HEALTH = _route("isAlive", schemas.State, "Alive.", 400, 421, 500)
READY = _route("isReady", schemas.State, "Ready.", 400, 421, 500, 503)
METRICS = _route("metrics", None, "Counters.", 400, 421, 500, content={"text/plain": _STRING})


# What FastAPI does not find by itself.
_MODELS: tuple[type[BaseModel], ...] = (
    schemas.TagRequest,
    schemas.LearnRequest,
    review_schemas.ReviewRequest,
    review_schemas.MarksRequest,
    annif_schemas.SuggestBatchRequest,
    annif_schemas.AnnifProblem,
)


def generator(
    app: FastAPI, batcher: Batcher, projects: Callable[[], Iterable[str]]
) -> Callable[[], dict[str, Any]]:
    """Return what writes the OpenAPI file of an application; ``projects`` gives their names."""

    def generate() -> dict[str, Any]:
        app.openapi_schema = None  # the model may be another one by now
        described = FastAPI.openapi(app)
        _, bodies = models_json_schema(
            [(model, "validation") for model in _MODELS],
            ref_template=_REFERENCE,
        )
        if not batcher.served.tagger.takes_text:
            _drop_text(bodies["$defs"])
        described["components"]["schemas"].update(bodies["$defs"])
        _name_projects(described["paths"], list(projects()))
        _summarise(described["paths"])
        return described

    return generate


def _drop_text(components: dict[str, Any]) -> None:
    """A model that was trained on features takes no text."""
    for name in ("TagRequest", "LearnRow"):
        components[name]["properties"].pop("text")
        components[name]["oneOf"] = [{"required": ["features"]}]


def _name_projects(paths: dict[str, Any], projects: list[str]) -> None:
    """Say which projects there are, so that they can be chosen from a list."""
    for path, methods in paths.items():
        if "{project_id}" in path:
            for method in methods.values():
                method["parameters"] = [
                    {**one, "schema": {"type": "string", "enum": projects}}
                    if one["name"] == "project_id"
                    else one
                    for one in method["parameters"]
                ]


def _summarise(paths: dict[str, Any]) -> None:
    """Let what each route does stand beside its address, and put our own under one heading."""
    for methods in paths.values():
        for method in methods.values():
            method["summary"] = method["description"].rstrip(".")
            method.setdefault("tags", ["labelspace"])
