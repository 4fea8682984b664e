"""The bodies that the API takes and gives.

Requests are checked strictly (no number for a text, no unknown member, no NaN), in one pass with
the parsing of the JSON. The classes of answers describe them in the OpenAPI file; the answers
themselves are written as plain dictionaries, which is quicker.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    model_validator,
)

MAX_K = 1000
MAX_LABEL = 2**31 - 1
MAX_LISTED = 10_000
MAX_LEARNED_ROWS = 1000


def _whole(value: Any) -> Any:
    """JSON knows no integers apart from numbers: 5.0 is one too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# No control characters: a label's name stands on one line of a file, of a table, of a page.
LabelName = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
LabelId = Annotated[StrictInt, Field(ge=0, le=MAX_LABEL), BeforeValidator(_whole)]
LabelRef = LabelId | LabelName
FeatureId = Annotated[StrictInt, Field(ge=0, le=MAX_LABEL), BeforeValidator(_whole)]
FeatureName = Annotated[str, Field(max_length=500)]
# Far beyond any weight, and small enough that neither sums nor squares leave a float32.
Value = Annotated[float, Field(ge=-1e9, le=1e9)]
Features = (
    Annotated[dict[FeatureName, Value], Field(max_length=MAX_LISTED)]
    | Annotated[list[tuple[FeatureId | FeatureName, Value]], Field(max_length=MAX_LISTED)]
)

Goal = Annotated[str, Field(pattern=r"^(f1|precision=(0|1|0?\.[0-9]{1,9}))$")]

TEXT = "A text; only for a model that was trained on texts."
FEATURES = (
    'Weights by feature, `{"3": 0.5}` or `[[3, 0.5]]`; a key is a column number or, where the '
    "model knows its features by name, a word. Features that the model does not know are left out "
    "and counted in `unknown_features`."
)
THRESHOLD = (
    "Score below which labels are left out. Of a method that gives probabilities also `f1`, the "
    "threshold with the best F1 on rows held out in training, or `precision=0.9`, the lowest with "
    "this precision; `k` then limits the labels only where it is given."
)


LANGUAGE = (
    "Language of the names, such as `de`, where labels have one in it; of a model that was trained "
    "with a vocabulary."
)
BROADER = (
    "`hide` leaves out labels that are broader than another one given, `add` gives all labels that "
    "are broader as well; of a model whose vocabulary says what is broader."
)


class Request(BaseModel):
    """What all requests have in common: nothing in them is ignored or bent to fit."""

    model_config = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True
    )


class Row(Request):
    """One thing to tag or to learn: a text, or features."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["features"]}]}
    )

    text: str = Field(default=None, description=TEXT)  # type: ignore[assignment]
    features: Features = Field(default=None, description=FEATURES)  # type: ignore[assignment]

    @model_validator(mode="after")
    def _one_of_both(self) -> Row:
        if (self.text is None) == (self.features is None):
            raise ValueError("give either 'text' or 'features'")
        return self


class TagRequest(Row):
    """A row to tag, and how."""

    k: Annotated[StrictInt, Field(ge=1, le=MAX_K), BeforeValidator(_whole)] = Field(
        default=5,
        description="Labels to give at most, where the model was not trained with another `k`.",
    )
    threshold: float | Goal | None = Field(default=None, description=THRESHOLD)
    allow: Annotated[list[LabelRef], Field(max_length=MAX_LISTED)] | None = Field(
        default=None, description="Give only these labels (keys, names or numbers)."
    )
    exclude: Annotated[list[LabelRef], Field(max_length=MAX_LISTED)] = Field(
        default_factory=list, description="Never give these labels (keys, names or numbers)."
    )
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,4}$")] | None = (
        Field(default=None, description=LANGUAGE)
    )
    broader: Literal["keep", "hide", "add"] = Field(default="keep", description=BROADER)
    explain: StrictBool = Field(default=False, description="Also say why each label was given.")


class LearnRow(Row):
    """A row to learn, with its labels; an unknown name is a new label."""

    labels: Annotated[list[LabelRef], Field(max_length=MAX_LISTED)] = Field(
        description="The row's labels: keys or names, or numbers of labels that the model knows."
    )


class LearnRequest(Request):
    """Rows to learn, all or none."""

    rows: Annotated[list[LearnRow], Field(min_length=1, max_length=MAX_LEARNED_ROWS)]


class Answer(BaseModel):
    """What all answers have in common."""

    model_config = ConfigDict(extra="forbid")


class NamedLabel(Answer):
    """A label; ``name`` is its number, as text, where the model has no names."""

    label: int
    key: str | None = Field(default=None, description="Its key in the vocabulary, if it has one.")
    name: str


class Neighbour(Answer):
    """A training example that voted for the label."""

    kind: Literal["example"]
    id: int
    weight: float
    text: str | None
    labels: list[NamedLabel]


class Word(Answer):
    """A feature of the row that spoke for the label, by itself or as a word of its name."""

    kind: Literal["feature", "name"]
    id: int
    weight: float
    name: str


class RelatedLabel(NamedLabel):
    """Another label that spoke for the label."""

    kind: Literal["label"]
    weight: float


class GivenLabel(NamedLabel):
    """A label given to a row."""

    score: float
    probability: float
    """The score on a scale of 0 to 1: the length of the bar on the page."""
    why: list[Neighbour | Word | RelatedLabel] = Field(default_factory=list)


class TagAnswer(Answer):
    """The labels of a row, best first."""

    labels: list[GivenLabel]
    unknown_features: int = 0
    model: str = Field(description="Version of the model that answered.")


class LearnAnswer(Answer):
    """What was learned, and is on disk."""

    learned: int
    new_labels: list[str]
    n_examples: int
    n_labels: int


class NearLabel(NamedLabel):
    """A label that is like another."""

    similarity: float


class FoundLabel(NamedLabel):
    """A label that was searched for."""

    count: int = Field(description="Training rows that have the label.")
    nearest: list[NearLabel]


class LabelsAnswer(Answer):
    """Labels found, the best match first; ``total`` counts those on other pages too."""

    total: int
    labels: list[FoundLabel]


class MapAnswer(Answer):
    """Places of the labels in the unit disk; the lists go together, most frequent label first."""

    kind: Literal["poincare", "tree"] = Field(
        description="`poincare`: the model's own 2-d vectors; `tree`: laid out by what labels "
        "occur together, frequent ones in the middle."
    )
    total: int = Field(description="Labels of the model; the map may hold fewer.")
    label: list[int]
    name: list[str]
    count: list[int]
    x: list[float]
    y: list[float]
    model: str


class ModelAnswer(Answer):
    """What is being served."""

    model: str
    method: str
    parameters: dict[str, Any]
    n_labels: int
    n_examples: int
    n_features: int
    takes_text: bool
    explains: bool
    can_learn: bool
    learning: bool = Field(description="The server was started with a token.")
    scores: Literal["probability", "score"]
    languages: list[str] = Field(description="Languages that labels have names in.")
    has_broader: bool = Field(description="The vocabulary says which labels are broader.")
    workbooks: bool = Field(description="The server can write Excel files.")
    versions: dict[str, str]


class State(Answer):
    """How the server is."""

    status: str


class Problem(Answer):
    """Why there is no answer, in one sentence."""

    error: str
