"""CSV, TSV with a header, and their kin: cells with a comma, semicolon, tab or bar between.

The delimiter is the one under which the rows have as many cells as the header; quotes are ``"``,
doubled inside cells or with a backslash before them. A row with another number of cells is an
error: a text that was cut at its first comma never becomes an example.
"""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelspace.data.formats.compression import open_input
from labelspace.data.formats.encoding import NAMES, encoding_by_mark, encoding_of
from labelspace.data.formats.fields import Fields, is_header
from labelspace.data.formats.ranges import CutByLines, Range
from labelspace.data.formats.table import Table, distinct_names
from labelspace.errors import DataError

DELIMITERS = (",", ";", "\t", "|")
_ONE_COLUMN = "\x1f"
_SAID = {"\t": "tabs", _ONE_COLUMN: "one column"}
_MOSTLY = 0.8  # of the rows fit the header: the others are then told as errors


@dataclass(frozen=True)
class Dialect:
    """How cells are separated and quoted."""

    delimiter: str
    quoting: int = csv.QUOTE_MINIMAL
    escapechar: str | None = None

    def reader(self, lines: Any) -> Any:
        """Return a ``csv.reader`` of this dialect, which refuses what is badly quoted."""
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=self.quoting,  # type: ignore[arg-type]
            escapechar=self.escapechar,
            doublequote=self.escapechar is None,
            strict=True,
        )

    @property
    def said(self) -> str:
        """The delimiter in words."""
        return _SAID.get(self.delimiter, f'"{self.delimiter}"')


def find_dialect(head: bytes, fields: Fields) -> Dialect | None:
    """Return the dialect of a table that begins with ``head``; None if it is none.

    ``fields`` are what is asked for: a first row with one of those names is a header.

    Examples
    --------
    >>> find_dialect(b"title;tags\\nRed, round;a,b\\n", Fields()).delimiter
    ';'
    >>> find_dialect(b"It was a dark night.\\n", Fields()) is None
    True
    """
    text = _sample(head)
    first = text.split("\n", 1)[0].strip("\r")
    candidates = []
    for dialect in _dialects():
        if dialect.delimiter not in first:
            continue
        if dialect.escapechar is not None and '\\"' not in text:
            continue  # it would take any text after a closing quote
        rows, is_clean = _parsed(text, dialect)
        if not rows:
            continue
        n_cells = len(rows[0])
        share = sum(len(row) == n_cells for row in rows) / len(rows)
        known = fields.header and is_header(rows[0], fields.names)
        bare = sum(cell.startswith('"') for row in rows for cell in row)
        candidates.append(((known, is_clean, share, -bare, n_cells), dialect))
    if not candidates:
        alone = first.strip().strip('"').strip()
        is_column = bool(alone) and (not fields.header or is_header([alone], fields.names))
        return Dialect(_ONE_COLUMN) if is_column else None
    (known, is_clean, share, *_), best = max(candidates, key=lambda found: found[0])
    return best if known or (is_clean and share >= _MOSTLY) else None


def header_of(head: bytes, dialect: Dialect) -> list[str]:
    """Return the cells of the first row."""
    return next(iter(_parsed(_sample(head), dialect)[0]), [])


def looks_like_table(head: bytes) -> bool:
    """Return whether rows, at least three, have the same number of cells, more than one."""
    dialect = find_dialect(head, Fields())
    if dialect is None or dialect.delimiter in ("\t", _ONE_COLUMN):
        return False
    rows, _ = _parsed(_sample(head), dialect)
    return len(rows) > 2 and len({len(row) for row in rows}) == 1


class DelimitedTable(CutByLines, Table):
    """A CSV or TSV file with a header, or a stream of one that can be read once."""

    def __init__(
        self,
        path: Path,
        dialect: Dialect,
        *,
        has_header: bool = True,
        stream: io.BufferedReader | None = None,
    ) -> None:
        csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
        self.path = path
        self.dialect = dialect
        self._has_header = has_header
        self._open: Callable[[], Any] = lambda: open_input(path)
        if stream is not None:
            self._open = lambda: contextlib.nullcontext(stream)
            head = stream.peek()
            self.encoding = encoding_by_mark(head) or "utf-8"
            first = header_of(head, dialect)
        else:
            with open_input(path, is_told=False) as opened:
                self.encoding = encoding_of(opened, path)
            with self._cells() as cells:
                _, first = next(cells, (0, []))
        if self.encoding == "cp1252":
            self.assumed = "encoding Windows-1252, as it is not UTF-8"
        numbers = range(1, len(first) + 1)
        self.columns = distinct_names(first) if has_header else [str(n) for n in numbers]
        kind = "TSV" if dialect.delimiter == "\t" else "CSV"
        self.how = f"{kind}, {dialect.said} between cells, {NAMES.get(self.encoding, 'text')}"
        if dialect.delimiter == _ONE_COLUMN:
            self.how = f"CSV of one column, {NAMES.get(self.encoding, 'text')}"

    def cut(self, n_bytes: int) -> list[Range]:
        if self.encoding.startswith("utf-16") or self.dialect.escapechar is not None:
            raise DataError(
                f"{self.path} ({self.how}) cannot be cut at line ends: save it as UTF-8, with "
                "quotes inside cells doubled."
            )
        return super().cut(n_bytes)

    def part(self, start: int, end: int) -> DelimitedTable:
        made = super().part(start, end)
        made._has_header = self._has_header and start == 0
        return made

    @property
    def _quote(self) -> bytes | None:
        return None if self.dialect.quoting == csv.QUOTE_NONE else b'"'

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        with self._cells() as cells:
            if self._has_header:
                next(cells, None)
            for line, row in cells:
                if len(row) != len(self.columns):
                    raise DataError(
                        f"{self.path}, line {line}: there are {len(row)} cells but "
                        f"{len(self.columns)} columns; put cells that contain "
                        f'{self.dialect.said} in quotes ("…").'
                    )
                yield line, row

    @contextlib.contextmanager
    def _cells(self) -> Iterator[Iterator[tuple[int, list[str]]]]:
        with self._open() as stream:
            text = io.TextIOWrapper(stream, self.encoding, newline="")
            try:
                yield self._parse(text)
            finally:
                text.detach()

    def _parse(self, text: io.TextIOWrapper) -> Iterator[tuple[int, list[str]]]:
        reader = self.dialect.reader(text)
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise DataError(
                    f"{self.path}, line {line}: the quotes do not fit ({error}); write a quote "
                    'inside a quoted cell twice ("").'
                ) from None
            except UnicodeDecodeError:
                raise DataError(
                    f"{self.path}, line {line}: the text is not UTF-8; save it as UTF-8."
                ) from None
            if row is None:
                return
            if len(row) > 1 or any(cell.strip() for cell in row):
                yield line, row


def _dialects() -> Iterator[Dialect]:
    for delimiter in DELIMITERS:
        yield Dialect(delimiter)
        yield Dialect(delimiter, escapechar="\\")
    yield Dialect("\t", quoting=csv.QUOTE_NONE)


def _parsed(text: str, dialect: Dialect) -> tuple[list[list[str]], bool]:
    """Return the rows of a sample up to what is badly quoted, and whether nothing is."""
    rows: list[list[str]] = []
    try:
        for row in dialect.reader(io.StringIO(text, newline="")):
            if any(cell.strip() for cell in row):
                rows.append(row)
    except csv.Error as error:
        return rows, "unexpected end" in str(error)  # the sample may end inside a cell
    return rows, True


def _sample(head: bytes) -> str:
    """Return the whole lines at the beginning of a file as text."""
    text = _decoded(head).lstrip("\ufeff")
    lines = text.splitlines(keepends=True)
    return "".join(lines[:-1]) if len(lines) > 2 and not text.endswith("\n") else text


def _decoded(head: bytes) -> str:
    encoding = encoding_by_mark(head)
    if encoding is not None:
        return head.decode(encoding, "replace")
    try:
        return head.decode()
    except UnicodeDecodeError as error:
        if error.start > len(head) - 4:  # a character cut in two
            return head[: error.start].decode()
        return head.decode("cp1252", "replace")
