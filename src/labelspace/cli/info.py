"""``labelspace info``: what a corpus or a model folder holds."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import Any

from labelspace import data, progress
from labelspace.cli import output
from labelspace.cli.model_card import model_card
from labelspace.data import Corpus
from labelspace.data.formats.annif import documents_in
from labelspace.data.formats.fields import Fields
from labelspace.data.formats.table import EXAMPLES
from labelspace.data.read import format_of

_WIDTH = 70


def run_info(
    path: Path, *, fields: Fields | None = None, with_files: bool = False, as_json: bool
) -> None:
    """Describe the corpus or the model at ``path``."""
    is_model = path.is_dir() and not documents_in(path)
    description = model_card(path, with_files) if is_model else _of_corpus(path, fields)
    if as_json:
        output.print_json(description)
        return
    tables = {name: value for name, value in description.items() if isinstance(value, list)}
    plain = {name: value for name, value in description.items() if name not in tables}
    output.print_table(
        str(path), [{"": name.replace("_", " "), "value": _text(v)} for name, v in plain.items()]
    )
    for name, rows in tables.items():
        if rows:
            output.print_table(name.replace("_", " "), rows)


def _of_corpus(path: Path, fields: Fields | None) -> dict[str, Any]:
    with progress.task(f"Reading {path}"):
        corpus = data.read_corpus(path, fields=fields, needs_labels=False)
    shown = {"format": format_of(path), **_understood(corpus)}
    return shown | data.describe(corpus).as_dict() | {"first_rows": _first_rows(corpus)}


def _understood(corpus: Corpus) -> dict[str, Any]:
    """Return how the file was read, and which of its columns are what."""
    reading = corpus.reading
    if reading is None:
        return {}
    if not reading.columns:
        return {"read_as": reading.how}
    fields = reading.fields
    return {
        "read_as": reading.how,
        "columns": ", ".join(reading.columns),
        "text_columns": ", ".join(fields.text),
        "label_column": fields.labels or fields.label_columns or "",
        "label_separator": fields.label_separator or "",
        "id_column": fields.id or "",
    }


def _first_rows(corpus: Corpus) -> list[dict[str, Any]]:
    """Return the first rows as they were understood, texts cut short."""
    rows = []
    for row in range(min(EXAMPLES, len(corpus))):
        shown: dict[str, Any] = {} if corpus.ids is None else {"id": corpus.ids[row]}
        if corpus.texts is not None:
            shown["text"] = shorten(corpus.texts[row], _WIDTH, placeholder="…")
        elif corpus.X is not None:
            shown["features"] = int(corpus.X.indptr[row + 1] - corpus.X.indptr[row])
        shown["labels"] = " | ".join(corpus.labels_of(row))
        rows.append(shown)
    return rows


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
