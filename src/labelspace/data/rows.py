"""Rows of either kind, as models take them: texts, or features as a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from itertools import islice
from typing import Any

import numpy as np
from scipy.sparse import issparse

from labelspace.csr import NamedColumns
from labelspace.errors import DataError


def is_matrix(rows: Any) -> bool:
    """Tell features from texts: they are a sparse matrix, a 2-d array or ``NamedColumns``."""
    return (
        issparse(rows)
        or isinstance(rows, NamedColumns)
        or (isinstance(rows, np.ndarray) and rows.ndim == 2)
    )


def count_rows(rows: Any) -> int | None:
    """Return how many rows there are; None where only going through them would tell.

    >>> count_rows(["a red ball"]), count_rows(np.zeros((3, 2))), count_rows(iter(["a cube"]))
    (1, 3, None)
    """
    if is_matrix(rows):
        return int(plain(rows).shape[0])
    return len(rows) if isinstance(rows, Sized) else None


def row_blocks(rows: Any, size: int) -> Iterator[Any]:
    """Return an iterator over ``size`` rows at a time, of the same kind; texts as they are read.

    >>> list(row_blocks(iter(["red", "green", "blue"]), 2))
    [['red', 'green'], ['blue']]
    """
    if is_matrix(rows):
        matrix = plain(rows)
        return (matrix[start : start + size] for start in range(0, matrix.shape[0], size))
    if isinstance(rows, str):
        raise DataError("A single text was given where a list is needed: write [text].")
    texts = iter(rows)
    return iter(lambda: list(islice(texts, size)), [])


def one_text(text: Any) -> str:
    """Return a text as it is; anything else is an error that says what is needed."""
    if not isinstance(text, str):
        raise DataError(
            f"A text is needed, but this is of type {type(text).__name__}: give a string "
            "(tag_many takes a list of them)."
        )
    return text


def plain(rows: Any) -> Any:
    return rows.values if isinstance(rows, NamedColumns) else rows
