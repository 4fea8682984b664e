"""Files of the page's File view: a table in, its rows as JSON lines; rows in, a workbook out.

Reading is that of the command line, so that a spreadsheet is understood alike in both. A file comes
from anyone who reaches the server: its size, its rows, what it unpacks to and the time it takes are
bounded, one is read at a time, and it is gone from the disk with the answer.
"""

from __future__ import annotations

import asyncio
import importlib.util
import io
import json
import math
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.requests import Request

from labelspace.data.formats.compression import HEAD_SIZE
from labelspace.data.formats.delimited import DelimitedTable
from labelspace.data.formats.excel import write_workbook
from labelspace.data.formats.fields import Fields, find_roles
from labelspace.data.formats.records import JsonTable, first_object
from labelspace.data.formats.table import Table
from labelspace.data.piped import LinesTable
from labelspace.data.read import stream_table
from labelspace.errors import DataError, UnknownFormat
from labelspace.server.body import check_type, read_bytes
from labelspace.server.refusal import Refusal, overloaded
from labelspace.server.settings import Limits, ServerSettings

MEDIA_TYPE = "application/octet-stream"
WORKBOOK_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
WAITING = 4  # files that wait for their turn
MAX_COLUMNS = 1000
FEATURES = "features"
_LOOK = 500  # rows between two looks at the clock


class TableFiles:
    """Reads files into rows, and writes rows into workbooks, one at a time."""

    def __init__(self, settings: ServerSettings) -> None:
        self._limits = settings.limits
        self._is_local = settings.is_local
        self._turn = asyncio.Semaphore(1)
        self._n_waiting = 0

    async def read(self, request: Request, name: str, kept: Fields | None) -> bytes:
        """Return the table in a request's body as JSON lines: what it is, then its rows."""
        check_type(request, MEDIA_TYPE)
        async with self._place():
            raw = await self._body(request)
            return await asyncio.to_thread(self._rows, raw, name, kept)

    async def write(self, request: Request) -> bytes:
        """Return the rows in a request's body, a JSON array per line, as a workbook."""
        check_type(request, "application/x-ndjson")
        if not can_write_workbooks():
            raise Refusal(409, "Workbooks need openpyxl on the server: pip install openpyxl.")
        async with self._place():
            raw = await self._body(request)
            return await asyncio.to_thread(_workbook, raw, self._limits)

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        if self._n_waiting >= WAITING:
            raise overloaded()
        self._n_waiting += 1
        try:
            async with self._turn:
                yield
        finally:
            self._n_waiting -= 1

    async def _body(self, request: Request) -> bytes:
        limits = self._limits
        return await read_bytes(request, limit=limits.batch_body, seconds=limits.file_time)

    def _rows(self, raw: bytes, name: str, kept: Fields | None) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "file"
            path.write_bytes(raw)
            shown = Path(name).name[:200] or "The file"
            try:
                self._check(raw, path)
                table = _opened(path)
                return self._listed(table, kept)
            except DataError as error:
                raise Refusal(422, str(error).replace(str(path), shown)) from None
            except MemoryError:
                raise Refusal(413, f"{shown} does not fit into memory: split it.") from None

    def _check(self, raw: bytes, path: Path) -> None:
        """Refuse what may unpack to far more than was sent."""
        if raw.startswith((b"\x1f\x8b", b"\xfd7zXZ", b"BZh")):
            raise DataError(f"{path} is compressed: unpack it first.")
        if raw.startswith((b"PAR1", b"ARROW1")) and not self._is_local:
            raise DataError(
                f"{path} is a Parquet or Arrow file, which this server does not take from others: "
                "give it to labelspace predict --out, or save it as .csv."
            )
        if raw.startswith(b"PK"):
            limit = 3 * self._limits.batch_body
            with suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(raw)) as archive:
                if sum(part.file_size for part in archive.infolist()) > limit:
                    raise DataError(f"{path} unpacks to more than {limit:,} bytes: split it.")

    def _listed(self, table: Table, kept: Fields | None) -> bytes:
        limits, ends = self._limits, time.monotonic() + self._limits.file_time
        if len(table.columns) > MAX_COLUMNS:
            raise DataError(f"{table.path} has more than {MAX_COLUMNS:,} columns: leave some out.")
        lines, size = [_line(_about(table, kept))], 0
        for _, cells in table.rows():
            lines.append(_line([_plain(cell) for cell in cells]))
            size += len(lines[-1])
            if len(lines) > limits.batch_rows + 1:
                raise DataError(
                    f"{table.path} has more than {limits.batch_rows:,} rows: give it to labelspace "
                    "predict --out, or split it."
                )
            if size > 3 * limits.batch_body:
                raise DataError(f"{table.path} is too large for the page: split it.")
            if len(lines) % _LOOK == 0 and time.monotonic() > ends:
                raise Refusal(503, "The file takes too long to read: split it.")
        return b"".join(lines)


def can_write_workbooks() -> bool:
    """Return whether what writes Excel files is installed."""
    return importlib.util.find_spec("openpyxl") is not None


def _opened(path: Path) -> Table:
    try:
        table = stream_table(path, Fields(), None)
    except UnknownFormat:
        return LinesTable(path.open("rb"), path)
    if table is not None:
        return table
    with path.open("rb") as file:
        is_json = FEATURES in first_object(file.read(HEAD_SIZE))
    if not is_json:
        raise DataError(
            f"{path} holds features: give a table, JSON lines, or one text per line, or use "
            "labelspace predict."
        )
    return JsonTable(path, is_array=False)


def _about(table: Table, kept: Fields | None) -> dict[str, Any]:
    """Return the columns of a table, and which of them are to be read."""
    text = [FEATURES] if FEATURES in table.columns else []
    for known in (kept, None):
        with suppress(DataError):
            usual = None if table.has_fixed_columns else known
            roles = find_roles(table.columns, Fields(), usual, table.path, needs_labels=False)
            text = [table.columns[at] for at in roles.text]
            break
    delimiter = table.dialect.delimiter if isinstance(table, DelimitedTable) else ","
    return {
        "how": table.how,
        "columns": table.columns,
        "text": text,
        "delimiter": delimiter if delimiter in (",", ";", "\t", "|") else ",",
    }


def _line(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


def _plain(cell: Any) -> Any:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _workbook(raw: bytes, limits: Limits) -> bytes:
    content = io.BytesIO()
    write_workbook(content, _parsed_rows(raw, limits))
    return content.getvalue()


def _parsed_rows(raw: bytes, limits: Limits) -> Iterator[list[Any]]:
    most, ends = limits.batch_rows, time.monotonic() + limits.file_time
    for number, line in enumerate(filter(None, raw.split(b"\n")), 1):
        try:
            cells = json.loads(line)
        except (ValueError, RecursionError):
            raise Refusal(422, f"Line {number} is not JSON: write an array per line.") from None
        if not isinstance(cells, list) or len(cells) > MAX_COLUMNS:
            raise Refusal(
                422, f"Line {number} is no array of at most {MAX_COLUMNS:,} cells: write one."
            )
        if number > most + 1:
            raise Refusal(422, f"There are more than {most:,} rows: send fewer.")
        if number % _LOOK == 0 and time.monotonic() > ends:
            raise Refusal(503, "The workbook takes too long to write: send fewer rows.")
        yield cells
