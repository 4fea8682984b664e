"""Excel workbooks (.xlsx) as tables, read and written row by row (extra ``tables``)."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import math
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from labelspace.data.formats.compression import check_unpacked
from labelspace.data.formats.table import Table, distinct_names
from labelspace.errors import DataError

MAX_ROWS = 1_048_576  # of a sheet, its header included
MAX_CELL = 32_767  # characters
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class ExcelTable(Table):
    """The first sheet of a workbook that has anything in it; its first row names the columns."""

    place = "row"

    def __init__(self, path: Path, has_header: bool = True) -> None:
        self.path = path
        self._has_header = has_header
        with self._workbook() as book:
            filled = []
            for sheet in book.worksheets:
                found = next(self._filled(sheet), None)
                if found is not None:
                    filled.append((sheet.title, found[1]))
        if not filled:
            raise DataError(f"{path} has no rows; give a workbook with a table in it.")
        self._sheet, first = filled[0]
        width = max(at for at, cell in enumerate(first, 1) if cell is not None)
        names = first[:width] if has_header else range(1, width + 1)
        self.columns = distinct_names(names)
        others = f", the first of {len(filled)} with content" if len(filled) > 1 else ""
        self.how = f'Excel, sheet "{self._sheet}"{others}'

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        width = len(self.columns)
        with self._workbook() as book:
            rows = self._filled(book[self._sheet])
            if self._has_header:
                next(rows, None)
            for number, cells in rows:
                if any(cell is not None for cell in cells[width:]):
                    raise DataError(
                        f"{self.path}, row {number}: there are more cells than the {width} columns "
                        "of the first row; give every column a name there."
                    )
                padded = [*cells[:width], *([None] * (width - len(cells)))]
                yield number, [_plain(cell) for cell in padded]

    @contextlib.contextmanager
    def _workbook(self) -> Iterator[Any]:
        openpyxl = _import_openpyxl(self.path)
        with self.path.open("rb") as file:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # styles that it does not know
                    with zipfile.ZipFile(file) as archive:
                        n_unpacked = sum(member.file_size for member in archive.infolist())
                    check_unpacked(n_unpacked, self.path.stat().st_size, self.path)
                    # By its name, openpyxl would refuse a file that is not called .xlsx.
                    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            except DataError:
                raise
            except Exception as error:  # whatever its XML and zip parsers raise
                raise self._damaged(error) from None
            try:
                yield book
            finally:
                book.close()

    def _filled(self, sheet: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield the rows that have anything in them, with their numbers."""
        if not hasattr(sheet, "iter_rows"):
            return
        sheet.reset_dimensions()  # some programs write a wrong size
        rows = sheet.iter_rows(max_row=MAX_ROWS, values_only=True)
        for number in itertools.count(1):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    cells = next(rows, None)
            except Exception as error:  # a sheet is parsed while it is gone through
                raise self._damaged(error) from None
            if cells is None:
                return
            if any(cell is not None and str(cell).strip() for cell in cells):
                yield number, cells

    def _damaged(self, error: Exception) -> DataError:
        why = " ".join(f"{error}".split())[:100] or type(error).__name__
        return DataError(
            f"{self.path} is an Excel file that cannot be read ({why}); open it and save it "
            "again, or save it as .csv."
        )


def write_workbook(file: BinaryIO, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows into a workbook of one sheet; texts stay texts, whatever they begin with.

    Numbers stay numbers, lists are written out, and a text is cut after what a cell holds.
    """
    openpyxl = check_can_write()
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("labelspace")
    for number, cells in enumerate(rows, 1):
        if number > MAX_ROWS:
            raise DataError(f"An Excel sheet holds {MAX_ROWS:,} rows: write .csv or .parquet.")
        row = []
        for value in map(_storable, cells):
            cell = WriteOnlyCell(sheet, value)
            if isinstance(value, str):
                cell.data_type = "s"  # else a text that begins with = would be a formula
            row.append(cell)
        sheet.append(row)
    book.save(file)


def check_can_write() -> Any:
    """Return openpyxl; without it, an error that says what to install."""
    return _import_openpyxl(Path("The file to write"))


def _storable(value: Any) -> Any:
    """Return what a cell can hold.

    >>> _storable(3), _storable(["a", 1]), _storable("a\\x01b"), _storable(float("nan"))
    (3, '["a", 1]', 'ab', None)
    """
    if value is None or isinstance(value, bool | datetime.date | datetime.time):
        return value
    if isinstance(value, int | float) and abs(value) < 2**53:
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else str(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return _NOT_IN_XML.sub("", text)[:MAX_CELL]


def _plain(cell: Any) -> Any:
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, datetime.date | datetime.time) else cell


def _import_openpyxl(path: Path) -> Any:
    try:
        import openpyxl
    except ImportError:
        raise DataError(
            f"{path} is an Excel file, which needs openpyxl: run pip install "
            "'labelspace[tables]', or save it as .csv."
        ) from None
    return openpyxl
