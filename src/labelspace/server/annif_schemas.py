"""The forms of Annif's REST API, and how the API describes its routes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from labelspace.server.schemas import Answer

PROBLEM_TYPE = "application/problem+json"
MOST_DOCUMENTS = 32

_LIMIT = "Subjects to give at most."
_THRESHOLD = "Score below which subjects are left out."
_TEXT = "sort an array and return the indices"
_LANGUAGE = "Language of the names; the project's own unless given."


class SuggestOptions(BaseModel):
    """Which subjects are suggested; numbers may come as text, as in an address or a form."""

    limit: Annotated[int, Field(ge=0, le=2**31 - 1, description=_LIMIT)] = 10
    threshold: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, description=_THRESHOLD)] = (
        0.0
    )
    language: Annotated[
        str,
        Field(pattern=r"^([A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,4})?$", description=_LANGUAGE),
    ] = ""


class SuggestForm(SuggestOptions):
    """A text and the options."""

    text: str = Field(description="The text.", examples=[_TEXT])


class Document(BaseModel):
    """A text of a batch; metadata is taken and not used."""

    model_config = ConfigDict(strict=True)

    text: str
    document_id: str | None = None
    metadata: dict[str, str] = Field(default_factory=dict)


class SuggestBatchRequest(BaseModel):
    """Documents to suggest subjects for."""

    model_config = ConfigDict(strict=True)

    documents: Annotated[list[Document], Field(max_length=MOST_DOCUMENTS)]


class Suggestion(Answer):
    """A subject: ``uri`` is its key in the vocabulary, or its name where it has none."""

    uri: str
    label: str
    notation: str | None
    score: float


class SuggestAnswer(Answer):
    """Subjects of a text, best first."""

    results: list[Suggestion]


class DocumentSuggestions(SuggestAnswer):
    """Subjects of a document of a batch."""

    document_id: str | None


class Backend(Answer):
    """What a project works with."""

    backend_id: str


class Vocab(Answer):
    """The vocabulary of a project."""

    vocab_id: str
    languages: list[str]
    size: int
    loaded: bool


class Project(Answer):
    """A model, as Annif describes a project."""

    project_id: str
    name: str
    language: str
    backend: Backend
    vocab: Vocab
    vocab_language: str
    is_trained: bool
    modification_time: str | None


class ProjectList(Answer):
    """All projects."""

    projects: list[Project]


class AnnifProblem(Answer):
    """Why there is no answer."""

    type: str
    title: str
    detail: str
    status: int


def _route(name: str, answer: Any, meaning: str, *problems: int, **more: Any) -> dict[str, Any]:
    told = {"schema": {"$ref": "#/components/schemas/AnnifProblem"}}
    responses: dict[int | str, Any] = {
        status: {"description": _MEANINGS[status], "content": {PROBLEM_TYPE: told}}
        for status in problems
    }
    return {
        "operation_id": name,
        "response_model": answer,
        "response_description": meaning,
        "responses": {**responses, **_ANY},
        "tags": ["Annif"],
        **more,
    }


_MEANINGS = {
    400: "The request does not have the form that it should have.",
    404: "There is no such project.",
    408: "The body arrived too slowly.",
    413: "The body is too large.",
    429: "The server has as much to do as it takes on; try again after Retry-After seconds.",
    503: "There was no answer in time, or the server is ending.",
}
_OTHER = {"schema": {"$ref": "#/components/schemas/Problem"}}
_ANY: dict[int | str, Any] = {
    status: {"description": meaning, "content": {"application/json": _OTHER}}
    for status, meaning in (
        (421, "The host name is not this machine's."),
        (500, "A mistake in the server."),
    )
}
_ERRORS = (400, 404, 408, 413, 429, 503)
_ID = {"name": "project_id", "in": "path", "required": True, "schema": {"type": "string"}}


def _asks(media_type: str, schema: Any, example: Any, *parameters: Any) -> dict[str, Any]:
    content = {media_type: {"schema": schema, "examples": {"one": {"value": example}}}}
    body = {"required": True, "content": content}
    return {"parameters": [_ID, *parameters], "requestBody": body}


def _in_query() -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "required": False, "schema": schema}
        for name, schema in SuggestOptions.model_json_schema()["properties"].items()
    ]


PROJECTS = _route("listProjects", ProjectList, "The models, as projects of Annif.")
PROJECT = _route(
    "showProject",
    Project,
    "The model, as a project of Annif.",
    404,
    openapi_extra={"parameters": [_ID]},
)
SUGGEST = _route(
    "suggest",
    SuggestAnswer,
    "Subjects, best first.",
    *_ERRORS,
    openapi_extra=_asks(
        "application/x-www-form-urlencoded",
        SuggestForm.model_json_schema(),
        {"text": _TEXT, "limit": 2},
    ),
)
SUGGEST_BATCH = _route(
    "suggestBatch",
    list[DocumentSuggestions],
    "Subjects of each document, in their order.",
    *_ERRORS,
    openapi_extra=_asks(
        "application/json",
        {"$ref": "#/components/schemas/SuggestBatchRequest"},
        {"documents": [{"text": "sort an array", "document_id": "one"}]},
        *_in_query(),
    ),
)
