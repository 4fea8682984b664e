"""Texts and labels of large files, read by an engine: ranges of a file, each by one worker.

A range is as in tagging: bytes that end where a line does, or row groups of Parquet; a file that
cannot be cut is a range of its own where there are many. Workers leave texts and labels in a
block's file, and texts stay there: they are mapped into memory when somebody goes through them.

What is wrong with a file is told by reading it in order, so that the line in an error is right:
where a worker finds a mistake, or where parts do not fit together, there is no answer from here.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

from labelspace import engine
from labelspace.data.formats.fields import Fields, Roles
from labelspace.data.formats.ranges import FileRange, check_not_packed, line_ranges
from labelspace.data.formats.word_rows import WordRows
from labelspace.data.text.packed_texts import PackedTexts
from labelspace.errors import DataError

# Bytes of a part; a larger file has larger ones, so that they do not become too many.
LEAST_PART, MOST_PART, PARTS = 1 << 22, 1 << 26, 4096

Row = tuple[str, str | None, Sequence[str | int]]


class ReadRows(NamedTuple):
    """What is in the rows of a file: texts and ids as far as they were asked for."""

    texts: Sequence[str]
    ids: Sequence[str]
    labels: WordRows


class TextsInParts(Sequence[str]):
    """Texts that lie in several arrays, which may be mapped files.

    Examples
    --------
    >>> texts = TextsInParts([PackedTexts.of(["red", "green"]), PackedTexts.of(["blue"])])
    >>> len(texts), texts[2], texts[1:], list(texts)
    (3, 'blue', ['green', 'blue'], ['red', 'green', 'blue'])
    """

    def __init__(self, parts: Sequence[PackedTexts]) -> None:
        self._parts = list(parts)
        self._length = sum(part.n_texts for part in self._parts)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        for part in self._parts:
            yield from part.all()

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[row] for row in range(*at.indices(self._length))]
        row = range(self._length)[at]
        for part in self._parts:
            if row < part.n_texts:
                return next(part.between(row, row + 1))
            row -= part.n_texts
        raise IndexError(at)


def part_size(n_bytes: int) -> int:
    """Return how many bytes a part of a file of this size is to have."""
    return min(max(LEAST_PART, n_bytes // PARTS), MOST_PART)


def table_rows(table: Any, roles: Roles, separator: str | None) -> ReadRows | None:
    """Return the rows of a table, read by the engine in use; None if that cannot be."""
    if table.opened_as is None:
        return None
    name, asked = table.opened_as
    about = {
        "format": name,
        "asked": asked,
        "separator": separator,
        "is_separator_given": roles.fields.is_separator_given,
        "text": list(roles.text),
        "labels": roles.labels,
        "id": roles.id,
        "label_columns": list(roles.label_columns),
    }
    files = table.files()
    try:
        ranges = table.cut(part_size(sum(path.stat().st_size for path in files)))
    except DataError:
        return None
    return _read(table.path, files, about, ranges)


def line_rows(name: str, path: Path) -> ReadRows | None:
    """Return the rows of a file of lines without a header, read by the engine in use."""
    return _read(path, [path], {"format": name}, line_parts(path))


def line_parts(path: Path) -> list[tuple[int, int]]:
    """Return the byte ranges of a file of lines that the engine in use may read; none if packed."""
    if not engine.is_active() or not path.is_file():
        return []
    try:
        check_not_packed(path)
    except DataError:
        return []
    return line_ranges(path, part_size(path.stat().st_size))


def _read(
    path: Path, files: Sequence[Path], about: dict[str, Any], ranges: list[tuple[int, int]]
) -> ReadRows | None:
    if len(ranges) < 2:  # not worth a file
        return None
    states = [(file.name, file.stat()) for file in files]
    about |= {
        "path": str(path.resolve()),
        "files": [[name, state.st_size, state.st_mtime_ns] for name, state in states],
    }
    parts = engine.run_blocks(read_part, about, ranges, f"Reading {path}, parts")
    if any("error" in part for part in parts):
        return None
    labels = WordRows()
    if not all(labels.extend(*part["labels"]) for part in parts):
        return None
    texts, ids = (
        TextsInParts([PackedTexts(*part[what]) for part in parts]) for what in ("texts", "ids")
    )
    return ReadRows(texts, ids, labels)


def read_part(inputs: dict[str, Any], block: tuple[int, int]) -> dict[str, Any]:
    """Read the rows in a range: what a worker does. A mistake in the file is an answer."""
    labels = WordRows()
    texts: list[str] = []
    ids: list[str] = []
    try:
        for text, id_, of_row in _rows(inputs, *block):
            texts.append(text)
            if id_ is not None:
                ids.append(id_)
            if not labels.add(of_row):
                raise DataError("labels are given by name and by number")
    except (DataError, ValueError, RecursionError) as error:
        return {"error": str(error)[:1000]}
    return {
        "texts": tuple(PackedTexts.of(texts)),
        "ids": tuple(PackedTexts.of(ids)),
        "labels": labels.packed(),
    }


def _rows(inputs: dict[str, Any], start: int, end: int) -> Iterator[Row]:
    """Yield text, id and labels of the rows in a range."""
    # Formats import this, for their readers to hand work to an engine.
    path = Path(inputs["path"])
    if inputs["format"] == "jsonl-rows":
        from labelspace.data.formats.jsonl import labelled_texts

        with io.BufferedReader(FileRange(path, start, end)) as stream:
            yield from ((text, None, labels) for text, labels in labelled_texts(stream, path))
        return
    if inputs["format"] == "tsv":
        from labelspace.data.formats.tsv import TsvTable

        yield from ((text, None, of) for _, (text, of) in TsvTable(path).part(start, end).rows())
        return
    from labelspace.data.formats.open_table import open_again
    from labelspace.data.formats.table import CellReader

    table = open_again(inputs["format"], path, inputs["asked"])
    fields = Fields(
        label_separator=inputs["separator"], is_separator_given=inputs["is_separator_given"]
    )
    places = tuple(inputs["text"]), inputs["labels"], inputs["id"], tuple(inputs["label_columns"])
    reader = CellReader(Roles(fields, *places), table.columns)
    for _, cells in table.part(start, end).rows():
        yield reader.row(cells, are_columns=table.labels_are_columns)
