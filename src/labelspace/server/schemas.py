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


def whole(value: Any) -> Any:
    """JSON knows no integers apart from numbers: 5.0 is one too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# No control characters: a label's name stands on one line of a file, of a table, of a page.
LabelName = Annotated[str, Field(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*$")]
LabelId = Annotated[StrictInt, Field(ge=0, le=MAX_LABEL), BeforeValidator(whole)]
LabelRef = LabelId | LabelName
_NO_OTHER_NAMES: Any = {"additionalProperties": False}
FeatureId = Annotated[StrictInt, Field(ge=0, le=MAX_LABEL), BeforeValidator(whole)]
FeatureName = Annotated[str, Field(max_length=500)]
# Far beyond any weight, and small enough that neither sums nor squares leave a float32.
Value = Annotated[float, Field(ge=-1e9, le=1e9)]
Features = (
    Annotated[dict[FeatureName, Value], Field(max_length=MAX_LISTED)]
    | Annotated[list[tuple[FeatureId | FeatureName, Value]], Field(max_length=MAX_LISTED)]
)

Goal = Annotated[str, Field(pattern=r"^(f1|(precision|recall)=(0|1|0?\.[0-9]{1,9}))$")]

TEXT = "A text; only for a model that was trained on texts."
FEATURES = (
    'Weights by feature, `{"3": 0.5}` or `[[3, 0.5]]`; a key is a column number or, where the '
    "model knows its features by name, a word. Features that the model does not know are left out "
    "and counted in `unknown_features`."
)
THRESHOLD = (
    "Score below which labels are left out. Of a method that gives probabilities also `f1`, the "
    "threshold with the best F1 on rows held out in training, `precision=0.9`, the lowest with "
    "this precision, or `recall=0.8`, the highest with this recall; `k` then limits the labels "
    "only where it is given."
)
THRESHOLDS = "Least scores of single labels, by key or name, in place of `threshold`."
LANGUAGE = (
    "Language of the names, such as `de`, where labels have one in it; of a model that was trained "
    "with a vocabulary."
)
BROADER = (
    "`hide` leaves out labels that are broader than another one given, `add` gives all labels that "
    "are broader as well; of a model whose vocabulary says what is broader."
)

REJECTED = (
    "Labels that the row is known to lack. Where this is given, even as an empty list, only the "
    "labels in it and in `labels` are known of the row, and it says nothing of any other; without "
    "it `labels` are all that the row has."
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

    k: Annotated[StrictInt, Field(ge=1, le=MAX_K), BeforeValidator(whole)] = Field(
        default=5,
        description="Labels to give at most, where the model was not trained with another `k`.",
    )
    threshold: float | Goal | None = Field(default=None, description=THRESHOLD)
    allow: Annotated[list[LabelRef], Field(max_length=MAX_LISTED)] | None = Field(
        default=None, description="Give only these labels (keys, names, numbers, or rules)."
    )
    exclude: Annotated[list[LabelRef], Field(max_length=MAX_LISTED)] = Field(
        default_factory=list,
        description="Never give these labels (keys, names, numbers, or rules).",
    )
    thresholds: Annotated[dict[LabelName, float], Field(max_length=MAX_LISTED)] = Field(
        default_factory=dict, description=THRESHOLDS, json_schema_extra=_NO_OTHER_NAMES
    )
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8}){0,4}$")] | None = (
        Field(default=None, description=LANGUAGE)
    )
    broader: Literal["keep", "hide", "add"] = Field(default="keep", description=BROADER)
    explain: StrictBool = Field(default=False, description="Also say why each label was given.")
    words: StrictBool = Field(
        default=False,
        description="Also tell the text's language, and which of its words are unknown.",
    )


class LearnRow(Row):
    """A row to learn, with its labels; an unknown name is a new label."""

    labels: Annotated[list[LabelRef], Field(max_length=MAX_LISTED)] = Field(
        description="The row's labels: keys or names, or numbers of labels that the model knows."
    )
    rejected: Annotated[list[LabelRef], Field(max_length=MAX_LISTED)] | None = Field(
        default=None, description=REJECTED
    )


class LearnRequest(Request):
    """Rows to learn, all or none."""

    rows: Annotated[list[LearnRow], Field(min_length=1, max_length=MAX_LEARNED_ROWS)]
    preview: StrictBool = Field(
        default=False, description="Only tell what it would change; nothing is learned."
    )


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


class TextWords(Answer):
    """What is known of a text's words."""

    language: str | None = Field(description="The language that it seems to be in, as `en`.")
    n: int | None = Field(description="Its words; null where the model takes every word.")
    unknown: list[str] = Field(description="Those that the model does not know, each once.")
    n_unknown: int


class TagAnswer(Answer):
    """The labels of a row, best first."""

    labels: list[GivenLabel]
    unknown_features: int = 0
    words: TextWords | None = Field(default=None, description="Of a text, with `words`.")
    missing_shards: list[int] = Field(default=[], description="Shards that did not answer.")
    model: str = Field(description="Version of the model that answered.")


class LearnAnswer(Answer):
    """What was learned, and is on disk."""

    learned: int
    new_labels: list[str]
    n_examples: int
    n_labels: int
    changes: Changes | None = Field(
        default=None, description="What it changes on other rows, with `preview`."
    )
    tags: list[ChangedTag] = Field(
        default_factory=list, description="Labels of the first row before and after."
    )


class ChangedTag(NamedLabel):
    """A label of a row that is being taught, with its probabilities."""

    before: float
    after: float


class Changes(Answer):
    """What a lesson changes on rows whose labels are known."""

    rows: Literal["held out", "training"] = Field(
        description="`held out`: the rows of `--held-out`; `training`: some that it learned from."
    )
    n: int = Field(description="How many rows.")
    n_other_first: int = Field(description="Rows whose first label is another than before.")
    before: dict[str, float] = Field(description="P@1 and P@5 as it is now, in percent.")
    after: dict[str, float] = Field(description="The same after the lesson.")


class LessonsAnswer(Answer):
    """How many rows were taught, and the last request, which can be undone."""

    n: int
    undone: int = Field(default=0, description="Rows that were just forgotten.")
    n_examples: int
    n_labels: int
    last: Lesson | None


class Lesson(Answer):
    """One request that was learned."""

    rows: int
    text: str | None = Field(description="Beginning of its first text.")
    labels: list[str | int]
    rejected: list[str | int] | None = None
    can_undo: bool


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

    kind: Literal["poincare", "tree", "neighbourhood"] = Field(
        description="`poincare`: the model's own 2-d vectors; `neighbourhood`: each label beside "
        "those that are most like it; `tree`: few labels, frequent ones in the middle."
    )
    topic: list[int] = Field(description="Region that each label is in.")
    regions: list[dict[str, Any]] = Field(description="Name and place of each region.")
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
    name: str = Field(description="Name of its folder.")
    method: str
    parameters: dict[str, Any]
    n_labels: int
    n_examples: int
    n_features: int
    takes_text: bool
    explains: bool
    can_learn: bool
    learning: bool = Field(description="The server was started with a token.")
    learns_marks: bool = Field(description="It learns rows of which only some labels are known.")
    scores: Literal["probability", "score"]
    languages: list[str] = Field(description="Languages that labels have names in.")
    goals: dict[str, float] = Field(
        description="Thresholds that reached goals on rows held out in training."
    )
    card: dict[str, Any] = Field(description="Its corpus, when it was trained, how right it was.")
    examples: list[str] = Field(description="Some texts to try.")
    text_languages: list[str] = Field(description="Languages of the texts that it learned from.")
    language_names: dict[str, str] = Field(description="Languages that are told apart.")
    has_broader: bool = Field(description="The vocabulary says which labels are broader.")
    workbooks: bool = Field(description="The server can write Excel files.")
    versions: dict[str, str]


class State(Answer):
    """How the server is."""

    status: str


class Problem(Answer):
    """Why there is no answer, in one sentence."""

    error: str
