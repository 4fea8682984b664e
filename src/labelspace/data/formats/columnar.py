"""Parquet, Arrow and Feather as tables, a batch of rows at a time (extra ``tables``)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelspace.data.formats.table import Table, distinct_names
from labelspace.errors import DataError

BATCH = 4096
_MOST_ROWS = 1 << 20  # of a file with fewer bytes than rows


class ColumnarTable(Table):
    """A Parquet file, or one of Arrow record batches, which Feather files are too."""

    place = "row"

    def __init__(self, path: Path, is_parquet: bool) -> None:
        self._arrow = import_arrow(path)
        self.path = path
        self.how = "Parquet" if is_parquet else "Arrow"
        self._is_parquet = is_parquet
        self._groups: range | None = None
        try:
            if is_parquet:
                from pyarrow import parquet

                with parquet.ParquetFile(path) as file:
                    self.schema, self.n_rows = file.schema_arrow, file.metadata.num_rows
            else:
                with self._arrow.memory_map(str(path)) as source:
                    file = self._arrow.ipc.open_file(source)
                    self.schema = file.schema
                    sizes = (file.get_batch(i).num_rows for i in range(file.num_record_batches))
                    self.n_rows = sum(sizes)
            names = self.schema.names
        except Exception as error:  # Arrow's own, and those of names that are no UTF-8
            raise self._damaged(error) from None
        n_bytes = path.stat().st_size
        if self.n_rows > max(_MOST_ROWS, n_bytes):
            raise DataError(
                f"{path} has {self.n_rows:,} rows in {n_bytes:,} bytes, so that most of them say "
                "nothing; leave those out."
            )
        self.columns = distinct_names(names)

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        number = 0
        try:
            for batch in self._batches():
                batch.validate(full=True)  # lest offsets lead outside of the file
                for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    yield number, cells
        except Exception as error:  # Arrow's own, and those of cells that Python has nothing for
            raise self._damaged(error) from None

    def cut(self, n_bytes: int) -> list[tuple[int, int]]:
        """Return ranges of row groups, each of about so many bytes or of one group."""
        if not self._is_parquet:
            return super().cut(n_bytes)
        from pyarrow import parquet

        ranges: list[tuple[int, int]] = []
        with parquet.ParquetFile(self.path) as file:
            start, size = 0, 0
            for group in range(file.num_row_groups):
                size += file.metadata.row_group(group).total_byte_size
                if size >= n_bytes or group == file.num_row_groups - 1:
                    ranges.append((start, group + 1))
                    start, size = group + 1, 0
        return ranges

    def part(self, start: int, end: int) -> ColumnarTable:
        made = copy.copy(self)
        made._groups = range(start, end)
        return made

    def _batches(self) -> Iterator[Any]:
        if self._is_parquet:
            from pyarrow import parquet

            with parquet.ParquetFile(self.path) as file:
                yield from file.iter_batches(BATCH, row_groups=self._groups)
            return
        with self._arrow.memory_map(str(self.path)) as source:
            file = self._arrow.ipc.open_file(source)
            for at in range(file.num_record_batches):
                batch = file.get_batch(at)
                for start in range(0, batch.num_rows, BATCH):
                    yield batch.slice(start, BATCH)

    def _damaged(self, error: Exception) -> DataError:
        reason = " ".join(str(error).split())[:120]
        return DataError(
            f"{self.path} is {self.how} that is damaged ({reason}); fetch or write it again."
        )


def import_arrow(path: Path) -> Any:
    """Return pyarrow; without it, an error that says what to install."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise DataError(
            f"{path} is a Parquet or Arrow file, which needs pyarrow: run "
            "pip install 'labelspace[tables]'."
        ) from None
    return pyarrow
