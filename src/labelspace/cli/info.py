"""``labelspace info``: what a corpus, a model folder or a vocabulary holds."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from labelspace import data, progress
from labelspace.cli import output
from labelspace.cli.model_card import model_card
from labelspace.data import Corpus
from labelspace.data.formats.fields import Fields
from labelspace.data.formats.many_files import table_files
from labelspace.data.formats.table import EXAMPLES
from labelspace.data.formats.vocabulary_file import is_vocabulary_name, read_vocabulary
from labelspace.data.read import format_of
from labelspace.vocabulary import Vocabulary

_WIDTH = 70


def run_info(
    path: Path,
    *,
    fields: Fields | None = None,
    vocabulary: Path | None = None,
    with_files: bool = False,
    as_json: bool,
) -> None:
    """Describe the corpus, the model or the vocabulary at ``path``.

    A ``vocabulary`` is told to cover so many of the labels of a corpus or a model.
    """
    given = None if vocabulary is None else read_vocabulary(vocabulary)
    if path.is_dir() and format_of(path) == "folder" and not table_files(path):
        description = model_card(path, with_files, given)
    elif is_vocabulary_name(path):
        description = _of_vocabulary(path)
    else:
        description = _of_corpus(path, fields, given)
    if as_json:
        output.print_json(description)
        return
    tables = {
        name: value
        for name, value in description.items()
        if isinstance(value, list) and all(isinstance(row, dict) for row in value)
    }
    plain = {name: value for name, value in description.items() if name not in tables}
    output.print_table(
        str(path), [{"": name.replace("_", " "), "value": _text(v)} for name, v in plain.items()]
    )
    for name, rows in tables.items():
        if rows:
            output.print_table(name.replace("_", " "), rows)


def _of_corpus(path: Path, fields: Fields | None, given: Vocabulary | None) -> dict[str, Any]:
    with progress.reading(Path(path)):
        corpus = data.read_corpus(path, fields=fields, needs_labels=False)
    shown = {"format": format_of(path), **_understood(corpus)}
    if given is not None:
        shown["vocabulary"] = given.coverage(corpus.label_names or ())
    return shown | data.describe(corpus).as_dict() | {"first_rows": _first_rows(corpus)}


def _of_vocabulary(path: Path) -> dict[str, Any]:
    with progress.reading(Path(path)):
        vocabulary = read_vocabulary(path)
    shown: list[dict[str, Any]] = []
    for entry in range(min(EXAMPLES, len(vocabulary))):
        above = [vocabulary.key(one) for one in vocabulary.ancestors(entry)[:EXAMPLES]]
        names = [
            name.text + (f" ({name.language})" if name.language else "")
            for name in vocabulary.names_of(entry)
        ]
        about = {"names": " | ".join(names), "broader": " | ".join(above)}
        shown.append({"key": vocabulary.key(entry), **about})
    return {
        "n_labels": len(vocabulary),
        "n_names": len(vocabulary.names),
        "languages": ", ".join(one for one in vocabulary.languages if one),
        "n_with_broader": int((np.diff(vocabulary.broader.indptr) > 0).sum()),
        "first_labels": shown,
    }


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
