"""Parts of a file that can be read on their own: ranges of bytes that begin and end with a row."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from labelspace.data.formats.compression import compression_of
from labelspace.errors import DataError

Range = tuple[int, int]
Cut = TypeVar("Cut", bound="CutByLines")
_CHUNK = 1 << 20


class CutByLines:
    """A table whose rows are lines of a file, for a format to add to its own class."""

    path: Path
    _open: Callable[[], Any]

    def cut(self, n_bytes: int) -> list[Range]:
        """Return ranges of about so many bytes, each of whole rows, that make up the file."""
        check_not_packed(self.path)
        return line_ranges(self.path, n_bytes, self._quote)

    def part(self: Cut, start: int, end: int) -> Cut:
        """Return a table of the rows in a range; they are numbered from its beginning."""
        made = copy.copy(self)
        made._open = lambda: io.BufferedReader(FileRange(self.path, start, end))
        return made

    def halves(self, start: int, end: int) -> list[Range]:
        """Return a range in two, or in one if it is a line."""
        with open(self.path, "rb") as file:
            file.seek((start + end) // 2)
            file.readline()
            middle = file.tell()
            if middle >= end:  # the middle is in the last line
                file.seek(start)
                file.readline()
                middle = file.tell()
        return [(start, middle), (middle, end)] if start < middle < end else [(start, end)]

    @property
    def _quote(self) -> bytes | None:
        """What lines can be broken inside of, if anything."""
        return None


class FileRange(io.RawIOBase):
    """The bytes of a file from ``start`` to ``end``."""

    def __init__(self, path: Path, start: int, end: int) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - closed with this
        self._file.seek(start)
        self._left = end - start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._left)
        read = self._file.readinto(memoryview(buffer)[:wanted]) if wanted else 0
        self._left -= read
        return read

    def close(self) -> None:
        self._file.close()
        super().close()


def line_ranges(path: Path, n_bytes: int, quote: bytes | None = None) -> list[Range]:
    """Cut a file at line ends, where the number of quotes before is even.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.csv")
    ...     _ = path.write_text('a,b\\n"1\\n2",3\\n4,5\\n')
    ...     line_ranges(path, 5), line_ranges(path, 5, b'"')
    ([(0, 7), (7, 12), (12, 16)], [(0, 12), (12, 16)])
    """
    size = path.stat().st_size
    ends = _plain_ends(path, n_bytes) if quote is None else _quoted_ends(path, n_bytes, quote)
    cuts = sorted({0, size, *(end for end in ends if end < size)})
    return list(pairwise(cuts))


def check_not_packed(path: Path) -> None:
    """Raise if a file is compressed, since nobody can begin to read in the middle of one."""
    with open(path, "rb") as file:
        packed = compression_of(file.read(16))
    if packed is not None:
        raise DataError(f"{path} is compressed, so that it cannot be cut: unpack it first.")


def _plain_ends(path: Path, n_bytes: int) -> Iterator[int]:
    size = path.stat().st_size
    with open(path, "rb") as file:
        at = n_bytes
        while at < size:
            file.seek(at - 1)  # a line may end just there
            file.readline()
            yield file.tell()
            at = max(file.tell(), at) + n_bytes


def _quoted_ends(path: Path, n_bytes: int, quote: bytes) -> Iterator[int]:
    """Yield the line ends outside of quotes, for which all of the file is read, line by line."""
    is_open, at, wanted = False, 0, n_bytes
    with open(path, "rb", buffering=_CHUNK) as file:
        for line in file:
            at += len(line)
            is_open ^= line.count(quote) % 2 == 1
            if at >= wanted and not is_open:
                yield at
                wanted = at + n_bytes
