"""Names of labels and features: where they come from and which column each one gets.

A label reaches us as an id (XC text, JSON numbers), as a word (TSV, JSON strings), or as an id
whose name stands in ``labels.txt`` beside the corpus. A trained model may already have names for
its columns. This file turns all of that into one answer, ``Columns``:

- ids without names keep their number;
- named labels go, by name, to the column that the model has for that name, and names that it
  does not know get new columns at the end;
- words without a model are numbered in sorted order.

Labels that are all whole numbers (``17,4``) are lines of ``labels.txt`` beside the corpus, counted
from 0, where it has a line for each, or columns of a trained model that has no names itself. If
neither is there they are names like any others: the numbers of a catalogue are no columns.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelspace.data.formats.compression import open_input, open_output
from labelspace.errors import DataError, LabelspaceWarning

LABELS_FILE = "labels.txt"
FEATURES_FILE = "features.txt"
MAX_INDEX = 2**31 - 1
# More columns than these for few that are in use are hardly meant, and each costs memory: numbers
# of labels may be those of a catalogue, while a header may be that of a far larger corpus.
_WIDE = 100_000
_WIDE_IF_TOLD = 1 << 20
_WIDE_PER_USED = 1000

_ID = re.compile(r"0|[1-9][0-9]{0,9}")


class Columns(NamedTuple):
    """Where the labels (or features) of a file go: ``column[i]`` for the file's ``i``."""

    column: NDArray[np.int64] | None  # None: stay where they are
    n_columns: int
    names: list[str] | None


@dataclass
class NameFile:
    """``labels.txt``: a name per line, or a key and a name; the id is the line number from 0."""

    path: Path
    names: list[str]
    keys: list[str] | None

    def keys_of(self, names: Sequence[str] | None) -> list[str] | None:
        """Return the keys of columns that begin as these lines do; None if they are no keys."""
        keys, n_lines = self.keys or [], len(self.names)
        if names is None or not all(keys) or len(set(keys)) != n_lines:
            return None
        return [*keys, *names[n_lines:]] if list(names[:n_lines]) == self.names else None

    def find(self, words: Sequence[str]) -> list[int]:
        """Return the line of each word, looked up as a key, then as a name; -1 if it is neither."""
        line_of: dict[str, int] = {}
        for column in (self.keys, self.names):
            for line, word in enumerate(column or ()):
                line_of.setdefault(word, line)
        return [line_of.get(word, -1) for word in words]


def names_beside(corpus: Path, filename: str) -> NameFile | None:
    """Read ``labels.txt`` (or ``features.txt``) in the folder of a corpus, if there is one."""
    path = corpus.parent / filename
    if not path.is_file() or corpus.name == filename:
        return None
    names, keys = [], []
    has_keys = False
    with open_input(path) as stream:
        for number, raw in enumerate(stream):
            line = decode(raw, path, number + 1)
            key, tab, name = line.partition("\t")
            has_keys = has_keys or bool(tab)
            keys.append(key)
            name = name.partition("\t")[0]
            names.append(name if name.strip() else key if key.strip() else str(number))
    return NameFile(path, names, keys if has_keys else None)


def fitting_names(
    beside: NameFile | None, n_columns: int, corpus: Path, exactly: bool
) -> list[str] | None:
    """Return the names of a file beside a corpus if there are enough of them, else warn."""
    if beside is None:
        return None
    n_names = len(beside.names)
    if n_names == n_columns or (n_names > n_columns and not exactly):
        return beside.names
    warnings.warn(
        f"{beside.path} is ignored: it has {n_names} lines, but {corpus.name} needs {n_columns}.",
        LabelspaceWarning,
        stacklevel=2,
    )
    return None


@contextlib.contextmanager
def names_kept_beside(
    corpus: Path, names_of_file: Mapping[str, Sequence[str] | None]
) -> Iterator[None]:
    """Write names beside a corpus that is written in the block; if that fails, take them away.

    A file that already says the same, or more, is left alone; one that says less is completed;
    one that says something else belongs to another corpus and is an error.
    """
    created: list[Path] = []
    before = _identity(corpus)
    try:
        for filename, names in names_of_file.items():
            if names is None:
                continue
            path = corpus.parent / filename
            if not can_be_beside(corpus, filename, names):
                raise DataError(
                    f"{path} holds other names than this corpus; "
                    "write to another folder, or move it."
                )
            there = names_beside(corpus, filename)
            if there is not None and len(there.names) >= len(names):
                continue
            if there is None:
                created.append(path)
            with open_output(path) as file:
                file.write("".join(f"{name}\n" for name in _on_lines(names)).encode())
        yield
    except BaseException:
        if _identity(corpus) == before:  # else it is in place, and needs them
            for path in created:
                path.unlink(missing_ok=True)
        raise


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what changes when another file takes the place of one."""
    found = path.stat() if path.exists() else None
    return None if found is None else (found.st_ino, found.st_mtime_ns)


def can_be_beside(corpus: Path, filename: str, names: Sequence[str]) -> bool:
    """Return whether a file beside a corpus is missing, or begins as these names do."""
    there = names_beside(corpus, filename)
    return there is None or _agree(_on_lines(names), there.names)


def columns_of_ids(
    used: NDArray[np.integer],
    n_seen: int,
    own: Sequence[str] | None,
    names: Sequence[str] | None,
    n_columns: int | None,
) -> Columns:
    """Place labels that are numbers below ``n_seen``, and have names of their ``own`` or not.

    ``used`` are the numbers that occur, as often as they do; ``names`` and ``n_columns`` are
    those of a trained model.

    Examples
    --------
    >>> columns_of_ids(np.array([0, 1]), 2, ["green", "blue"], ["red", "green"], None)
    Columns(column=array([1, 2]), n_columns=3, names=['red', 'green', 'blue'])
    """
    n_columns = max(n_columns or 0, len(names or ()))
    if own is None or names is None or _agree(own, names):
        longest = max(own or (), names or (), key=len)
        width = max(n_seen, len(own or ()), n_columns)
        anonymous = own is None and names is None
        return Columns(None, width, None if anonymous else _extended(longest, width))
    all_names = _extended(names, n_columns)
    column_of: dict[str, int] = {}
    for column, name in enumerate(all_names):
        column_of.setdefault(name, column)
    columns = np.full(max(n_seen, len(own)), -1, dtype=np.int64)
    for label in np.unique(used):
        name = own[label]
        if name not in column_of:
            column_of[name] = len(all_names)
            all_names.append(name)
        columns[label] = column_of[name]
    return Columns(columns, len(all_names), all_names)


def columns_of_words(
    words: Sequence[str],
    beside: NameFile | None,
    names: Sequence[str] | None,
    n_columns: int | None,
    are_columns: bool = False,
    path: Path = Path(),
) -> Columns:
    """Place labels that are words, each once, in any order.

    ``are_columns`` says that whole numbers are columns whatever is beside, as of features.

    Examples
    --------
    >>> columns_of_words(["red", "green"], None, None, None)
    Columns(column=array([1, 0]), n_columns=2, names=['green', 'red'])
    >>> columns_of_words(["5", "2"], None, None, None)
    Columns(column=array([1, 0]), n_columns=2, names=['2', '5'])
    >>> columns_of_words(["5", "2"], None, None, None, are_columns=True)
    Columns(column=array([5, 2]), n_columns=6, names=None)
    """
    ids, own = _number_words(words, beside, names, n_columns, are_columns)
    n_seen = int(ids.max(initial=-1)) + 1
    if own is None:
        n_known = max(n_columns or 0, len(names or ()))
        check_width(n_seen, ids, path, n_known, "features" if are_columns else "labels")
    placed = columns_of_ids(ids, n_seen, own, names, n_columns)
    return placed._replace(column=ids if placed.column is None else placed.column[ids])


def numbers_are_columns(
    largest: int, beside: NameFile | None, names: Sequence[str] | None, n_columns: int | None
) -> bool:
    """Return whether labels that are numbers up to ``largest`` are columns; if not, names."""
    if beside is not None and largest < len(beside.names):
        return True
    if names is not None:
        return largest < len(names) and not any(map(is_id, names))
    return _by_number(names, n_columns)


def check_width(
    n_columns: int,
    used: NDArray[np.integer],
    path: Path,
    n_known: int | None,
    what: str = "labels",
    told_by: str | None = None,
) -> None:
    """Refuse far more columns than are in use, where there are not so many names or in the model.

    ``n_known`` are a model's columns, and ``told_by`` is what asks for the columns, such as a
    header; without it the numbers in the rows do.
    """
    enough = max(n_known or 0, _WIDE if what == "labels" and told_by is None else _WIDE_IF_TOLD)
    if n_columns <= enough:
        return
    n_used = len(np.unique(used))
    if n_columns <= _WIDE_PER_USED * n_used:
        return
    file = LABELS_FILE if what == "labels" else FEATURES_FILE
    if told_by is not None:
        raise DataError(
            f"{path}: {told_by} asks for {n_columns:,} {what}, but {n_used:,} are in use: correct "
            f"it, or write a {file} beside it with a line for each."
        )
    others = "write them as names (in a table or JSON lines), " if what == "labels" else ""
    raise DataError(
        f"{path} has {n_used:,} {what}, but their numbers ask for {n_columns:,} columns: number "
        f"them from 0, {others}or ask for so many with an XC header or a {file} beside it."
    )


def is_id(word: str) -> bool:
    """Return whether a word is a whole number as a column is written.

    >>> is_id("17"), is_id("017"), is_id("17a")
    (True, False, False)
    """
    return _ID.fullmatch(word) is not None


def decode(raw: bytes, path: Path, line: int) -> str:
    """Return a line as text, without its end and (on line 1) without a byte order mark."""
    if line == 1 and raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    try:
        return raw.decode().rstrip("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, line {line}: byte {error.start + 1} is not UTF-8; save the file as UTF-8."
        ) from None


def _number_words(
    words: Sequence[str],
    beside: NameFile | None,
    names: Sequence[str] | None,
    n_columns: int | None,
    are_columns: bool,
) -> tuple[NDArray[np.int64], list[str] | None]:
    """Return an id for each word, and the names by id (None where the words are ids)."""
    numbers = None
    if all(map(is_id, words)):
        numbers = np.array([int(word) for word in words], dtype=np.int64)
    largest = int(numbers.max(initial=-1)) if numbers is not None else MAX_INDEX
    if beside is not None:
        if numbers is not None and largest < len(beside.names):
            return numbers, beside.names
        lines = np.array(beside.find(words), dtype=np.int64)
        if (lines >= 0).any():
            new = np.flatnonzero(lines < 0)
            lines[new] = len(beside.names) + np.arange(len(new))
            return lines, [*beside.names, *(words[i] for i in new)]
        if words:
            warnings.warn(
                f"{beside.path} is ignored: none of the corpus's labels is in it.",
                LabelspaceWarning,
                stacklevel=2,
            )
    if names is not None:
        are_columns = largest < len(names) and not any(map(is_id, names))
    if (
        numbers is not None
        and largest < MAX_INDEX
        and (are_columns or _by_number(names, n_columns))
    ):
        return numbers, None
    own = sorted(words, key=int if numbers is not None else None)
    rank = {word: i for i, word in enumerate(own)}
    return np.array([rank[word] for word in words], dtype=np.int64), own


def _by_number(names: Sequence[str] | None, n_columns: int | None) -> bool:
    """Return whether a trained model knows its labels by number only."""
    return names is None and n_columns is not None


def _on_lines(names: Sequence[str]) -> list[str]:
    """Return names as they can stand on a line each; a blank one becomes its number."""
    lines = (re.sub(r"[\t\r\n]", " ", name) for name in names)
    return [line if line.strip() else str(column) for column, line in enumerate(lines)]


def _agree(own: Sequence[str], names: Sequence[str]) -> bool:
    common = min(len(own), len(names))
    return list(own[:common]) == list(names[:common])


def _extended(names: Sequence[str], width: int) -> list[str]:
    return [*names, *(str(column) for column in range(len(names), width))]
