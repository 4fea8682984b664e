"""Folders of models: put in place, found and guarded.

A folder is filled beside its place, flushed to disk and put there by one rename, so that a save
that is killed leaves the old model.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from labelspace.errors import ModelFileError
from labelspace.store.leftovers import temporary_folder, turn

MANIFEST = "manifest.json"
LOCK_POLL_SECONDS = 0.01


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a new folder to fill, which takes the place of the model ``target`` if all goes well."""
    check_replaceable(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_old(target)
        with temporary_folder(target.parent, f".{target.name}.saving-") as temporary:
            yield temporary
            _put_in_place(temporary, target)
    except OSError as error:
        raise ModelFileError(
            f"{target}: the model could not be saved ({error.strerror or error}); "
            "check free space and permissions."
        ) from error


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Let one process at a time change ``path``: others wait here.

    The lock is the system's, on a file beside ``path``, so it ends with a process that is killed.
    """
    from filelock import FileLock

    target = Path(os.path.abspath(path))
    # The server takes the lock on one thread and gives it back on another.
    lock = FileLock(target.parent / f".{target.name}.lock", mode=0o600, thread_local=False)
    with lock.acquire(poll_interval=LOCK_POLL_SECONDS):
        yield


def size_in_bytes(path: str | os.PathLike[str]) -> int:
    """Return how much room the model folder takes on disk."""
    return sum(file.stat().st_size for file in Path(path).iterdir() if file.is_file())


def flush(file: Any) -> None:
    """Bring what was written to an open file onto the disk."""
    file.flush()
    os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Bring the names of a folder's files onto the disk, where the system can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def check_replaceable(target: Path) -> None:
    """Raise if a model cannot be saved to ``target`` or would overwrite something else."""
    place = next(one for one in target.absolute().parents if os.path.exists(one))
    if not place.is_dir():
        raise ModelFileError(f"{target} cannot be made, since {place} is a file: give a folder.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise ModelFileError(
            f"{target} cannot be made, since {place} may not be written to: give another folder "
            "or change its permissions."
        )
    if not os.path.exists(target):
        return
    if not target.is_dir():
        raise ModelFileError(f"{target} is a file: give a folder for the model.")
    if any(target.iterdir()) and not (target / MANIFEST).exists():
        raise ModelFileError(
            f"{target} has files in it that are not a model: give an empty or new folder."
        )


def _put_in_place(temporary: Path, target: Path) -> None:
    """Rename ``temporary`` to ``target``; a model that is there stays whole until it is gone."""
    with turn(target.parent):
        if not target.exists():
            os.rename(temporary, target)
        elif not _exchange(temporary, target):  # else ``temporary`` is the old model now
            # Without an atomic exchange there is a moment with no model at ``target``; existing
            # brings the old one back if the process dies in it.
            old = target.parent / f".{target.name}.old-{uuid.uuid4().hex[:8]}"
            os.rename(target, old)
            os.rename(temporary, target)
            shutil.rmtree(old, ignore_errors=True)
    flush_folder(target.parent)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two folders in one step, where the system can (Linux)."""
    at_working_folder, exchange = -100, 2
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return (
        renameat2(
            at_working_folder,
            os.fsencode(one.absolute()),
            at_working_folder,
            os.fsencode(other.absolute()),
            exchange,
        )
        == 0
    )


def existing(folder: Path) -> Path:
    """Return the folder if a model may be there; one that a killed save set aside comes back."""
    if not folder.exists() and folder.parent.is_dir():
        with turn(folder.parent):  # a save may be about to put one there
            if not folder.exists():
                for old in _set_aside(folder)[:1]:
                    os.rename(old, folder)
    if not folder.exists():
        raise ModelFileError(
            f"{folder} does not exist: give a folder that 'labelspace train' or save() made."
        )
    if not folder.is_dir():
        raise ModelFileError(f"{folder} is a file, not a model folder: give the folder.")
    return folder


def _remove_old(target: Path) -> None:
    """Remove models that killed saves have set aside, where a newer one is in place."""
    for old in _set_aside(target):
        with turn(target.parent):
            if target.exists():
                shutil.rmtree(old, ignore_errors=True)


def _set_aside(target: Path) -> list[Path]:
    ours = re.compile(re.escape(f".{target.name}.old-") + "[0-9a-f]{8}")
    with suppress(OSError):
        return sorted(one for one in target.parent.iterdir() if ours.fullmatch(one.name))
    return []
