"""Tables with tags: all columns of the rows as they were, then tags, their ids and scores."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from labelspace.data.formats.columnar import ColumnarTable, import_arrow
from labelspace.data.formats.compression import without_compression_suffix
from labelspace.data.formats.delimited import DelimitedTable
from labelspace.data.formats.excel import check_can_write, write_workbook
from labelspace.data.formats.table import Table, as_text
from labelspace.errors import DataError

NEW_COLUMNS = ("tags", "tag_ids", "scores")
_MARKS = (";", "|")
_LIST = "list"


class TaggedRow(NamedTuple):
    """The cells of a row, and what it was tagged with."""

    cells: Sequence[Any]
    tags: list[str]
    tag_ids: list[str]
    scores: list[float]


class TaggedFormat:
    """Writes rows with their tags; a format says how parts are written and joined."""

    def __init__(self, table: Table) -> None:
        self.columns = list(table.columns)
        self.new_columns = [_new_name(name, self.columns) for name in NEW_COLUMNS]

    def write_part(self, file: BinaryIO, rows: Iterable[TaggedRow]) -> None:
        raise NotImplementedError

    def join(self, file: BinaryIO, parts: Sequence[Path]) -> None:
        """Write the parts one after another."""
        for path in parts:
            with path.open("rb") as part:
                shutil.copyfileobj(part, file, 1 << 20)


class TaggedCsv(TaggedFormat):
    """CSV or TSV, with the delimiter of the rows where they came from one."""

    def __init__(self, table: Table, delimiter: str | None, between: str) -> None:
        super().__init__(table)
        self._mark = b""
        own = ","
        if isinstance(table, DelimitedTable):
            own = table.dialect.delimiter
            # Spreadsheet programs take a file without the mark for one in their own encoding.
            self._mark = b"\xef\xbb\xbf" if table.encoding == "utf-8-sig" else b""
        self._delimiter = delimiter or (own if own in (",", ";", "|") else ",")
        self._between = between

    def write_part(self, file: BinaryIO, rows: Iterable[TaggedRow]) -> None:
        text = io.TextIOWrapper(file, "utf-8", errors="replace", newline="")
        writer = csv.writer(text, delimiter=self._delimiter, lineterminator="\n")
        for row in rows:
            scores = [f"{score:.6g}" for score in row.scores]
            new = (self._joined(items) for items in (row.tags, row.tag_ids, scores))
            writer.writerow([*(self._cell(cell) for cell in row.cells), *new])
        text.flush()
        text.detach()

    def join(self, file: BinaryIO, parts: Sequence[Path]) -> None:
        header = io.StringIO()
        writer = csv.writer(header, delimiter=self._delimiter, lineterminator="\n")
        writer.writerow([*self.columns, *self.new_columns])
        file.write(self._mark + header.getvalue().encode("utf-8", "replace"))
        super().join(file, parts)

    def _joined(self, items: Sequence[str]) -> str:
        # Names of another language, or keys, may hold what is in no name that was looked at.
        if self._between == _LIST or any(self._between in item for item in items):
            return json.dumps(items, ensure_ascii=False)
        return self._between.join(items)

    def _cell(self, cell: Any) -> str:
        if isinstance(cell, list | tuple) and all(isinstance(item, str) for item in cell):
            return self._joined(cell)
        return _scalar(cell) or ""


class TaggedJson(TaggedFormat):
    """JSON lines."""

    def write_part(self, file: BinaryIO, rows: Iterable[TaggedRow]) -> None:
        for row in rows:
            scores = [float(f"{score:.6g}") for score in row.scores]
            new = zip(self.new_columns, (row.tags, row.tag_ids, scores), strict=True)
            members = dict(zip(self.columns, map(_json_cell, row.cells), strict=True)) | dict(new)
            line = _json(members)
            file.write(line.encode("utf-8", "replace") + b"\n")


class TaggedExcel(TaggedCsv):
    """Excel; numbers stay numbers, and what stands between tags is as in CSV."""

    def __init__(self, table: Table, between: str) -> None:
        check_can_write()  # before hours of tagging
        super().__init__(table, None, between)

    def write_part(self, file: BinaryIO, rows: Iterable[TaggedRow]) -> None:
        for row in rows:
            scores = [f"{score:.6g}" for score in row.scores]
            new = (self._joined(items) for items in (row.tags, row.tag_ids, scores))
            cells = [
                cell if isinstance(cell, int | float) else self._cell(cell) for cell in row.cells
            ]
            file.write(json.dumps([*map(_json_cell, cells), *new]).encode() + b"\n")

    def join(self, file: BinaryIO, parts: Sequence[Path]) -> None:
        def rows() -> Iterator[list[Any]]:
            yield [*self.columns, *self.new_columns]
            for path in parts:
                with path.open("rb") as part:
                    yield from map(json.loads, part)

        write_workbook(file, rows())


class TaggedParquet(TaggedFormat):
    """Parquet; columns keep their types where the rows came from Parquet or Arrow."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        arrow = import_arrow(Path("The file to write"))
        types = [arrow.string()] * len(self.columns)
        self._has_types = isinstance(table, ColumnarTable)
        if isinstance(table, ColumnarTable):
            types = list(table.schema.types)
        texts = arrow.list_(arrow.string())
        types += [texts, texts, arrow.list_(arrow.float64())]
        names = [_whole(name) for name in (*self.columns, *self.new_columns)]
        self._arrow = arrow
        self._schema = arrow.schema(list(zip(names, types, strict=True)))

    def write_part(self, file: BinaryIO, rows: Iterable[TaggedRow]) -> None:
        from pyarrow import parquet

        columns: list[list[Any]] = [[] for _ in self._schema]
        for row in rows:
            cells = row.cells
            if not self._has_types:
                cells = [None if cell is None else _whole(_scalar(cell) or "") for cell in cells]
            for column, value in zip(columns, [*cells, *row[1:]], strict=True):
                column.append(value)
        try:
            arrays = [
                self._arrow.array(column, type=field.type)
                for column, field in zip(columns, self._schema, strict=True)
            ]
            parquet.write_table(self._arrow.table(arrays, schema=self._schema), file)
        except self._arrow.ArrowException as error:
            why = " ".join(f"{error}".split())[:120]
            raise DataError(
                f"A column has a type that Parquet cannot hold ({why}): write .csv or .jsonl."
            ) from None

    def join(self, file: BinaryIO, parts: Sequence[Path]) -> None:
        from pyarrow import parquet

        with parquet.ParquetWriter(file, self._schema) as writer:
            for path in parts:
                writer.write_table(parquet.read_table(path, schema=self._schema))


def tagged_format(
    target: Path, table: Table, names: Iterable[str], usual: str | None = None
) -> TaggedFormat:
    """Return the format that the name of a file asks for.

    ``names`` are all tags that may be given: in CSV what stands between tags is in none of them;
    ``usual`` is what stood between the labels of the training table.
    """
    suffix = without_compression_suffix(target).suffix.lower()
    makers: dict[str, Callable[[], TaggedFormat]] = {
        ".csv": lambda: TaggedCsv(table, None, mark_between(names, usual)),
        ".tsv": lambda: TaggedCsv(table, "\t", mark_between(names, usual)),
        ".jsonl": lambda: TaggedJson(table),
        ".ndjson": lambda: TaggedJson(table),
        ".parquet": lambda: TaggedParquet(table),
        ".xlsx": lambda: TaggedExcel(table, mark_between(names, usual)),
    }
    if suffix not in makers:
        raise DataError(
            f"{target} does not say what to write: end its name in .csv, .tsv, .xlsx, .jsonl or "
            ".parquet."
        )
    return makers[suffix]()


def mark_between(names: Iterable[str], usual: str | None = None) -> str:
    """Return what can stand between names: ``;`` or ``|``, or "list" if both are in names.

    >>> mark_between(["roses", "books"]), mark_between(["roses; red"]), mark_between(["a;", "b|"])
    (';', '|', 'list')
    """
    free = [usual] if usual in _MARKS else []
    free += [mark for mark in _MARKS if mark not in free]
    for name in names:
        free = [mark for mark in free if mark not in name]
        if not free:
            return _LIST
    return free[0]


def _new_name(name: str, columns: Sequence[str]) -> str:
    while name in columns:
        name = f"predicted_{name}"
    return name


def _scalar(cell: Any) -> str | None:
    if cell is None:
        return None
    if isinstance(cell, list | tuple | dict):
        return _json(cell)
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else as_text(cell)


def _json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        raise DataError(
            "A cell is nested too deeply to be written: leave its column out."
        ) from None


def _whole(text: str) -> str:
    """Return a text with a mark for each half of a character, as JSON can write it."""
    return text.encode("utf-8", "replace").decode()


def _json_cell(cell: Any) -> Any:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
