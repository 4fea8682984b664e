"""Labels in a cell of a table: what separates them, and what they are then.

A cell may hold ``a;b``, ``a|b``, ``a,b``, a list written out (``["a", "b"]``), URIs with blanks
between, or, in formats that have lists, a list. What separates the labels is decided once, by the
first cells; a later cell that speaks against it is an error, never a label with a ``;`` in it.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from labelspace.errors import shortened

SAMPLE = 1000  # cells that are looked at before the separator is decided
NONE, LIST, BLANK = "none", "list", " "
_PLAIN = (";", "|", ",")
_URIS = re.compile(r"(?:<[^<>\s]+>|https?://\S+)(?:\s+(?:<[^<>\s]+>|https?://\S+))*")
_TRUE = {"1", "1.0", "true", "yes", "y", "x", "t"}
_FALSE = {"", "0", "0.0", "false", "no", "n", "f", "nan", "null", "none"}


def find_separator(cells: Iterable[str]) -> str:
    """Return what separates the labels in these cells; ValueError if it is not plain.

    Examples
    --------
    >>> find_separator(["roses; gardening", "books"]), find_separator(["roses", "books"])
    (';', 'none')
    >>> find_separator(["<http://a.org/1> <http://a.org/2>"]), find_separator(['["a", "b"]'])
    (' ', 'list')
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    if filled and all(cell[0] == "[" and cell[-1] == "]" for cell in filled):
        return LIST
    if filled and all(_URIS.fullmatch(cell) for cell in filled):
        uris = all("<" not in cell and not re.search(r"\s", cell) for cell in filled)
        return _between(filled) if uris else BLANK
    if any(re.search(r">\s+<", cell) and _URIS.fullmatch(cell) for cell in filled):
        word = next(cell for cell in filled if not _URIS.fullmatch(cell))
        raise ValueError(
            f'labels are URIs with blanks between in some cells, but not in "{shortened(word)}"; '
            "mend these, or say with --label-separator what separates labels."
        )
    return _between(filled)


class LabelSplitter:
    """Makes labels of cells.

    Parameters
    ----------
    separator : str, optional
        What separates labels; decided by the first cells if not given.
    is_sure : bool
        Whether a person gave it. One that was found, here or in the table of a model, is dropped
        with an error when a cell speaks against it.

    Examples
    --------
    >>> splitter = LabelSplitter(";")
    >>> splitter.split(" roses; gardening;"), splitter.split(["a", {"uri": "u:b"}])
    (['roses', 'gardening'], ['a', 'u:b'])
    """

    def __init__(self, separator: str | None, is_sure: bool = True) -> None:
        self.separator = separator
        self._is_sure = separator is not None and is_sure

    def decide(self, cells: Iterable[Any]) -> None:
        """Decide by the first cells, where nothing was given; lists say nothing."""
        texts = [cell for cell in cells if isinstance(cell, str)]
        if self._is_sure or not texts:
            return
        if self.separator is None:
            self.separator = find_separator(texts)
            return
        found = find_separator(texts)
        if found in (";", "|") and found != self.separator:
            before = "nothing" if self.separator == NONE else f'"{self.separator}"'
            raise ValueError(
                f'labels have "{found}" between them, but {before} in the table that the model '
                "learned from; say with --label-separator what separates them here."
            )

    def split(self, cell: Any) -> list[str]:
        """Return the labels of a cell, without blanks around them and without empty ones."""
        if isinstance(cell, str):
            return self._split_text(cell)
        if isinstance(cell, list | tuple):
            return [label for item in cell if (label := _label_of(item))]
        return [label] if (label := _label_of(cell)) else []

    def _split_text(self, cell: str) -> list[str]:
        cell = cell.strip()
        if not cell:
            return []
        if self.separator == LIST:
            return _listed(cell)
        if self.separator == BLANK:
            if not self._is_sure and not _URIS.fullmatch(cell):
                raise ValueError(
                    f'the labels "{shortened(cell)}" are no URIs, but cells before are; give '
                    "--label-separator with what separates labels."
                )
            return [word[1:-1] if word[0] == "<" else word for word in cell.split()]
        if not self._is_sure:
            self._check(cell)
        if self.separator == NONE or self.separator is None:
            return [cell]
        pieces = (piece.strip() for piece in cell.split(self.separator))
        return [_without_brackets(piece) for piece in pieces if piece]

    def _check(self, cell: str) -> None:
        """Refuse a cell that looks as if something else separated its labels."""
        marks: Sequence[str] = ()
        if self.separator in (NONE, None):
            marks, before = _PLAIN, "are one label each"
        elif self.separator == ",":
            marks, before = _PLAIN[:2], 'have "," between labels'
        for mark in marks:
            if mark in cell:
                raise ValueError(
                    f'the labels "{shortened(cell)}" have "{mark}" in them, but all cells before '
                    f'{before}; give --label-separator "{mark}" or '
                    f'--label-separator "{self.separator or NONE}".'
                )


def is_set(cell: Any) -> bool:
    """Return whether a cell of a column that is one label says that the row has it.

    >>> is_set("1"), is_set(0), is_set("x"), is_set(None)
    (True, False, True, False)
    """
    if cell is None:
        return False
    word = str(cell).strip().casefold()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError(
        f'"{shortened(str(cell))}" is neither 0 nor 1, as the cell of a label column is.'
    )


def check_whole(name: str, what: str) -> None:
    """Raise if a name has half a character, as JSON can write it; no file can hold it."""
    if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
        raise ValueError(f"{what} has half a character; write it as a whole one.")


def _between(cells: list[str]) -> str:
    counts = {mark: sum(mark in cell for cell in cells) for mark in _PLAIN}
    if counts[";"] and counts["|"]:
        raise ValueError(
            'labels have both ";" and "|" between them; say with --label-separator which of them '
            "separates labels."
        )
    return next((mark for mark in _PLAIN if counts[mark]), NONE)


def _listed(cell: str) -> list[str]:
    if not cell.startswith("["):
        raise ValueError(
            f'the labels "{shortened(cell)}" are no list, but cells before are; write them as '
            '["a", "b"].'
        )
    try:
        items = json.loads(cell)
    except (ValueError, RecursionError):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of escapes that Python does not know
                items = ast.literal_eval(cell)  # as Python, and pandas, write a list
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise ValueError(
                f'the labels "{shortened(cell)}" are a list that cannot be read; write ["a", "b"].'
            ) from None
    return [label for item in items if (label := _label_of(item))]


def _label_of(item: Any) -> str | None:
    """Return a label as text; an object stands for its key or its name; None where it is blank."""
    if item is None or (isinstance(item, float) and math.isnan(item)):
        return None
    if isinstance(item, dict):
        for member in ("uri", "key", "id", "label", "name"):
            if item.get(member):
                return _label_of(item[member])
        raise ValueError('a label is an object without "uri", "id" or "name"; give one of them.')
    if isinstance(item, bool | list | tuple):
        kind = "true or false" if isinstance(item, bool) else "a list in a list"
        raise ValueError(f"a label is {kind}; write its name.")
    if isinstance(item, float) and item.is_integer() and abs(item) < 2**53:
        item = int(item)  # spreadsheets have no whole numbers
    text = str(item).strip()
    return _without_brackets(text) or None


def _without_brackets(text: str) -> str:
    return text[1:-1] if text.startswith("<") and text.endswith(">") else text
