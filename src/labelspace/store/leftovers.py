"""Temporary files and folders that do not outlive their process for long.

Whoever makes one holds a lock of the system on it, which ends with the process, however that
ends. So what is left by a process that was killed can be told from what a living one is using, also
one in another container that has the same number, and the next who writes there removes it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# Where there are no such locks, what nobody has written to for so long is left behind.
OLD_SECONDS = 24 * 3600.0

# Seconds to wait for a turn.
TURN_SECONDS = 10.0

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@contextmanager
def temporary_folder(parent: Path, prefix: str, mode: int = 0o777) -> Iterator[Path]:
    """Make a folder in ``parent`` that is removed at the end, and those that others have left.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     with temporary_folder(Path(parent), "work-") as folder:
    ...         folder.is_dir()
    ...     folder.exists()
    True
    False
    """
    remove_leftovers(parent, prefix)
    release = None
    while release is None:
        folder = parent / _new_name(prefix)
        folder.mkdir(mode)
        release = hold(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        release()


@contextmanager
def temporary_file(parent: Path, prefix: str, suffix: str) -> Iterator[tuple[Path, int]]:
    """Make a file in ``parent``, and give its descriptor; like ``temporary_folder``.

    The caller closes the descriptor; the file stays held until it is renamed or removed.
    """
    remove_leftovers(parent, prefix, suffix)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    while True:
        path = parent / (_new_name(prefix) + suffix)
        # os.open, not tempfile: the file gets the permissions that the user's umask gives.
        descriptor = os.open(path, flags, 0o666)
        release = _hold_opened(path, os.dup(descriptor))
        if release is not None:
            break
        os.close(descriptor)
    try:
        yield path, descriptor
    finally:
        with suppress(OSError):
            path.unlink()
        release()


def hold(path: Path) -> Callable[[], None] | None:
    """Keep others from taking ``path`` for a leftover, until what is returned is called.

    None where somebody else holds it, or has removed it.
    """
    if fcntl is None:
        return _nothing
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_LINK)
    except FileNotFoundError:
        return None
    except OSError:
        return _nothing  # others cannot open it either
    return _hold_opened(path, descriptor)


def remove_leftovers(parent: Path, prefix: str, suffix: str = "") -> None:
    """Remove temporary files and folders whose process is dead."""
    ours = re.compile(re.escape(prefix) + "[0-9]+-[0-9a-f]{8}" + re.escape(suffix))
    with suppress(OSError):
        for name in os.listdir(parent):
            if ours.fullmatch(name):
                _remove_if_left(parent / name)


def leave_behind(path: Path, prefix: str) -> None:
    """Give a file or folder the name of a leftover beside it, so that it goes as one."""
    with suppress(OSError):
        os.rename(path, path.parent / _new_name(prefix))


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """Let one process at a time rename what is in a folder, where the system has such locks.

    Renaming takes no time, so that a folder which is taken for long is so for other reasons.
    """
    descriptor = None
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        _wait_for(descriptor)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _wait_for(descriptor: int) -> None:
    ends = time.monotonic() + TURN_SECONDS
    while fcntl is not None and time.monotonic() < ends:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.002)


def _new_name(prefix: str) -> str:
    return f"{prefix}{os.getpid()}-{secrets.token_hex(4)}"


def _hold_opened(path: Path, descriptor: int) -> Callable[[], None] | None:
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        pass  # a file system without locks, on which nobody takes it for a leftover
    if not _is_at(path, descriptor):
        os.close(descriptor)
        return None
    return partial(os.close, descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Tell whether an open file is still the one of that name."""
    try:
        there, opened = os.stat(path, follow_symlinks=False), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (opened.st_dev, opened.st_ino)


def _remove_if_left(path: Path) -> None:
    with suppress(OSError):
        if fcntl is None:
            if time.time() - path.stat().st_mtime > OLD_SECONDS:
                _remove(path)
            return
        descriptor = os.open(path, os.O_RDONLY | _NO_LINK)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
        finally:
            os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def _nothing() -> None:
    """Let go of what was not held."""
