"""A corpus of text as a table: a row per example with its id, its text and its labels.

Excel, Parquet and Arrow need the extra ``tables``. Parquet and Arrow have lists of labels; in CSV
and Excel there is ``;`` between them, or a list is written out where names hold what might separate
them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from labelspace.data.corpus import Corpus
from labelspace.data.formats.columnar import BATCH, import_arrow
from labelspace.data.formats.compression import SUFFIXES, open_output
from labelspace.data.formats.excel import write_workbook
from labelspace.data.formats.tsv import encode
from labelspace.errors import DataError

_AMBIGUOUS = (";", "|", ",", "[", "<", "http")  # what a reader would take for more than a name


def write_table(corpus: Corpus, path: Path, kind: str) -> None:
    """Write a corpus as ``"csv"``, ``"xlsx"``, ``"parquet"`` or ``"arrow"``."""
    if corpus.texts is None:
        raise DataError(
            f"{path} cannot be written: the corpus has features but no text, which a table needs; "
            "write .txt, .jsonl or .npz."
        )
    if kind != "csv" and path.suffix.lower() in SUFFIXES:
        raise DataError(f"{path} cannot be compressed, as {kind} files are so already: leave it.")
    if kind == "csv":
        _write_csv(corpus, path)
    elif kind == "xlsx":
        _write_excel(corpus, path)
    else:
        _write_columnar(corpus, path, is_parquet=kind == "parquet")


def _columns(corpus: Corpus) -> list[str]:
    return ["text", "labels"] if corpus.ids is None else ["id", "text", "labels"]


def _rows(corpus: Corpus) -> Iterator[list[Any]]:
    ids = iter(corpus.ids) if corpus.ids is not None else None
    for row, text in enumerate(corpus.texts or ()):
        yield [*([] if ids is None else [next(ids)]), text, corpus.labels_of(row)]


def _joined_rows(corpus: Corpus) -> Iterator[list[str]]:
    names = corpus.label_names or ()
    is_plain = not any(mark in name for name in names for mark in _AMBIGUOUS)
    for *cells, labels in _rows(corpus):
        joined = ";".join(labels) if is_plain else json.dumps(labels, ensure_ascii=False)
        yield [*cells, joined]


def _write_csv(corpus: Corpus, path: Path) -> None:
    with open_output(path) as file:
        file.write(_line(_columns(corpus), path, 0))
        for number, row in enumerate(_joined_rows(corpus)):
            file.write(_line(row, path, number))


def _line(cells: list[str], path: Path, row: int) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return encode(text.getvalue(), path, row)


def _write_excel(corpus: Corpus, path: Path) -> None:
    def rows() -> Iterator[list[str]]:
        yield _columns(corpus)
        yield from _joined_rows(corpus)

    with open_output(path) as file:
        write_workbook(file, rows())


def _write_columnar(corpus: Corpus, path: Path, is_parquet: bool) -> None:
    arrow = import_arrow(path)
    from pyarrow import parquet

    names = _columns(corpus)
    types = [arrow.string()] * (len(names) - 1) + [arrow.list_(arrow.string())]
    schema = arrow.schema(list(zip(names, types, strict=True)))
    rows = _rows(corpus)
    with open_output(path) as file:
        writer = parquet.ParquetWriter(file, schema) if is_parquet else None
        writer = writer or arrow.ipc.new_file(file, schema)
        with writer:
            while block := list(islice(rows, BATCH)):
                columns = zip(*block, strict=True)
                pairs = zip(columns, types, strict=True)
                arrays = [arrow.array(list(column), type=kind) for column, kind in pairs]
                writer.write_batch(arrow.record_batch(arrays, schema=schema))
