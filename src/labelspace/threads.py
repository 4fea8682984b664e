"""How many threads a piece of work may use, said once for every library underneath.

Our own kernels are dealt to threads of Python; BLAS, faiss and torch each keep a thread count of
their own. ``limit`` sets them all for the length of a ``with`` block, so that ``n_threads`` means
the same in every method.

BLAS has one count for the whole process. While several threads have limits it gets the smallest,
and once the last of them is done, what it had before the first.

A process that was forked has none of its parent's threads, but OpenMP, on which faiss and torch
build, waits for them for ever. So in such a process these libraries run on one thread, which asks
nobody. Our own kernels are compiled without numba's threads, which would end the process instead.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from threadpoolctl import ThreadpoolController

Made = TypeVar("Made")
# More threads than any machine has cores are a mistake, and starting them would end the process.
MOST = 4096
# Rows that a thread answers at a time.
_BLOCK = 1024
# Pieces of work for each thread: enough to even out rows of different length.
_PIECES = 8


def available() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve(n_threads: int | None) -> int:
    """Return the number of threads meant by ``n_threads`` (None or -1: every core).

    >>> resolve(3)
    3
    """
    return available() if n_threads is None or n_threads == -1 else n_threads


def current() -> int:
    """Return how many threads work that the calling thread starts may use.

    >>> with limit(1):
    ...     current()
    1
    """
    return getattr(_of_this_thread, "n_threads", None) or available()


@contextmanager
def limit(n_threads: int | None, n_blas: int | None = None) -> Iterator[int]:
    """Run the block with ``n_threads`` threads, of our own and in BLAS, faiss and torch.

    None leaves them as they are, at every core, and costs nothing. ``n_blas`` is another count for
    BLAS: what is learned takes 1, since BLAS rounds in another way on more of them, and the same
    seed has to give the same model on any number of threads.
    """
    if n_threads is None and not _is_forked:
        with _blas_at(n_blas) if n_blas is not None else nullcontext():
            yield available()
        return
    wanted, before = resolve(n_threads), getattr(_of_this_thread, "n_threads", None)
    _of_this_thread.n_threads = wanted
    of_libraries = 1 if _is_forked else wanted
    try:
        with _libraries_at(of_libraries, min(n_blas or of_libraries, of_libraries)):
            yield wanted
    finally:
        _of_this_thread.n_threads = before


def deal(work: Callable[[int, int], None], n_rows: int, least: int = 1) -> None:
    """Do ``work(first, last)`` for all of ``n_rows``, dealt to threads where they are many.

    Parameters
    ----------
    work : callable
        Lets go of Python's lock, as kernels do that are compiled with ``nogil=True``.
    n_rows : int
    least : int
        Rows for which a thread is worth its while.

    >>> from labelspace import threads
    >>> done = []
    >>> threads.deal(lambda first, last: done.extend(range(first, last)), 100)
    >>> sorted(done) == list(range(100))
    True
    """
    n_threads = min(current(), n_rows // least)
    if n_threads <= 1:
        work(0, n_rows)
        return
    n_pieces = min(n_rows, _PIECES * n_threads)
    ends = [n_rows * piece // n_pieces for piece in range(n_pieces + 1)]
    with ThreadPoolExecutor(n_threads, initializer=_work_alone) as pool:
        list(pool.map(work, ends[:-1], ends[1:]))


def train_in_parallel(
    train: Callable[[int], Made], seeds: Sequence[int], n_threads: int | None
) -> list[Made]:
    """Train one learner per seed, as many at a time as there are threads.

    Each uses one thread, so that its sums are added in the same order however many run.
    """
    pool = ThreadPoolExecutor(resolve(n_threads), initializer=_work_alone)
    is_stopped = False
    with limit(1):
        try:
            return list(pool.map(train, seeds))
        except KeyboardInterrupt:
            is_stopped = True  # nobody waits for learners that nobody wants
            raise
        finally:
            pool.shutdown(wait=not is_stopped, cancel_futures=is_stopped)


def in_blocks(
    answer: Callable[[csr_matrix], Made], X: csr_matrix, n_threads: int | None
) -> list[Made]:
    """Return the answers to blocks of rows, which are dealt to threads."""
    starts = range(0, X.shape[0], _BLOCK)
    if len(starts) <= 1:
        return [answer(X)]
    with ThreadPoolExecutor(resolve(n_threads), initializer=_work_alone) as pool:
        return list(pool.map(lambda start: answer(X[start : start + _BLOCK]), starts))


_of_this_thread = threading.local()


def _work_alone() -> None:
    """Let the calling thread, one of many that share some work, start no others.

    OpenMP has a count for each thread, and a new one begins with every core, whatever ``limit``
    its caller has. On it faiss builds, and BLAS within faiss, whose sums follow from the count.
    """
    _of_this_thread.n_threads = 1
    for library in _libraries(len(sys.modules)).openmp.lib_controllers:
        library.set_num_threads(1)


class _Limit(NamedTuple):
    thread: int
    n_threads: int | None  # None where BLAS alone has one
    n_blas: int


class _Libraries(NamedTuple):
    """What has a thread count: BLAS one for the process, OpenMP one for each calling thread."""

    blas: list[Any]
    openmp: ThreadpoolController


# Limits in force, and what BLAS and torch had before the first of them.
_limits: list[_Limit] = []
_before: dict[str, int] = {}
_lock = threading.Lock()
_is_forked = False


@contextmanager
def _libraries_at(wanted: int, n_blas: int) -> Iterator[None]:
    import faiss

    faiss_before = faiss.omp_get_max_threads()
    # torch sets OpenMP's count too, so this is what has to be put back last.
    with _libraries(len(sys.modules)).openmp.limit(limits=wanted), _blas_at(n_blas, wanted):
        faiss.omp_set_num_threads(wanted)
        try:
            yield
        finally:
            faiss.omp_set_num_threads(faiss_before)


@contextmanager
def _blas_at(n_blas: int, wanted: int | None = None) -> Iterator[None]:
    """Let BLAS, and torch if a count is ``wanted`` for all, have so many threads."""
    blas = _libraries(len(sys.modules)).blas
    mine = _Limit(threading.get_ident(), wanted, n_blas)
    with _lock:
        _limits.append(mine)
        _set_shared(blas)
    try:
        yield
    finally:
        with _lock:
            if mine in _limits:  # else it is another process's, which has been forked
                _limits.remove(mine)
            _set_shared(blas)


def _set_shared(blas: list[Any]) -> None:
    """Give what all threads share the smallest count that is wanted, or what it had before."""
    n_blas = min((one.n_blas for one in _limits), default=None)
    for library in blas:
        before = _before.setdefault(library.filepath, library.num_threads)
        library.set_num_threads(before if n_blas is None else n_blas)
    wanted = min((one.n_threads for one in _limits if one.n_threads is not None), default=None)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):  # else it is being imported
        before = _before.setdefault("torch", torch.get_num_threads())
        torch.set_num_threads(before if wanted is None else wanted)
    if not _limits:
        _before.clear()


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> _Libraries:
    """Return the BLAS and OpenMP libraries in use, looked for again once more is imported.

    To look for them takes longer than a prediction for one row.
    """
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController()
    blas = found.select(user_api="blas").lib_controllers
    return _Libraries(blas, found.select(user_api="openmp"))


def _after_fork() -> None:
    """Forget the threads of the parent process, and the lock that one of them may have held."""
    global _is_forked, _lock
    _is_forked = True
    _lock = threading.Lock()
    _limits[:] = [one for one in _limits if one.thread == threading.get_ident()]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
