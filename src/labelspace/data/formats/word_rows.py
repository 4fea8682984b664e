"""Rows of labels or features that a text format names by word or by number.

Words are numbered as they come and kept once, so that a file's rows need four bytes per label
while it is read; which column each word gets is decided at the end, when all are known.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.data.formats.names import (
    Columns,
    NameFile,
    can_be_beside,
    check_width,
    columns_of_ids,
    columns_of_words,
    fitting_names,
    is_id,
    names_beside,
    numbers_are_columns,
)
from labelspace.data.text.packed_texts import PackedTexts


class WordRows:
    """Rows of words, or of numbers; not of both.

    Examples
    --------
    >>> rows = WordRows()
    >>> rows.add(["red", "green"])
    True
    >>> rows.add([3])
    False
    >>> rows.add([])
    True
    >>> indices, indptr = rows.arrays()
    >>> indices.tolist(), indptr.tolist()
    ([0, 1], [0, 2, 2])
    """

    def __init__(self) -> None:
        self._number_of: dict[str, int] = {}
        self._indices = array("i")
        self._indptr = array("q", [0])
        self._kind: type | None = None

    def add(self, items: Iterable[str | int]) -> bool:
        """Append a row; return False if it mixes words with numbers, here or with rows before."""
        number_of = self._number_of
        for item in items:
            if self._kind is not type(item):
                if self._kind is not None:
                    return False
                self._kind = type(item)
            if isinstance(item, str):
                item = number_of.setdefault(item, len(number_of))
            self._indices.append(item)
        self._indptr.append(len(self._indices))
        return True

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the rows as CSR's ``indices`` and ``indptr``, before any placing."""
        return np.frombuffer(self._indices, np.int32), np.frombuffer(self._indptr, np.int64)

    def packed(self) -> tuple[Any, ...]:
        """Return the rows as what can be written to a block's file: the arguments of ``extend``."""
        kind = None if self._kind is None else self._kind.__name__
        return kind, tuple(PackedTexts.of(self._number_of)), *self.arrays()

    def extend(
        self,
        kind: str | None,
        words: tuple[NDArray[Any], NDArray[Any]],
        indices: NDArray[np.int32],
        indptr: NDArray[np.int64],
    ) -> bool:
        """Append rows as ``packed`` gives them, as if each had been added; False if kinds mix.

        >>> one, both = WordRows(), WordRows()
        >>> one.add(["red", "green"]), both.add(["green"]), both.extend(*one.packed())
        (True, True, True)
        >>> [part.tolist() for part in both.arrays()]
        [[0, 1, 0], [0, 1, 3]]
        """
        if kind is not None:
            found = {"str": str, "int": int}[kind]
            if self._kind not in (None, found):
                return False
            self._kind = found
        if kind == "str":
            number_of = self._number_of
            numbers = [number_of.setdefault(w, len(number_of)) for w in PackedTexts(*words).all()]
            indices = np.array(numbers, dtype=np.int32)[indices]
        n_before = len(self._indices)
        self._indices.frombytes(np.ascontiguousarray(indices, dtype=np.int32).tobytes())
        self._indptr.frombytes((indptr[1:] + n_before).astype(np.int64).tobytes())
        return True

    def place(
        self,
        path: Path,
        filename: str | None,
        names: Sequence[str] | None,
        n_columns: int | None,
        are_features: bool = False,
        are_columns: bool = False,
        beside: NameFile | None = None,
    ) -> tuple[NDArray[np.integer], Columns]:
        """Return the column of every item in the rows, and what the columns are.

        ``filename`` is what may give names beside the corpus, unless ``beside`` does; ``names``
        and ``n_columns`` are a trained model's. Features that are numbers are columns; labels are
        with ``are_columns``, or if ``numbers_are_columns`` says it.
        """
        indices: NDArray[np.integer] = self.arrays()[0]
        if beside is None and filename is not None:
            beside = names_beside(path, filename)
        words = list(self._number_of)
        if self._kind is int:
            n_seen = int(indices.max(initial=-1)) + 1
            by_number = are_features or are_columns
            if by_number or numbers_are_columns(n_seen - 1, beside, names, n_columns):
                own = fitting_names(beside, n_seen, path, exactly=False)
                if own is None:
                    n_known = max(n_columns or 0, len(names or ()))
                    what = "features" if are_features else "labels"
                    check_width(n_seen, indices, path, n_known, what)
                placed = columns_of_ids(indices, n_seen, own, names, n_columns)
                return (indices if placed.column is None else placed.column[indices]), placed
            numbers, indices = np.unique(indices, return_inverse=True)
            words = [str(number) for number in numbers]
        placed = columns_of_words(words, beside, names, n_columns, are_features, path)
        return (indices if placed.column is None else placed.column[indices]), placed


def words_to_write(
    names: Sequence[str] | None, matrix: csr_matrix, forbidden: str, path: Path, filename: str
) -> tuple[Sequence[str] | None, Sequence[str] | None]:
    """Return the names to write for a matrix's columns, and those to keep in a file beside it.

    Where names cannot stand in the corpus (because two are equal, one looks like a number or one
    contains what matches ``forbidden``) the columns' numbers are written: the first is None. A
    file beside it is needed for them, and where order or number of columns cannot be told from
    the names in the rows; then it is left out if another corpus has its own there.
    """
    if names is None:
        return None, None
    bad = re.compile(forbidden)
    distinct = len(set(names)) == len(names)
    if not distinct or any(is_id(name) or bad.search(name) for name in names):
        return None, names
    all_used = len(np.unique(matrix.indices)) == len(names)
    if all_used and list(names) == sorted(names):
        return names, None
    return names, names if can_be_beside(path, filename, names) else None
