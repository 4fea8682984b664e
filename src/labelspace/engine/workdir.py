"""The folder that all workers see: a path, or an address that fsspec knows, such as ``s3://…``.

A file there is whole or not there at all. Files at an address are copied once to each machine, so
that they can be mapped into memory there as those of a path are.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from labelspace.engine.block_files import BlockContent, read_block
from labelspace.errors import EngineError
from labelspace.store.folders import flush, locked
from labelspace.store.leftovers import temporary_file

_COPIES = "labelspace-blocks"


class Workdir:
    """Block files by name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     there = Workdir(folder)
    ...     there.write("a.block", BlockContent([1, 2]))
    ...     there.has("a.block"), there.read("a.block"), there.has("b.block")
    (True, [1, 2], False)
    """

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.address = os.fspath(address)
        self.is_path = "://" not in self.address
        if self.is_path:
            self.address = os.path.abspath(self.address)

    def has(self, name: str) -> bool:
        """Tell whether a file is there."""
        if self.is_path:
            return os.path.exists(os.path.join(self.address, name))
        return bool(self._remote.exists(self._at(name)))

    def write(self, name: str, content: BlockContent) -> None:
        """Put a file in its place, in one step."""
        try:
            if self.is_path:
                self._write_path(name, content)
            else:
                # What is put into an object store is there once it is whole.
                with self._remote.open(self._at(name), "wb") as file:
                    for part in content.parts():
                        file.write(part)
        except OSError as error:
            raise EngineError(
                f"{self.address}: a block could not be written ({error.strerror or error}); check "
                "free space and permissions, then start again: finished blocks are kept."
            ) from error

    def read(self, name: str) -> Any:
        """Return what is in a file; KeyError where there is none, or none that is whole."""
        try:
            return read_block(self.local_path(name))
        except EngineError:
            raise
        except (FileNotFoundError, ValueError):
            raise KeyError(name) from None

    def local_path(self, name: str) -> Path:
        """Return a path on this machine that has a file's content."""
        if self.is_path:
            return Path(self.address, name)
        folder = hashlib.sha256(self.address.encode()).hexdigest()[:16]
        copies = _own_folder(Path(tempfile.gettempdir(), f"{_COPIES}-{_user()}")) / folder
        copies.mkdir(0o700, exist_ok=True)
        copy = copies / name
        with locked(copy):  # one process fetches for all of the machine
            if not copy.exists():
                fetched = copy.with_suffix(".fetched")
                self._remote.get_file(self._at(name), str(fetched))
                os.replace(fetched, copy)
        return copy

    def remove(self, name: str) -> None:
        """Remove a file, which may be damaged, and this machine's copy of it."""
        self.local_path(name).unlink(missing_ok=True)
        if not self.is_path:
            self._remote.rm_file(self._at(name))

    def free_bytes(self) -> int | None:
        """Return how much room is left; None where nobody knows."""
        if not self.is_path:
            return None
        found = os.statvfs(self.address)
        return found.f_bavail * found.f_frsize

    def make(self) -> None:
        """Make the folder, if it is a path."""
        if not self.is_path:
            return
        try:
            os.makedirs(self.address, exist_ok=True)
        except OSError as error:
            raise EngineError(
                f"{self.address} cannot be made ({error.strerror}): give another --workdir."
            ) from None

    def _write_path(self, name: str, content: BlockContent) -> None:
        folder = Path(self.address)
        with temporary_file(folder, f".{name}.", ".part") as (path, descriptor):
            with os.fdopen(descriptor, "wb") as file:
                for part in content.parts():
                    file.write(part)
                flush(file)
            os.replace(path, folder / name)

    def _at(self, name: str) -> str:
        return f"{self.address.rstrip('/')}/{name}"

    @cached_property
    def _remote(self) -> Any:
        try:
            import fsspec
        except ImportError:
            raise EngineError(
                f"{self.address} is no path, and fsspec, which knows addresses, is not there: "
                "pip install 'labelspace[cluster]'."
            ) from None
        try:
            return fsspec.core.url_to_fs(self.address)[0]
        except (ImportError, ValueError) as error:
            raise EngineError(f"{self.address} cannot be opened: {error}") from None


def _own_folder(folder: Path) -> Path:
    """Make a folder that nobody else can write to; one that another user has made is refused."""
    with suppress(FileExistsError):
        folder.mkdir(0o700)
    found = os.lstat(folder)
    is_ours = stat.S_ISDIR(found.st_mode) and (os.name != "posix" or found.st_uid == _user())
    if not is_ours or (os.name == "posix" and found.st_mode & 0o022):
        raise EngineError(
            f"{folder} belongs to somebody else, or others may write to it: remove it, or set "
            "TMPDIR to a folder of your own."
        )
    return folder


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
