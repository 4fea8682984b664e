"""How kernels become machine code: compiled by numba when first used, once, and kept.

A kernel takes its decorator from here. numba keeps machine code beside the source or in the
home, and gives up where it may write to neither, as in a container without a home. ``njit`` finds
a place first, and compiles without keeping if there is none:

1. the folder that ``NUMBA_CACHE_DIR`` names;
2. ``__pycache__`` beside the source, which is numba's own place;
3. ``numba`` in the user's cache folder of labelspace;
4. a folder of the user's own among the temporary files.

What is kept is code that runs when it is read. So the last two are taken only if they are the
user's own and nobody else may write there.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import event, types

from labelspace import progress


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """numba's ``njit``; what ``cache=True`` asks to keep goes where we may write.

    >>> @njit(nogil=True)
    ... def double(number):
    ...     return 2 * number
    >>> double(21)
    42
    """

    def decorate(kernel: Callable[..., Any]) -> Any:
        if not options.get("cache"):
            return _for_all_numbers(numba.njit(**options)(kernel))
        folder = cache_folder(Path(kernel.__code__.co_filename).parent)
        with _kept_in(folder):
            compiled = numba.njit(**{**options, "cache": folder is not None})(kernel)
        return _for_all_numbers(compiled)

    return decorate


def _for_all_numbers(kernel: Any) -> Any:
    """Let other kernels call ``kernel`` with a number that they have written down.

    numba would compile it once for the 0 that a count begins with, and again for all others.
    """
    call_type = getattr(kernel, "get_call_template", None)
    if call_type is not None:  # else nothing is compiled: NUMBA_DISABLE_JIT is set
        kernel.get_call_template = lambda args, kws: call_type(
            [types.unliteral(arg) for arg in args],
            {name: types.unliteral(arg) for name, arg in kws.items()},
        )
    return kernel


@functools.cache
def cache_folder(source: Path) -> Path | None:
    """Return where machine code of the kernels in folder ``source`` is kept; None for nowhere."""
    chosen, beside = numba.config.CACHE_DIR, source / "__pycache__"
    if chosen and _may_write(Path(chosen)):
        return Path(chosen)
    if _may_write(beside):
        return beside
    user = user_cache()
    if user is not None and _is_ours(user / "labelspace" / "numba"):
        return user / "labelspace" / "numba"
    return _temporary()


@contextmanager
def _kept_in(folder: Path | None) -> Iterator[None]:
    """Let numba look at ``folder`` for the kernels of the block, and for no one else's.

    numba goes to ``__pycache__`` by itself, and calls the files there by other names.
    """
    before = numba.config.CACHE_DIR
    if folder is not None and folder.name != "__pycache__":
        numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def user_cache() -> Path | None:
    """Return the folder for what programs may forget, by the rules of the platform."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return Path(local) if local else None
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(chosen) and sys.platform != "darwin":
        return Path(chosen)
    home = Path(os.path.expanduser("~"))
    if not home.is_absolute():
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


@functools.cache
def _temporary() -> Path | None:
    """Return a private folder among the temporary files: the one of all our runs, or a new one."""
    try:
        among = Path(tempfile.gettempdir()).resolve()
        if hasattr(os, "getuid"):
            known = among / f"labelspace-{os.getuid()}"
            if _is_ours(known):
                return known
        fresh = Path(tempfile.mkdtemp(prefix="labelspace-", dir=among))
    except OSError:
        return None
    atexit.register(shutil.rmtree, fresh, ignore_errors=True)
    return fresh


def _is_ours(folder: Path) -> bool:
    """Make ``folder``; tell whether it is the user's own and only the user may write there.

    Whoever may write to a folder above could put another in its place, unless that folder is
    sticky, as the one for temporary files is.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if hasattr(os, "getuid"):
            own = folder.lstat()
            if not stat.S_ISDIR(own.st_mode) or own.st_uid != os.getuid() or own.st_mode & 0o022:
                return False
            for above in folder.resolve().parents:
                mode = above.stat().st_mode
                if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                    return False
    except OSError:
        return False
    return _may_write(folder)


def _may_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


class _TellProgress(event.Listener):
    """Tell whoever shows progress that kernels of ours are being compiled, and when it is over."""

    def __init__(self) -> None:
        self._n_open = 0

    def on_start(self, event: event.Event) -> None:
        if _is_kernel(event):
            self._n_open += 1
            progress.compiling(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: event.Event) -> None:
        if _is_kernel(event):
            self._n_open -= 1
            if self._n_open == 0:
                progress.compiling(None)


def _is_kernel(event: event.Event) -> bool:
    return event.data["dispatcher"].py_func.__module__.startswith("labelspace.")


# Kernels that another one calls are compiled within it, and numba compiles on one thread at a time.
event.register("numba:compile", _TellProgress())
