"""The options of every verb that reads a corpus: which columns of a table are what."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

Text = Annotated[
    str | None,
    typer.Option(
        "--text", metavar="COLUMNS", help="Columns of a table that hold the text: title^2,abstract."
    ),
]
Labels = Annotated[
    str | None, typer.Option("--labels", metavar="COLUMN", help="Column that holds the labels.")
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(
        "--label-separator",
        metavar="S",
        help="What stands between labels in a cell, such as ';'; none: a cell is one label.",
    ),
]
Id = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="Column of the rows' identifiers.")
]
LabelColumns = Annotated[
    str | None,
    typer.Option(
        "--label-columns", metavar="PATTERN", help="Columns that are a label each: 'tag_*'."
    ),
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first row is data; columns are 1, 2, 3, ….")
]
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "text": (Text, None),
    "labels": (Labels, None),
    "label_separator": (LabelSeparator, None),
    "id": (Id, None),
    "label_columns": (LabelColumns, None),
    "no_header": (NoHeader, False),
}


def reads_tables(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of tables; it gets them as one ``fields``.

    >>> @reads_tables
    ... def show(path: str, fields: object) -> None: ...
    >>> list(inspect.signature(show).parameters)[:3]
    ['path', 'text', 'labels']
    """

    def fields(said: dict[str, Any]) -> Any:
        from labelspace.data.formats.fields import Fields

        return Fields.of(header=not said.pop("no_header"), **said)

    return with_options(verb, "fields", _OPTIONS, fields)


def with_options(
    verb: Callable[..., None],
    gets: str,
    options: dict[str, tuple[Any, Any]],
    made: Callable[[dict[str, Any]], Any],
) -> Callable[..., None]:
    """Give a verb options, each with a type and a default; it ``gets`` what is made of them."""
    hints = get_type_hints(verb, include_extras=True)
    parameters = inspect.signature(verb).parameters
    own = [p.replace(annotation=hints[name]) for name, p in parameters.items() if name != gets]
    added = [
        inspect.Parameter(
            name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind
        )
        for name, (kind, default) in options.items()
    ]
    # --json stays the last line of the help.
    at = next((i for i, p in enumerate(own) if p.name == "as_json"), len(own))
    signature = inspect.Signature([*own[:at], *added, *own[at:]])

    @functools.wraps(verb)
    def with_more(**given: Any) -> None:
        said = {name: given.pop(name) for name in options}
        verb(**given, **{gets: made(said)})

    del with_more.__wrapped__  # or its signature would be taken for this one's
    with_more.__signature__ = signature  # type: ignore[attr-defined]
    with_more.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    return with_more
