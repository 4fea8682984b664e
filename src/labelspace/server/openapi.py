"""How the API describes itself: the schemas, examples and possible answers of each route.

Bodies are read and checked by the routes themselves (see ``body``), so FastAPI does not know of
them; what it would have written down is written here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from labelspace.server import schemas
from labelspace.server.batcher import Batcher

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
}
_RETRY = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}


def _problems(*statuses: int) -> dict[int | str, Any]:
    return {
        status: {
            "description": _PROBLEMS[status],
            "content": {"application/json": {"schema": _ref(schemas.Problem)}},
            **({"headers": _RETRY} if status == 429 else {}),
        }
        for status in statuses
    }


def _ref(model: type[BaseModel]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(model=model.__name__)}


def _good(model: type[BaseModel], description: str, example: Any = None) -> dict[int | str, Any]:
    content: dict[str, Any] = {"schema": _ref(model)}
    if example is not None:
        content["example"] = example
    return {200: {"description": description, "content": {"application/json": content}}}


def _body(schema: Any, examples: dict[str, Any], media_type: str = "application/json") -> Any:
    shown = {name: {"value": value} for name, value in examples.items()}
    content = {media_type: {"schema": schema, "examples": shown}}
    return {"requestBody": {"required": True, "content": content}}


_TAGGED = {
    "labels": [
        {"label": 7, "name": "sorting", "score": 0.91, "probability": 0.91},
        {"label": 3, "name": "arrays", "score": 0.42, "probability": 0.42},
    ],
    "unknown_features": 0,
    "model": "5f0c1c1d2a3b",
}
_TEXT = {"text": "sort an array and return the indices", "k": 2}

TAG: dict[str, Any] = {
    "operation_id": "tag",
    "responses": {
        **_good(schemas.TagAnswer, "The labels, best first.", _TAGGED),
        **_problems(400, 404, 408, 409, 413, 415, 421, 422, 429, 500, 503),
    },
    "openapi_extra": _body(
        _ref(schemas.TagRequest),
        {
            "text": _TEXT,
            "features": {"features": {"3": 0.5, "17": 1.0}, "k": 10, "threshold": 0.1},
            "why": {**_TEXT, "explain": True},
        },
    ),
}
BATCH: dict[str, Any] = {
    "operation_id": "tagBatch",
    "responses": {
        200: {
            "description": "A line for each line: `line` (from 1) and what /v1/tag gives, or "
            "`error`. Blank lines are passed over.",
            "content": {"application/x-ndjson": {"schema": {"type": "string"}}},
        },
        **_problems(400, 408, 413, 415, 421, 422, 429, 500, 503),
    },
    "openapi_extra": _body(
        {"type": "string", "description": "A request as for /v1/tag in each line."},
        {"two": '{"text": "sort an array"}\n{"text": "read a file", "k": 2}\n'},
        "application/x-ndjson",
    ),
}
LEARN: dict[str, Any] = {
    "operation_id": "learn",
    "responses": {
        **_good(
            schemas.LearnAnswer,
            "Learned, and on disk.",
            {"learned": 1, "new_labels": ["stable sort"], "n_examples": 4881, "n_labels": 160},
        ),
        **_problems(400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 500, 503),
    },
    "openapi_extra": {
        **_body(
            _ref(schemas.LearnRequest),
            {"one": {"rows": [{"text": "keep equal keys in order", "labels": ["stable sort"]}]}},
        ),
        "security": [{"token": []}],
    },
}
LABELS: dict[str, Any] = {
    "operation_id": "findLabels",
    "responses": {
        **_good(schemas.LabelsAnswer, "Labels found."),
        **_problems(400, 421, 422, 429, 500, 503),
    },
}
MAP: dict[str, Any] = {
    "operation_id": "map",
    "responses": {
        **_good(schemas.MapAnswer, "Places of the labels."),
        **_problems(400, 421, 422, 429, 500, 503),
    },
}
MODEL: dict[str, Any] = {
    "operation_id": "describeModel",
    "responses": {
        **_good(schemas.ModelAnswer, "What is served."),
        **_problems(400, 421, 500),
    },
}
HEALTH: dict[str, Any] = {
    "operation_id": "isAlive",
    "responses": {**_good(schemas.State, "Alive."), **_problems(400, 421, 500)},
}
READY: dict[str, Any] = {
    "operation_id": "isReady",
    "responses": {**_good(schemas.State, "Ready."), **_problems(400, 421, 500, 503)},
}
METRICS: dict[str, Any] = {
    "operation_id": "metrics",
    "responses": {
        200: {
            "description": "Counters.",
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **_problems(400, 421, 500),
    },
}

_DESCRIBED: list[type[BaseModel]] = [
    schemas.TagRequest,
    schemas.LearnRequest,
    schemas.TagAnswer,
    schemas.LearnAnswer,
    schemas.LabelsAnswer,
    schemas.MapAnswer,
    schemas.ModelAnswer,
    schemas.State,
    schemas.Problem,
]


def generator(app: FastAPI, batcher: Batcher) -> Callable[[], dict[str, Any]]:
    """Return what writes the OpenAPI file of an application."""

    def generate() -> dict[str, Any]:
        described = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            openapi_version=app.openapi_version,
        )
        requests, answers = _DESCRIBED[:2], _DESCRIBED[2:]
        _, inputs = models_json_schema(
            [(model, "validation") for model in requests], ref_template=_REFERENCE
        )
        _, outputs = models_json_schema(
            [(model, "serialization") for model in answers], ref_template=_REFERENCE
        )
        components = {**inputs["$defs"], **outputs["$defs"]}
        if not batcher.served.is_text:
            _drop_text(components)
        described["components"] = {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        }
        return described

    return generate


def _drop_text(components: dict[str, Any]) -> None:
    """A model that was trained on features takes no text."""
    for name in ("TagRequest", "LearnRow"):
        components[name]["properties"].pop("text")
        components[name]["oneOf"] = [{"required": ["features"]}]
