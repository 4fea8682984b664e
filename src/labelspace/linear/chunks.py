"""Problems dealt to threads or to an engine in chunks: what all solvers of many classifiers do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from labelspace import engine, progress, threads

Chunk = NDArray[np.int64]
Solution = TypeVar("Solution")
Inputs = TypeVar("Inputs")


def solve_chunks(
    solve: Callable[[Inputs, Chunk], Solution],
    inputs: Inputs,
    chunks: Sequence[Chunk],
    title: str,
    n_threads: int | None,
) -> list[Solution]:
    """Return what ``solve`` makes of the inputs and each chunk, in the chunks' order.

    An engine finds ``solve`` by its name, and gives tuples as plain ones.

    >>> solve_chunks(np.power, 2, [np.arange(3), np.arange(2)], "powers of two", n_threads=2)
    [array([1, 2, 4]), array([1, 2])]
    """
    if engine.is_active():
        sizes = [len(chunk) for chunk in chunks]
        return engine.run_blocks(solve, inputs, chunks, title, sizes)
    solved = []
    with (
        progress.task(title, total=sum(len(chunk) for chunk in chunks)) as advance,
        ThreadPoolExecutor(threads.resolve(n_threads)) as pool,
    ):
        for chunk, part in zip(chunks, pool.map(partial(solve, inputs), chunks), strict=True):
            solved.append(part)
            advance(len(chunk))
    return solved
