"""Options that say what to learn with, and what labels are to be called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelspace.errors import UsageError
from labelspace.registry import METHODS

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
    typer.Option(metavar="NAME=VALUE,…", help="Text features, such as ngrams=2,char_ngrams=3-5."),
]
VocabularyFile = Annotated[
    Path | None,
    typer.Option(
        "--vocabulary",
        metavar="FILE",
        help="Keys, names and broader labels: a table, or SKOS; also found beside the corpus.",
    ),
]
Language = Annotated[
    str | None, typer.Option(metavar="CODE", help="Language of the labels' names: de.")
]
HideBroader = Annotated[
    bool, typer.Option("--hide-broader", help="Leave out labels broader than another given.")
]
AddBroader = Annotated[bool, typer.Option("--add-broader", help="Give all broader labels as well.")]


def broader_of(hide: bool, add: bool) -> str:
    """Return what is done with broader labels; both at once is an error."""
    if hide and add:
        raise UsageError("--hide-broader and --add-broader contradict each other: give one.")
    return "hide" if hide else "add" if add else "keep"
