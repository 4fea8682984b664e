"""Rows of floats kept as eight-bit integers, each row with a scale of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STORAGES = ("int8", "float32")
_SOME_ROWS = 16_384


def quantized(rows: NDArray[np.float32], storage: str) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Return rows as stored, and the scale by which each is multiplied to get it back.

    >>> import numpy as np
    >>> quantized(np.array([[0.5, -1.27]], dtype=np.float32), "int8")[0].tolist()
    [[50, -127]]
    """
    if storage not in STORAGES:
        raise ValueError(f"storage is {storage!r}: give one of {', '.join(STORAGES)}.")
    if storage == "float32":
        return np.ascontiguousarray(rows, dtype=np.float32), np.ones(len(rows), dtype=np.float32)
    kept = np.empty(rows.shape, dtype=np.int8)
    scales = np.empty(len(rows), dtype=np.float32)
    # Some rows at a time: as floats they may be the largest part of a model, and are here already.
    for start in range(0, len(rows), _SOME_ROWS):
        block = slice(start, start + _SOME_ROWS)
        some = rows[block]
        largest = np.abs(some).max(axis=1, initial=0.0)
        scales[block] = np.where(largest > 0, largest / 127, 1.0)
        kept[block] = np.rint(some / scales[block, np.newaxis])
    return kept, scales


def dequantized(rows: NDArray[Any], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return stored rows as floats."""
    return rows.astype(np.float32) * scales[:, np.newaxis]
