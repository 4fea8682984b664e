"""Texts as two arrays, which can be written to a block's file and mapped by all its workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class PackedTexts(NamedTuple):
    """Texts one behind the other as UTF-8, and where each begins.

    Examples
    --------
    >>> packed = PackedTexts.of(["red", "", "grün"])
    >>> packed.starts.tolist(), list(packed.between(1, 3))
    ([0, 3, 3, 8], ['', 'grün'])
    """

    content: NDArray[np.uint8]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> PackedTexts:
        """Pack texts, even those with half of a character in them."""
        packed = bytearray()
        starts = [0]
        for text in texts:
            packed += text.encode("utf-8", "surrogatepass")
            starts.append(len(packed))
        return cls(np.frombuffer(packed, dtype=np.uint8), np.array(starts, dtype=np.int64))

    def between(self, first: int, end: int) -> Iterator[str]:
        """Yield the texts from ``first`` up to ``end``."""
        for row in range(first, end):
            text = self.content[self.starts[row] : self.starts[row + 1]].tobytes()
            yield text.decode("utf-8", "surrogatepass")

    @property
    def n_texts(self) -> int:
        """How many texts there are."""
        return len(self.starts) - 1

    def all(self) -> Iterator[str]:
        """Yield all texts."""
        return self.between(0, self.n_texts)
