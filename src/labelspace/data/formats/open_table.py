"""Opening whatever is, or can be seen as, a table."""

from __future__ import annotations

from io import BufferedReader
from pathlib import Path

from labelspace.data.formats.compression import HEAD_SIZE, open_input
from labelspace.data.formats.fields import Fields
from labelspace.data.formats.table import Table
from labelspace.errors import DataError

# Formats that are tables; "jsonl" is one where its members have names of their own.
TABLES = ("csv", "json", "jsonl", "xc-json", "parquet", "arrow", "xlsx", "fasttext")


def open_table(
    name: str,
    path: Path,
    head: bytes,
    fields: Fields,
    stream: BufferedReader | None = None,
) -> Table:
    """Return the table in a file of the format ``name``, or in a stream that is read once."""
    table = _open(name, path, head, fields, stream)
    if stream is None:
        table.opened_as = (name, fields)
    return table


def open_again(name: str, path: Path, fields: Fields) -> Table:
    """Open a table by its ``opened_as``, as a worker does."""
    if name == "folder":
        from labelspace.data.formats.many_files import ManyFiles

        return ManyFiles(path, fields)
    with open_input(path, is_told=False) as stream:
        head = stream.peek(HEAD_SIZE)
    return open_table(name, path, head, fields)


def _open(
    name: str, path: Path, head: bytes, fields: Fields, stream: BufferedReader | None
) -> Table:
    if stream is None and not path.is_file():
        raise DataError(
            f"{path} is a pipe, but a table is gone through more than once: give a file, which may "
            "be compressed (predict takes - for what is piped in)."
        )
    if name == "csv":
        from labelspace.data.formats.delimited import DelimitedTable, find_dialect

        dialect = find_dialect(head, fields)
        if dialect is None:
            raise DataError(f"{path}, line 1: this is no table; see labelspace info on it.")
        return DelimitedTable(path, dialect, has_header=fields.header, stream=stream)
    if name in ("json", "jsonl"):
        from labelspace.data.formats.records import JsonTable

        return JsonTable(path, is_array=name == "json", stream=stream)
    if name == "fasttext":
        from labelspace.data.formats.fasttext import FastTextTable

        return FastTextTable(path, stream)
    if name == "xc-json":
        from labelspace.data.formats.xc_json import XcJsonTable

        return XcJsonTable(path)
    if stream is not None:
        raise DataError("A Parquet, Arrow or Excel file cannot be piped in: give its name.")
    return _open_binary(name, path, fields)


def _open_binary(name: str, path: Path, fields: Fields) -> Table:
    with path.open("rb") as file:
        start = file.read(6)
    if not start.startswith((b"PAR1", b"ARROW1", b"PK")):
        raise DataError(f"{path} is a compressed {name} file; unpack it first.")
    if name == "xlsx":
        from labelspace.data.formats.excel import ExcelTable

        return ExcelTable(path, fields.header)
    from labelspace.data.formats.columnar import ColumnarTable

    return ColumnarTable(path, is_parquet=name == "parquet")
