"""Tables of any kind, read as a stream: rows of named cells in, a corpus out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from labelspace import engine, progress
from labelspace.data.corpus import Corpus, build_csr
from labelspace.data.formats.column_spec import ColumnSpec
from labelspace.data.formats.fields import Fields, Roles, find_roles
from labelspace.data.formats.label_cells import SAMPLE, LabelSplitter, check_whole, is_set
from labelspace.data.formats.names import LABELS_FILE, NameFile
from labelspace.data.formats.row_blocks import ReadRows, table_rows
from labelspace.data.formats.streamed import Streamed
from labelspace.data.formats.word_rows import WordRows
from labelspace.errors import DataError

EXAMPLES = 3  # rows that are shown of a file
MAX_KEPT = (
    1 << 26
)  # characters of text in memory; a larger table is read again when they are needed


class Table:
    """Rows of named columns; each going through ``rows`` reads the file again.

    Attributes
    ----------
    path : Path
    how : str
        What the file is, in a few words.
    columns : list of str
        Names of the columns, each once.
    n_rows : int, or None
        Number of rows, where it is known without going through them.
    label_lines : NameFile, or None
        Names of labels that the rows give by number, where a format has a file of them.
    labels_are_columns : bool
        Whether labels are numbers of columns: of ``label_lines``, or of a trained model.
    assumed : str, or None
        What was taken for granted about the file and may be wrong, such as its encoding.
    has_fixed_columns : bool
        Whether the format gives its columns their names, so that a model's do not matter.
    place : str
        What rows are called in errors: "line" or "row".
    opened_as : tuple of str and Fields, or None
        The format and the fields by which a worker opens it again, where one can.
    """

    place = "line"
    n_rows: int | None = None
    label_lines: NameFile | None = None
    labels_are_columns = False
    assumed: str | None = None
    has_fixed_columns = False
    opened_as: tuple[str, Fields] | None = None
    path: Path
    how: str
    columns: list[str]

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        """Yield each row's number, as a person counts, and its cells."""
        raise NotImplementedError

    def check_labels(self) -> None:
        """Raise if the labels of the rows cannot be told without a trained model."""

    def cut(self, n_bytes: int) -> list[tuple[int, int]]:
        """Return ranges, of about so many bytes each, whose rows can be read on their own."""
        raise DataError(
            f"{self.path} ({self.how}) cannot be cut into parts: give JSON lines, CSV, TSV or "
            "Parquet, or leave --engine out."
        )

    def part(self, start: int, end: int) -> Table:
        """Return a table of the rows in a range."""
        raise NotImplementedError

    def halves(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return a range in two, or in one if nothing shorter can be read."""
        return [(start, end)]

    def files(self) -> list[Path]:
        """Return the files that it is made of."""
        return [self.path]

    def place_of(self, number: int) -> str:
        """Return where a row is, for errors."""
        return f"{self.path}, {self.place} {number}"

    def count(self) -> int:
        """Return the number of rows, if need be by going through them."""
        if self.n_rows is None:
            self.n_rows = sum(1 for _ in self.rows())
        return self.n_rows


@dataclass(frozen=True)
class Reading:
    """How a file was understood."""

    how: str
    columns: tuple[str, ...] = ()
    fields: Fields = field(default_factory=Fields)
    guessed: tuple[str, ...] = ()

    @property
    def sentence(self) -> str | None:
        """What was guessed, in one line; None if nothing was."""
        return f"{'; '.join(self.guessed)} ({self.how})" if self.guessed else None


class CellReader:
    """Takes text, labels and id out of the rows of a table.

    Examples
    --------
    >>> roles = find_roles(["id", "title", "tags"], Fields(), None, "a.csv")
    >>> reader = CellReader(roles, ["id", "title", "tags"])
    >>> row = ["17", "A red ball", "red;round"]
    >>> reader.text(row), reader.id(row)
    ('A red ball', '17')
    """

    def __init__(self, roles: Roles, columns: Sequence[str]) -> None:
        self.roles = roles
        self.splitter = LabelSplitter(roles.fields.label_separator, roles.fields.is_separator_given)
        self._names = [columns[at] for at in roles.label_columns]

    def text(self, cells: Sequence[Any]) -> str:
        """Return the row's texts, joined; none of them there is a ValueError."""
        return "\n".join(part for at in self.roles.text if (part := as_text(cells[at])))

    def labels(self, cells: Sequence[Any]) -> list[str]:
        """Return the row's labels as they stand."""
        if self.roles.labels is not None:
            cell = cells[self.roles.labels]
            found = self.splitter.split(_decoded(cell) if isinstance(cell, bytes) else cell)
        else:
            set_columns = zip(self._names, self.roles.label_columns, strict=True)
            found = [name for name, at in set_columns if is_set(cells[at])]
        for label in found:
            check_whole(label, "a label's name")
        return found

    def id(self, cells: Sequence[Any]) -> str | None:
        """Return the row's id; None where the table has none."""
        return None if self.roles.id is None else as_text(cells[self.roles.id]).strip()

    def row(
        self, cells: Sequence[Any], are_columns: bool
    ) -> tuple[str, str | None, Sequence[str | int]]:
        """Return text, id and labels; with ``are_columns`` a cell is a list of their numbers."""
        at = self.roles.labels
        labels = cells[at] if are_columns and at is not None else self.labels(cells)
        return self.text(cells), self.id(cells), labels


def read_table(
    table: Table, given: Fields, wanted: ColumnSpec, needs_labels: bool = True
) -> Corpus:
    """Read a table into a corpus of text."""
    kept = None if table.has_fixed_columns else wanted.fields
    if needs_labels and wanted.n_labels is None:
        table.check_labels()
    roles = find_roles(table.columns, given, kept, table.path, needs_labels)
    if not needs_labels and wanted.n_labels is not None:
        roles = replace(roles, labels=None, label_columns=())  # a model only tags the rows
    reader = CellReader(roles, table.columns)
    rows = table.rows()
    first = list(islice(rows, SAMPLE))
    labels_at = roles.labels
    guessed = [*roles.guessed, *([table.assumed] if table.assumed else [])]
    if labels_at is not None:
        try:
            was_open = reader.splitter.separator is None
            reader.splitter.decide(cells[labels_at] for _, cells in first)
        except ValueError as error:
            raise DataError(f"{table.path}: {error}") from None
        separator = reader.splitter.separator
        if was_open and separator in (";", "|", ","):
            guessed.append(f'"{separator}" between labels')
    corpus = _collect(table, reader, chain(first, rows), wanted)
    fields = replace(roles.fields, label_separator=reader.splitter.separator)
    corpus.reading = Reading(table.how, tuple(table.columns), fields, tuple(guessed))
    return corpus


def as_text(cell: Any) -> str:
    """Return a cell as text: nothing as "", a list as its words, a whole number without a point.

    >>> as_text(None), as_text(3.0), as_text(["a", "b"]), as_text("x")
    ('', '3', 'a b', 'x')
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, list | tuple):
        return " ".join(map(as_text, cell))
    if isinstance(cell, bytes):
        return _decoded(cell)
    if isinstance(cell, dict):
        raise ValueError("a text is an object; name a column that holds text with --text.")
    return str(cell)


def _decoded(cell: bytes) -> str:
    """Return bytes as text: some programs write Parquet without saying that a column is text."""
    try:
        return cell.decode()
    except UnicodeDecodeError:
        raise ValueError("a cell holds bytes that are no UTF-8 text; name another one.") from None


def distinct_names(cells: Iterable[Any]) -> list[str]:
    """Return column names with each one once: a blank one is its number, a second gets one.

    >>> distinct_names(["title", "", "title"])
    ['title', 'column 2', 'title (2)']
    """
    names: dict[str, None] = {}
    times: Counter[str] = Counter()
    for number, cell in enumerate(cells, 1):
        name = stem = as_text(cell).strip() or f"column {number}"
        while name in names:
            times[stem] += 1
            name = f"{stem} ({times[stem] + 1})"
        names[name] = None
    return list(names)


def _collect(
    table: Table,
    reader: CellReader,
    rows: Iterable[tuple[int, Sequence[Any]]],
    wanted: ColumnSpec,
) -> Corpus:
    """Collect labels, and texts and ids as far as they are not too many to be kept."""
    found = None
    if engine.is_active():
        found = table_rows(table, reader.roles, reader.splitter.separator)
    texts, ids, labels = _read_in_order(table, reader, rows) if found is None else found
    indptr = labels.arrays()[1]
    n_rows = len(indptr) - 1
    if not n_rows:
        raise DataError(f"{table.path} has a header but no rows; give at least one.")
    columns, placed = labels.place(
        table.path,
        LABELS_FILE,
        wanted.label_names,
        wanted.n_labels,
        are_columns=table.labels_are_columns,
        beside=table.label_lines,
    )
    Y = build_csr(np.ones(len(columns), np.float32), columns, indptr, placed.n_columns)
    Y.sum_duplicates()

    def column(kept: Sequence[str], of_row: Callable[[Sequence[Any]], str | None]) -> Sequence[str]:
        if len(kept) == n_rows:
            return kept
        return Streamed(lambda: (of_row(cells) or "" for _, cells in table.rows()), n_rows)

    return Corpus(
        None,
        Y,
        texts=column(texts, reader.text),
        label_names=placed.names,
        label_keys=None if table.label_lines is None else table.label_lines.keys_of(placed.names),
        ids=column(ids, reader.id) if reader.roles.id is not None else None,
    )


def _read_in_order(
    table: Table, reader: CellReader, rows: Iterable[tuple[int, Sequence[Any]]]
) -> ReadRows:
    """Go through rows; too many texts and ids are left out, to be read again when needed."""
    texts: list[str] = []
    ids: list[str] = []
    labels = WordRows()
    if table.n_rows is not None:  # else a stream of bytes tells how far it is
        rows = progress.track(rows, "rows", table.n_rows)
    n_kept = 0
    for number, cells in rows:
        try:
            text, id_, of_row = reader.row(cells, table.labels_are_columns)
            labels.add(of_row)
        except ValueError as error:
            raise DataError(f"{table.place_of(number)}: {error}") from None
        except RecursionError:
            raise DataError(
                f"{table.place_of(number)}: a cell is nested too deeply; write a text or a list of "
                "labels."
            ) from None
        n_kept += len(text)
        if n_kept <= MAX_KEPT:
            texts.append(text)
            ids.append(id_ or "")
        elif texts:
            texts, ids = [], []
    return ReadRows(texts, ids, labels)
