"""The bodies of the review, rows to go through and marks, and of the list of models."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StrictInt

from labelspace.server.schemas import (
    MAX_LABEL,
    MAX_LEARNED_ROWS,
    MAX_LISTED,
    Answer,
    LabelName,
    Request,
    whole,
)

MAX_REVIEWED_ROWS = 10_000
MAX_REVIEWED_TEXT = 20_000


def _storable(columns: dict[str, Any]) -> dict[str, Any]:
    """Refuse numbers that JSON does not have, wherever they are."""
    try:
        json.dumps(columns, allow_nan=False)
    except ValueError:
        raise ValueError("a number in it is not finite") from None
    return columns


class ReviewRow(Request):
    """A row to review: its text, and whatever else its file has."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_REVIEWED_TEXT)]
    columns: Annotated[dict[str, Any], Field(max_length=MAX_LISTED), AfterValidator(_storable)] = (
        Field(default_factory=dict)
    )


class ReviewRequest(Request):
    """Rows that people will go through."""

    name: Annotated[str, Field(min_length=1, max_length=500)]
    rows: Annotated[list[ReviewRow], Field(min_length=1, max_length=MAX_REVIEWED_ROWS)]


class Mark(Request):
    """What somebody says of a label of a row; `none` takes back what was said."""

    row: Annotated[StrictInt, Field(ge=0, le=MAX_LABEL), BeforeValidator(whole)]
    label: LabelName
    verdict: Literal["right", "wrong", "undecided", "none"]
    who: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$")]


class MarksRequest(Request):
    """Marks to add; the answer has those after the first `after`."""

    marks: Annotated[list[Mark], Field(max_length=MAX_LEARNED_ROWS)]
    after: Annotated[StrictInt, Field(ge=0, le=MAX_LABEL), BeforeValidator(whole)] = 0


class ReviewState(BaseModel):
    """A queue: its rows with the model's labels, all marks, and how far it is."""

    queue: str | None = None
    name: str | None = None
    began: float | None = None
    n_rows: int
    n_reviewed: int = Field(description="Rows of which somebody said something.")
    n_compared: int = Field(description="Labels of rows on which several people said something.")
    agreement: float | None = Field(description="Share of these on which they say the same.")
    n_marks: int | None = None
    marks: list[dict[str, Any]] | None = None
    rows: list[dict[str, Any]] | None = None


class ReviewQueues(Answer):
    """All queues, the newest first."""

    queues: list[ReviewState]


class ListedModel(Answer):
    """One model of a server; its routes are also below `/models/NAME`."""

    name: str
    method: str
    n_labels: int
    text_languages: list[str]


class ModelsAnswer(Answer):
    """The models of a server, that of `/` first."""

    models: list[ListedModel]
