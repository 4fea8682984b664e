"""A table in many files: the parts of a folder, as tools for large data write them.

::

    corpus/part-00000.parquet      all of one format, with the same columns
    corpus/part-00001.parquet      in the order of their names

Files that begin with a dot or an underscore are none of it, nor are the files of names that may
stand in the folder (``labels.txt``, ``features.txt``, a vocabulary) and what tagging a huge file
leaves beside its parts.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelspace.data.formats.compression import HEAD_SIZE, open_input
from labelspace.data.formats.detect import detect_format
from labelspace.data.formats.fields import Fields
from labelspace.data.formats.open_table import TABLES, open_table
from labelspace.data.formats.table import Table
from labelspace.errors import DataError, shortened

SUFFIXES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".feather")
_PACKED = (".gz", ".xz", ".bz2")
_OTHERS = ("manifest.json", "job.json", "vocabulary.tsv", "vocabulary.csv")
_POISON = "poison-"
# A place in the folder is the number of a file and a place in it, as one number.
_FILE = 40
_WHOLE = (1 << _FILE) - 1


class ManyFiles(Table):
    """The files of a folder as one table.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number, word in enumerate(("red", "green")):
    ...         text = f"text,labels\\na {word} ball,{word}\\n"
    ...         _ = Path(folder, f"part-{number}.csv").write_text(text)
    ...     table = ManyFiles(Path(folder), Fields())
    ...     [cells for _, cells in table.rows()]
    [['a red ball', 'red'], ['a green ball', 'green']]
    """

    place = "row"

    def __init__(self, path: Path, fields: Fields) -> None:
        self.path = path
        self._tables = [_opened(file, fields) for file in table_files(path)]
        self._chosen: tuple[int, int] | None = None
        first = self._tables[0]
        for other in self._tables[1:]:
            if other.columns != first.columns:
                raise DataError(
                    f"{other.path} has the columns {shortened(', '.join(other.columns))}, unlike "
                    f"{first.path.name} ({shortened(', '.join(first.columns))}): give all files "
                    "of a folder the same."
                )
        self.columns = first.columns
        self.how = f"{len(self._tables):,} files of {first.how}"
        self.assumed = next((one.assumed for one in self._tables if one.assumed), None)
        self.has_fixed_columns = first.has_fixed_columns
        if all(one.n_rows is not None for one in self._tables):
            self.n_rows = sum(one.n_rows or 0 for one in self._tables)
        self.opened_as = ("folder", fields)

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        number = 0
        for table in self._parts():
            for _, cells in table.rows():
                number += 1
                yield number, cells

    def cut(self, n_bytes: int) -> list[tuple[int, int]]:
        """Return ranges of the files; one that cannot be cut is a range of its own."""
        ranges: list[tuple[int, int]] = []
        for number, table in enumerate(self._tables):
            try:
                found = table.cut(n_bytes)
            except DataError:
                found = [(0, _WHOLE)]
            first = number << _FILE
            ranges += [(first + start, first + end) for start, end in found]
        return ranges

    def part(self, start: int, end: int) -> ManyFiles:
        made = copy.copy(self)
        made._chosen = (start, end)
        made.n_rows = None
        return made

    def halves(self, start: int, end: int) -> list[tuple[int, int]]:
        table, first, last = self._within(start, end)
        if last == _WHOLE:
            return [(start, end)]
        before = start - first
        return [(before + one, before + other) for one, other in table.halves(first, last)]

    def files(self) -> list[Path]:
        return [table.path for table in self._tables]

    def _parts(self) -> list[Table]:
        if self._chosen is None:
            return self._tables
        table, first, last = self._within(*self._chosen)
        return [table if last == _WHOLE else table.part(first, last)]

    def _within(self, start: int, end: int) -> tuple[Table, int, int]:
        """Return the file that a range is in, and the range in it."""
        number = start >> _FILE
        return self._tables[number], start & _WHOLE, end - (number << _FILE)


def table_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are parts of one table, by name; none if there are none.

    Files of several kinds are none: nobody could tell which of them are meant.
    """
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_", _POISON)) or path.name in _OTHERS:
            continue
        packed = path.suffix if path.suffix in _PACKED else ""
        kind = Path(path.name.removesuffix(packed)).suffix
        if kind in SUFFIXES and path.is_file():
            found.setdefault(kind, []).append(path)
    return next(iter(found.values())) if len(found) == 1 else []


def _opened(path: Path, fields: Fields) -> Table:
    with open_input(path, is_told=False) as stream:
        head = stream.peek(HEAD_SIZE)
    name = detect_format(head, path, fields)
    if name == "tsv" and fields.names:
        name = "csv"
    if name == "tsv":
        from labelspace.data.formats.tsv import TsvTable

        return TsvTable(path)
    if name not in TABLES or name == "xc-json":
        raise DataError(
            f"{path} is no table, but files of a folder have to be: give CSV, TSV, JSON lines or "
            "Parquet with the same columns, or one file."
        )
    return open_table(name, path, head, fields)
