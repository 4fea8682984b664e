"""How many threads a piece of work may use, said once for every library underneath.

numba, BLAS, faiss and torch each keep a thread count of their own. ``limit`` sets them all for
the length of a ``with`` block, so that ``n_threads`` means the same in every method.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from threadpoolctl import ThreadpoolController

Made = TypeVar("Made")
# Rows that a thread answers at a time.
_BLOCK = 1024


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


@contextmanager
def limit(n_threads: int | None) -> Iterator[int]:
    """Run the block with ``n_threads`` threads in numba, BLAS, faiss and (if in use) torch.

    None leaves them as they are, at every core, and costs nothing.
    """
    with _taking_turns():
        if n_threads is None:
            yield available()
            return
        with _set(resolve(n_threads)) as wanted:
            yield wanted


def train_in_parallel(
    train: Callable[[int], Made], seeds: Sequence[int], n_threads: int | None
) -> list[Made]:
    """Train one learner per seed, as many at a time as there are threads.

    Each uses one thread, so that its sums are added in the same order however many run.
    """
    with limit(1), ThreadPoolExecutor(resolve(n_threads)) as pool:
        return list(pool.map(train, seeds))


def in_blocks(
    answer: Callable[[csr_matrix], Made], X: csr_matrix, n_threads: int | None
) -> list[Made]:
    """Return the answers to blocks of rows, which are dealt to threads."""
    starts = range(0, X.shape[0], _BLOCK)
    if len(starts) <= 1:
        return [answer(X)]
    with ThreadPoolExecutor(resolve(n_threads)) as pool:
        return list(pool.map(lambda start: answer(X[start : start + _BLOCK]), starts))


# Where there is neither OpenMP nor TBB, numba ends the process if two Python threads run parallel
# kernels at once; then callers take turns.
_turn = threading.RLock()


def _taking_turns() -> AbstractContextManager[Any]:
    import numba

    try:
        safe = numba.threading_layer() != "workqueue"
    except ValueError:  # no parallel kernel has run yet, so nobody knows
        safe = False
    return nullcontext() if safe else _turn


@contextmanager
def _set(wanted: int) -> Iterator[int]:
    import faiss
    import numba

    numba_before = numba.get_num_threads()
    faiss_before = faiss.omp_get_max_threads()
    torch = sys.modules.get("torch")
    torch_before = torch.get_num_threads() if torch is not None else None
    # numba cannot go beyond the pool that it started with.
    numba.set_num_threads(min(wanted, numba.config.NUMBA_NUM_THREADS))
    faiss.omp_set_num_threads(wanted)
    if torch is not None:
        torch.set_num_threads(wanted)
    try:
        with _libraries(len(sys.modules)).limit(limits=wanted):
            yield wanted
    finally:
        numba.set_num_threads(numba_before)
        faiss.omp_set_num_threads(faiss_before)
        if torch is not None:
            torch.set_num_threads(torch_before)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Return the BLAS and OpenMP libraries in use, looked for again once more is imported.

    To look for them takes longer than a prediction for one row.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
