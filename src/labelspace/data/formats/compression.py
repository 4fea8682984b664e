"""Files as streams of bytes: opened whatever their compression, written all or not at all.

Reading looks at the first bytes, never at the name, so ``train.txt`` may well be an xz file.
Writing goes by the name's last suffix, into a temporary file beside the target that takes the
target's place only when everything is safely on disk: a write that fails leaves nothing behind
and an older file as it was.
"""

from __future__ import annotations

import bz2
import contextlib
import difflib
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from labelspace import progress
from labelspace.errors import DataError
from labelspace.store.folders import flush, flush_folder
from labelspace.store.leftovers import temporary_file

SUFFIXES = (".gz", ".xz", ".bz2")
HEAD_SIZE = 1 << 18
_CHUNK = 1 << 16
# Corpora unpack to three to thirty times their size; what unpacks to more was made to fill memory.
_MOST_UNPACKED = 1 << 26
_MOST_TIMES = 100

_BZ2_BLOCKS = (bytes.fromhex("314159265359"), bytes.fromhex("177245385090"))
_OPENERS: dict[str, Callable[[Any], Any]] = {
    "gz": lambda file: gzip.GzipFile(fileobj=file),
    "xz": lambda file: _Streams(file, lzma.LZMADecompressor, padding=b"\0"),
    "bz2": lambda file: _Streams(file, bz2.BZ2Decompressor),
}
_DAMAGE = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)


@contextlib.contextmanager
def open_input(path: Path, is_told: bool = True) -> Iterator[io.BufferedReader]:
    """Open a file for reading bytes, decompressed, with its first 256 KiB ready to ``peek`` at.

    How far it is read is progress, unless it is read for another reason than its rows.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.txt.gz")
    ...     with open_output(path) as file:
    ...         _ = file.write(b"0 1:1")
    ...     with open_input(path) as stream:
    ...         stream.read()
    b'0 1:1'
    """
    check_readable(path)
    try:
        file = path.open("rb")
    except OSError as error:
        raise DataError(
            f"{path} cannot be opened ({error.strerror}); check its permissions."
        ) from error
    with file:
        kind = compression_of(file.peek(16)[:16])
        source = file if kind is None else _OPENERS[kind](file)
        guarded: Any = _Guarded(source, path, kind, os.fstat(file.fileno()).st_size)
        if is_told and file.seekable():
            guarded.tell_progress = lambda: progress.read_to(path, file.tell())
        with io.BufferedReader(guarded, HEAD_SIZE) as stream:
            yield stream


@contextlib.contextmanager
def open_output(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing bytes, compressed if its suffix says so, that appears when complete.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         with open_output(Path(folder, "a.txt")) as file:
    ...             _ = file.write(b"half a corp")
    ...             raise RuntimeError
    ...     except RuntimeError:
    ...         sorted(Path(folder).iterdir())
    []
    """
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the name of a file in it to write to.")
    if not path.parent.is_dir():
        raise DataError(f"{path} cannot be written: make the folder {path.parent} first.")
    if path.exists() and not path.is_file():  # a pipe or a device has no place to be taken
        with path.open("wb") as device, _compressor(device, path.suffix.lower()) as sink:
            yield sink
        return
    path = path.resolve()  # behind a symbolic link the file is replaced, not the link
    try:
        with temporary_file(path.parent, f".{path.name}.", ".tmp") as (temporary, descriptor):
            with os.fdopen(descriptor, "wb", buffering=1 << 20) as file:
                with _compressor(file, path.suffix.lower()) as sink:
                    yield sink
                flush(file)
            os.replace(temporary, path)
            flush_folder(path.parent)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written ({error.strerror or error}); "
            "check the folder's permissions and the free space."
        ) from error


def compression_of(head: bytes) -> str | None:
    """Return ``"gz"``, ``"xz"``, ``"bz2"`` or None by a file's first 16 bytes.

    >>> compression_of(b"\\x1f\\x8b\\x08 and so on")
    'gz'
    """
    if head.startswith(b"\x1f\x8b"):
        return "gz"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    # Text may begin with "BZh": ask for the mark of the first block too.
    if head.startswith(b"BZh") and head[4:10] in _BZ2_BLOCKS:
        return "bz2"
    return None


def check_unpacked(n_unpacked: int, n_packed: int, path: Path) -> None:
    """Refuse a compressed file that unpacks to far more than a corpus does.

    >>> check_unpacked(10**9, 10**6, Path("a.txt.gz"))
    Traceback (most recent call last):
    labelspace.errors.DataError: a.txt.gz unpacks to more than 100 times its 1,000,000 bytes, ...
    """
    # A pipe has no size.
    if n_packed and n_unpacked > max(_MOST_UNPACKED, _MOST_TIMES * n_packed):
        raise DataError(
            f"{path} unpacks to more than {_MOST_TIMES} times its {n_packed:,} bytes, as files "
            "that are made to fill the memory do; if it is meant so, unpack it first."
        )


def without_compression_suffix(path: Path) -> Path:
    """Return the path without its last suffix where that names a compression.

    >>> without_compression_suffix(Path("train.txt.xz")).name
    'train.txt'
    """
    return path.with_suffix("") if path.suffix.lower() in SUFFIXES else path


class _Streams(io.RawIOBase):
    """Compressed streams one after another, as ``xz`` and ``bzip2`` read them.

    Python's own classes take damage at the beginning of a later stream for the end of the file.
    """

    def __init__(
        self, file: BinaryIO, decompressor: Callable[[], Any], padding: bytes = b""
    ) -> None:
        self._file = file
        self._make = decompressor
        self._padding = padding
        self._stream = decompressor()
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with memoryview(buffer) as room:
            while True:
                if self._stream.eof and not self._begin_next():
                    return 0
                if self._stream.needs_input and not self._waiting:
                    self._waiting = self._file.read(_CHUNK)
                    if not self._waiting:
                        raise EOFError("the last stream has no end")
                given, self._waiting = self._waiting, b""
                found = self._stream.decompress(given, max_length=len(room))
                if found:
                    room[: len(found)] = found
                    return len(found)

    def _begin_next(self) -> bool:
        """Go on to the stream that follows; return False where there is none."""
        self._waiting = self._without_padding(self._stream.unused_data)
        while not self._waiting:
            more = self._file.read(_CHUNK)
            if not more:
                return False
            self._waiting = self._without_padding(more)
        self._stream = self._make()
        return True

    def _without_padding(self, content: bytes) -> bytes:
        return content if self._padding is None else content.lstrip(self._padding)


class _Guarded(io.RawIOBase):
    """A decompressing stream whose failures are told in one sentence."""

    def __init__(self, source: Any, path: Path, kind: str | None, n_packed: int) -> None:
        self._source = source
        self._path = path
        self._kind = kind
        self._n_packed = n_packed
        self._n_unpacked = 0

    def readable(self) -> bool:
        return True

    def tell_progress(self) -> None:
        """Say how far the file is read; nothing unless told otherwise."""

    def readinto(self, buffer: Any) -> int:
        try:
            size = int(self._source.readinto(buffer))
        except _DAMAGE as error:
            what = "cut short" if isinstance(error, EOFError) else f"damaged ({error})"
            raise DataError(
                f"{self._path} is a .{self._kind} file that is {what}; fetch or write it again."
            ) from error
        except OSError as error:
            if self._kind is not None and error.errno is None:
                problem = f"is a .{self._kind} file that is damaged ({error})"
            else:
                problem = f"cannot be read ({error.strerror})"
            raise DataError(f"{self._path} {problem}; fetch or write it again.") from error
        self.tell_progress()
        self._n_unpacked += size
        if self._kind is not None:
            check_unpacked(self._n_unpacked, self._n_packed, self._path)
        return size


def check_readable(path: Path) -> None:
    """Raise if there is no file at ``path``, with one of a similar name if there is any."""
    if path.is_dir():
        raise DataError(f"{path} is a folder, not a corpus; give one of the files in it.")
    if path.exists():
        return
    message = f"{path} does not exist; check the name"
    if path.parent.is_dir():
        names = [entry.name for entry in path.parent.iterdir()]
        near = difflib.get_close_matches(path.name, names, n=1)
        message += f" (is it {near[0]}?)" if near else ""
    raise DataError(message + ".")


def _compressor(file: BinaryIO, suffix: str) -> contextlib.AbstractContextManager[Any]:
    if suffix == ".gz":
        # No name and no time inside: the same corpus gives the same bytes.
        return gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0)
    if suffix == ".xz":
        return lzma.LZMAFile(file, "wb", preset=6)
    if suffix == ".bz2":
        return bz2.BZ2File(file, "wb")
    return contextlib.nullcontext(file)
