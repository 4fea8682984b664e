"""Options of several verbs: what to learn with, which labels to give, what they are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from labelspace.errors import UsageError
from labelspace.registry import METHODS

Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads to use; all cores if not given.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method; repeatable."),
]
Method = Annotated[
    str | None,
    typer.Option(
        help="Method, labelspace if not given.",
        autocompletion=lambda incomplete: [one for one in METHODS if one.startswith(incomplete)],
    ),
]
Features = Annotated[
    str | None,
    typer.Option(metavar="NAME=VALUE,…", help="Text features: ngrams=2,char_ngrams=3-5, or auto."),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|PATH|module:object",
        help="Encoder of texts beside their words: multilingual, a folder, precomputed.",
    ),
]
LearnedWith = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="PATH|module:object",
        help="The encoder that the model learned with, where it is not one of ours.",
    ),
]
VocabularyFile = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        help="Keys, names and broader labels: a table, or SKOS; also found beside the corpus.",
    ),
]
K = Annotated[
    int | None,
    typer.Option("-k", min=1, help="Labels for each row; 5, or as many as reach a goal."),
]
Threshold = Annotated[
    str | None,
    typer.Option(
        metavar="SCORE|f1|precision=P|recall=R",
        help="Leave out labels with a lower score; f1, precision=0.9, recall=0.8 choose it.",
    ),
]
TaggedFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write all rows with their columns and tags: .csv, .tsv, .xlsx, .jsonl, .parquet.",
    ),
]
Explain = Annotated[
    bool, typer.Option("--explain", help="Also what spoke for each label: words, texts.")
]
Language = Annotated[
    str | None, typer.Option(metavar="CODE", help="Language of the labels' names: de.")
]
HideBroader = Annotated[
    bool, typer.Option("--hide-broader", help="Leave out labels broader than another given.")
]
AddBroader = Annotated[bool, typer.Option("--add-broader", help="Give all broader labels as well.")]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="LABEL",
        help="Give only these: key, name, pattern:GLOB, collection:NAME, below:LABEL; @FILE has "
        "one per line; repeatable.",
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="LABEL", help="Never give these labels; as --allow."),
]


LabelThreshold = Annotated[
    list[str] | None,
    typer.Option(
        "--label-threshold",
        metavar="LABEL=SCORE",
        help="Least score of one label; @FILE has one per line; repeatable.",
    ),
]


class Shown(NamedTuple):
    """Which labels are given at all, and what they are called."""

    language: str | None = None
    broader: str = "keep"
    allow: list[str] | None = None
    exclude: Sequence[str] = ()
    thresholds: Mapping[Any, float] = {}


def broader_of(hide: bool, add: bool) -> str:
    """Return what is done with broader labels; both at once is an error."""
    if hide and add:
        raise UsageError("--hide-broader and --add-broader contradict each other: give one.")
    return "hide" if hide else "add" if add else "keep"


def labels_of(given: list[str] | None) -> list[str] | None:
    """Return labels as they are given, those of ``@FILE`` from the lines of the file."""
    if given is None:
        return None
    found: list[str] = []
    for label in given:
        path = Path(label[1:])
        if label.startswith("@") and path.is_file():
            from labelspace.data.formats.compression import open_input
            from labelspace.data.formats.names import decode

            with open_input(path) as lines:
                read = (decode(line, path, number) for number, line in enumerate(lines, 1))
                found.extend(line.strip() for line in read if line.strip())
        else:
            found.append(label)
    return found


def thresholds_of(given: list[str] | None) -> dict[str, float]:
    """Return the least scores of single labels, each as ``LABEL=SCORE``."""
    found: dict[str, float] = {}
    for one in labels_of(given) or ():
        label, equals, score = one.rpartition("=")
        try:
            found[label.strip()] = float(score)
        except ValueError:
            equals = ""
        if not equals:
            raise UsageError(f"--label-threshold is '{one[:80]}': write LABEL=SCORE, as rose=0.7.")
    return found


def tuned_model(folder: Path) -> Path:
    """Return the model's folder where that of ``tune`` is given, which has the model in it."""
    inside = folder / "model"
    is_tuned = not (folder / "manifest.json").exists() and (inside / "manifest.json").exists()
    return inside if is_tuned else folder


def tuned_models(folders: list[Path]) -> list[Path]:
    """Return the models' folders where those of ``tune`` are given."""
    return [tuned_model(folder) for folder in folders]
