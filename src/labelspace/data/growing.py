"""Arrays that grow while a file is read, so that memory holds little more than the answer.

Collecting blocks in a list and joining them at the end needs the corpus twice. These arrays are
resized in place instead: for large blocks the operating system moves pages, not bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class GrowingArray:
    """A one-dimensional array with an end to append to.

    Examples
    --------
    >>> array = GrowingArray(np.int32)
    >>> array.extend(np.array([3, 1]))
    >>> array.extend(np.array([4]))
    >>> array.finish()
    array([3, 1, 4], dtype=int32)
    """

    def __init__(self, dtype: DTypeLike) -> None:
        self._array: NDArray[Any] = np.empty(0, dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, items: NDArray[Any]) -> None:
        """Append every item of an array."""
        size = self._size + len(items)
        if size > len(self._array):
            # No view of the array ever leaves this object before `finish`.
            self._array.resize(max(size, self._size + self._size // 4, 1024), refcheck=False)
        self._array[self._size : size] = items
        self._size = size

    def finish(self) -> NDArray[Any]:
        """Return the array, cut to size; this object is empty afterwards."""
        self._array.resize(self._size, refcheck=False)
        array = self._array
        self._array, self._size = np.empty(0, array.dtype), 0
        return array
