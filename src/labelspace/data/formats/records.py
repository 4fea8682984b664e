"""JSON with any field names as a table: an object per line, or an array of objects.

The columns are the members of the first rows; a member that a row lacks is an empty cell, and one
that only comes later is passed over. An array is read object by object, not as a whole.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from labelspace.data.formats.compression import open_input
from labelspace.data.formats.jsonl import parse_object
from labelspace.data.formats.names import decode
from labelspace.data.formats.ranges import CutByLines
from labelspace.data.formats.table import Table
from labelspace.errors import DataError

_SAMPLE = 100  # rows whose members are the columns
_CHUNK = 1 << 16
_BLANK = " \t\r\n"
_BETWEEN = re.compile(r"[ \t\r\n,]*")


class JsonTable(CutByLines, Table):
    """JSON lines, or a JSON array, as rows of cells."""

    def __init__(self, path: Path, is_array: bool, stream: io.BufferedReader | None = None) -> None:
        self.path = path
        self.place = "row" if is_array else "line"
        self.how = "JSON array" if is_array else "JSON lines"
        self._is_array = is_array
        self._open: Callable[[], Any] = lambda: open_input(path)
        if stream is not None:
            self._open = lambda: contextlib.nullcontext(stream)
        objects = self._objects() if stream is None else _in_head(stream, path)
        columns: dict[str, None] = {}
        for (_, row), _ in zip(objects, range(_SAMPLE), strict=False):
            columns |= dict.fromkeys(row)
        self.columns = list(columns)

    def cut(self, n_bytes: int) -> list[tuple[int, int]]:
        return Table.cut(self, n_bytes) if self._is_array else super().cut(n_bytes)

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        for number, row in self._objects():
            yield number, [row.get(name) for name in self.columns]

    def _objects(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self._open() as stream:
            if self._is_array:
                yield from _array(io.TextIOWrapper(stream, "utf-8-sig"), self.path)
            else:
                yield from _lines(stream, self.path)


def first_object(head: bytes) -> dict[str, Any]:
    """Return the first object of JSON lines; an empty one if it cannot be read.

    >>> first_object(b'{"title": "A red ball"}\\n{}')
    {'title': 'A red ball'}
    """
    for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if line.strip():
            with contextlib.suppress(ValueError, RecursionError):
                row = json.loads(line)
                return row if isinstance(row, dict) else {}
            return {}
    return {}


def _lines(stream: Any, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, raw in enumerate(stream, 1):
        line = decode(raw, path, number)
        if line.strip():
            try:
                yield number, parse_object(line)
            except ValueError as error:
                raise DataError(f"{path}, line {number}: {error}") from None


def _in_head(stream: io.BufferedReader, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the first object of a stream without taking it from the stream."""
    yield 1, first_object(stream.peek())


def _array(text: io.TextIOWrapper, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of an array as they come; memory holds one and a chunk."""
    parse = json.JSONDecoder().raw_decode
    buffer, at, number, chunk = "", 0, 0, _CHUNK
    try:
        buffer = text.read(_CHUNK).lstrip(_BLANK)[1:]
        while True:
            at = _BETWEEN.match(buffer, at).end()  # type: ignore[union-attr]
            if buffer.startswith("]", at):
                return
            try:
                row, end = parse(buffer, at)
            except ValueError as error:
                more = text.read(chunk)
                if not more:
                    raise DataError(
                        f"{path}, row {number + 1}: this is not JSON ({error}); write "
                        '[{"text": "…", "labels": ["…"]}, …] and close the array.'
                    ) from None
                buffer, at, chunk = buffer[at:] + more, 0, chunk * 2
                continue
            number, chunk, at = number + 1, _CHUNK, end
            if not isinstance(row, dict):
                raise DataError(f"{path}, row {number}: this is no object; write objects only.")
            yield number, row
    except UnicodeDecodeError:
        raise DataError(f"{path}, row {number + 1}: the text is not UTF-8; save it so.") from None
    except RecursionError:
        raise DataError(f"{path}, row {number + 1}: the JSON is nested too deeply.") from None
    finally:
        with contextlib.suppress(ValueError):
            text.detach()
