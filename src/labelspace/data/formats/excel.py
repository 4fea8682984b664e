"""Excel workbooks (.xlsx) as tables, row by row (extra ``tables``)."""

from __future__ import annotations

import contextlib
import datetime
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelspace.data.formats.compression import check_unpacked
from labelspace.data.formats.table import Table, distinct_names
from labelspace.errors import DataError


class ExcelTable(Table):
    """The first sheet of a workbook that has anything in it; its first row names the columns."""

    place = "row"

    def __init__(self, path: Path, has_header: bool = True) -> None:
        self.path = path
        self._has_header = has_header
        with self._workbook() as book:
            filled = []
            for sheet in book.worksheets:
                found = next(_filled(sheet), None)
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
            rows = _filled(book[self._sheet])
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
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # styles that it does not know
                with zipfile.ZipFile(self.path) as archive:
                    n_unpacked = sum(member.file_size for member in archive.infolist())
                check_unpacked(n_unpacked, self.path.stat().st_size, self.path)
                book = openpyxl.load_workbook(self.path, read_only=True, data_only=True)
        except DataError:
            raise
        except Exception as error:  # whatever its XML and zip parsers raise
            raise DataError(
                f"{self.path} is an Excel file that cannot be read ({str(error)[:100]}); open it "
                "and save it again, or save it as .csv."
            ) from None
        try:
            yield book
        finally:
            book.close()


def _filled(sheet: Any) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the rows that have anything in them, with their numbers."""
    if not hasattr(sheet, "iter_rows"):
        return
    sheet.reset_dimensions()  # some programs write a wrong size
    for number, cells in enumerate(sheet.iter_rows(values_only=True), 1):
        if any(cell is not None and str(cell).strip() for cell in cells):
            yield number, cells


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
