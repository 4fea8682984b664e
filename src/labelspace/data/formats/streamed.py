"""Texts and ids that stay in their file, and are read again each time they are gone through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, overload


class Streamed(Sequence[str]):
    """A column of strings, each made of a row of a table that is too large to be kept.

    Going through it from the beginning reads the file once; a single item reads up to it.

    Examples
    --------
    >>> column = Streamed(lambda: iter(["red", "green", "blue"]), 3)
    >>> len(column), list(column), column[1], column[1:]
    (3, ['red', 'green', 'blue'], 'green', ['green', 'blue'])
    """

    def __init__(self, read: Callable[[], Iterator[str]], length: int) -> None:
        self._read = read
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[str]:
        return self._read()

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return taken(self, range(*at.indices(self._length)))
        row = range(self._length)[at]
        return next(islice(self._read(), row, None))


def taken(strings: Sequence[str], rows: Sequence[int]) -> list[str]:
    """Return these rows of a column, in this order; a streamed one is gone through once.

    >>> taken(Streamed(lambda: iter("abc"), 3), [2, 0, 2])
    ['c', 'a', 'c']
    """
    if not isinstance(strings, Streamed):
        return [strings[row] for row in rows]
    wanted = set(rows)
    found = {row: text for row, text in enumerate(strings) if row in wanted}
    return [found[row] for row in rows]
