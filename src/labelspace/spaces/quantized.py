"""Rows of floats kept as eight-bit integers, each row with a scale of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STORAGES = ("int8", "float32")


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
    largest = np.abs(rows).max(axis=1, initial=0.0)
    scales = np.where(largest > 0, largest / 127, 1.0).astype(np.float32)
    return np.rint(rows / scales[:, np.newaxis]).astype(np.int8), scales


def dequantized(rows: NDArray[Any], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return stored rows as floats."""
    return rows.astype(np.float32) * scales[:, np.newaxis]
