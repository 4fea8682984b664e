"""Problems dealt to threads in chunks, with progress: what all solvers of many classifiers do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from labelspace import progress, threads

Chunk = NDArray[np.int64]
Solution = TypeVar("Solution")


def solve_chunks(
    solve: Callable[[Chunk], Solution],
    chunks: Sequence[Chunk],
    title: str,
    n_threads: int | None,
) -> list[Solution]:
    """Return what ``solve`` makes of each chunk, in their order.

    >>> solve_chunks(np.sum, [np.arange(3), np.arange(5)], "adding up", n_threads=2)
    [np.int64(3), np.int64(10)]
    """
    solved = []
    with (
        progress.task(title, total=sum(len(chunk) for chunk in chunks)) as advance,
        ThreadPoolExecutor(threads.resolve(n_threads)) as pool,
    ):
        for chunk, part in zip(chunks, pool.map(solve, chunks), strict=True):
            solved.append(part)
            advance(len(chunk))
    return solved
