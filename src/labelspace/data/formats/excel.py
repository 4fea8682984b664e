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
# A cell far to the right makes a row of 16,384, empty but for it: so many in all, and so many for
# each that is filled, are taken.
_MOST_EMPTY, _EMPTY_PER_FILLED = 1 << 22, 1000
_MOST_UNNAMED = 1000
# A sheet may be a row at its very end; of many such sheets no more than these are gone through.
_MOST_EMPTY_ROWS, _LOOKED_AT = 3 * MAX_ROWS, 1000
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class ExcelTable(Table):
    """The first sheet of a workbook that has anything in it; its first row names the columns."""

    place = "row"

    def __init__(self, path: Path, has_header: bool = True) -> None:
        self.path = path
        self._has_header = has_header
        with self._workbook() as book:
            filled: list[Any] = []
            self._n_empty_left = _MOST_EMPTY_ROWS
            for sheet in book.worksheets:
                # Of sheets after the first with content it is only told that they are there.
                found = next(self._filled(sheet, _LOOKED_AT if filled else MAX_ROWS), None)
                if found is not None:
                    filled.append((sheet.title, found[1]))
        if not filled:
            raise DataError(f"{path} has no rows; give a workbook with a table in it.")
        self._sheet, first = filled[0]
        filled_at = [at for at, cell in enumerate(first, 1) if _is_filled(cell)]
        width = filled_at[-1]
        if width - len(filled_at) > max(_MOST_UNNAMED, len(filled_at)):
            raise DataError(
                f"{path}: the first row has {width:,} cells, of which {len(filled_at):,} are "
                "filled; remove what stands far to the right, or save it as .csv."
            )
        names = first[:width] if has_header else range(1, width + 1)
        self.columns = distinct_names(names)
        others = f", the first of {len(filled)} with content" if len(filled) > 1 else ""
        self.how = f'Excel, sheet "{self._sheet}"{others}'

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        width = len(self.columns)
        self._n_empty_left = _MOST_EMPTY_ROWS
        with self._workbook() as book:
            rows = self._filled(book[self._sheet])
            if self._has_header:
                next(rows, None)
            for number, cells in rows:
                if any(map(_is_filled, cells[width:])):
                    raise DataError(
                        f"{self.path}, row {number}: there are more cells than the {width} columns "
                        "of the first row; give every column a name there."
                    )
                yield number, [*map(_plain, cells[:width]), *([None] * (width - len(cells)))]

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

    def _filled(
        self, sheet: Any, n_rows: int | None = None
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield the rows that have anything in them, with their numbers."""
        if not hasattr(sheet, "iter_rows"):
            return
        sheet.reset_dimensions()  # some programs write a wrong size
        rows = sheet.iter_rows(max_row=n_rows or MAX_ROWS, values_only=True)
        n_cells = n_filled = 0
        for number in itertools.count(1):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    cells = next(rows, None)
            except Exception as error:  # a sheet is parsed while it is gone through
                raise self._damaged(error) from None
            if cells is None:
                return
            n_cells += len(cells)
            n_filled += len(cells) - cells.count(None)
            if n_cells > max(_MOST_EMPTY, _EMPTY_PER_FILLED * n_filled):
                raise DataError(
                    f"{self.path}, row {number}: of {n_cells:,} cells up to here {n_filled:,} are "
                    "filled; remove what stands far to the right, or save it as .csv."
                )
            if any(map(_is_filled, cells)):
                yield number, cells
                continue
            self._n_empty_left -= 1
            if self._n_empty_left < 0:
                raise DataError(
                    f"{self.path} has more than {_MOST_EMPTY_ROWS:,} empty rows; remove them, or "
                    "save it as .csv."
                )

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
    try:
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
    except BaseException:
        _forget(sheet)
        raise
    book.save(file)


def _forget(sheet: Any) -> None:
    """Remove the file of a sheet that is not finished; openpyxl keeps it until the process ends."""
    with contextlib.suppress(Exception):
        sheet.close()
    with contextlib.suppress(Exception):
        sheet._writer.cleanup()


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


def _is_filled(cell: Any) -> bool:
    return cell is not None and bool(str(cell).strip())


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
