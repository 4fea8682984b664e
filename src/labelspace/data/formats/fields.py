"""Which columns of a table are text, labels and ids: what a user says, and what names suggest."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from labelspace.errors import DataError, UsageError, nearest, shortened
from labelspace.store import Storable, schema

# Names that say what a column is, in lower case; of several texts the order is that of the table.
TEXT_NAMES = (
    "text",
    "title",
    "abstract",
    "content",
    "description",
    "summary",
    "body",
    "full_text",
    "fulltext",
)
LABEL_NAMES = (
    "labels",
    "label",
    "tags",
    "subjects",
    "keywords",
    "categories",
    "topics",
    "subject_uris",
    "target_ind",
)
ID_NAMES = ("id", "record_id", "document_id", "doc_id", "uid", "identifier")


@dataclass(frozen=True)
class Fields(Storable):
    """How a table is read; None (or nothing) where it is to be found out.

    Attributes
    ----------
    text : tuple of str
        Columns whose texts are joined, in this order.
    labels : str, optional
        Column of the labels.
    label_separator : str, optional
        What stands between labels in a cell, such as ``";"``; ``"none"`` where a cell is one
        label, ``"list"`` where it is written as ``["a", "b"]``, ``" "`` between URIs.
    id : str, optional
        Column of the rows' identifiers.
    label_columns : str, optional
        Pattern of columns that are a label each, such as ``"tag_*"``, with 0 or 1 in their cells.
    header : bool
        Whether the first row names the columns; if not they are called 1, 2, 3, ….
    is_separator_given : bool
        Whether a person gave the separator, which a model then keeps as theirs.

    Examples
    --------
    >>> Fields.of(text="title,abstract", labels="subjects").text
    ('title', 'abstract')
    """

    _schema: ClassVar[schema.Schema] = {
        "text": schema.texts,
        "labels": schema.optional(schema.text),
        "label_separator": schema.optional(schema.text),
        "id": schema.optional(schema.text),
        "label_columns": schema.optional(schema.text),
        "header": schema.FLAG,
        "is_separator_given": schema.FLAG,
    }

    text: tuple[str, ...] = ()
    labels: str | None = None
    label_separator: str | None = None
    id: str | None = None
    label_columns: str | None = None
    header: bool = True
    is_separator_given: bool = False

    @classmethod
    def of(
        cls,
        text: str | Sequence[str] | None = None,
        labels: str | None = None,
        label_separator: str | None = None,
        id: str | None = None,
        label_columns: str | None = None,
        header: bool = True,
    ) -> Fields:
        """Make the object of options as they are written, ``text`` with commas between columns.

        ``title^2`` is the column twice, so that its words count for more.

        >>> Fields.of(text="title^2,abstract").text
        ('title', 'title', 'abstract')
        """
        names = text.split(",") if isinstance(text, str) else text or ()
        columns = tuple(one for name in names if name.strip() for one in _repeated(name.strip()))
        if label_separator is not None:
            label_separator = _SEPARATOR_NAMES.get(label_separator, label_separator)
        is_given = label_separator is not None
        return cls(columns, labels, label_separator, id, label_columns, header, is_given)

    @property
    def names(self) -> list[str]:
        """The columns that are named, in any role."""
        return [*self.text, *(name for name in (self.labels, self.id) if name is not None)]

    @property
    def is_given(self) -> bool:
        """Whether anything was said."""
        return self != Fields()


_LOOKED_AT = 1000  # columns, for the one that was meant


def _repeated(name: str) -> list[str]:
    found = re.fullmatch(r"(.+)\^(\d+)", name)
    if found is None:
        return [name]
    if not 1 <= int(found[2][:4]) <= _MOST_TIMES:
        raise UsageError(f"--text {name}: a column counts 1 to {_MOST_TIMES} times.")
    return [found[1].strip()] * int(found[2])


_MOST_TIMES = 10
_SEPARATOR_NAMES = {"": "none", "tab": "\t", "\\t": "\t", "space": " ", "\\n": "\n"}


@dataclass(frozen=True)
class Roles:
    """The columns of one table by position, and the fields that led to them."""

    fields: Fields
    text: tuple[int, ...]
    labels: int | None
    id: int | None
    label_columns: tuple[int, ...]
    guessed: tuple[str, ...] = ()


def find_roles(
    columns: Sequence[str],
    given: Fields,
    kept: Fields | None,
    where: object,
    needs_labels: bool = True,
) -> Roles:
    """Say what each column of a table is: by what was given, by what a model keeps, by its name.

    A column that was given has to be there. One that a model keeps has to be there if it is text,
    or if labels are needed.

    Examples
    --------
    >>> roles = find_roles(["id", "Title", "tags"], Fields(), None, "a.csv")
    >>> roles.text, roles.labels, roles.guessed
    ((1,), 2, ('text from Title', 'labels from tags', 'ids from id'))
    """
    guessed: list[str] = []
    text = _text_columns(columns, given, kept, where, guessed)
    labels, label_columns, pattern = _label_columns(
        columns, given, kept, where, guessed, needs_labels, set(text)
    )
    id_name = given.id or (kept.id if kept is not None and kept.id in columns else None)
    if id_name is None and kept is None:
        id_name = next(iter(_by_name(columns, ID_NAMES)), None)
        if id_name is not None:
            guessed.append(f"ids from {id_name}")
    names = tuple(columns[at] for at in text)
    separator_from = given if given.label_separator is not None or kept is None else kept
    resolved = replace(
        given,
        text=names,
        labels=None if labels is None else columns[labels],
        label_columns=pattern,
        id=id_name,
        label_separator=separator_from.label_separator,
        is_separator_given=separator_from.is_separator_given,
    )
    id_at = None if id_name is None else _find(columns, id_name, "--id", where)
    return Roles(resolved, text, labels, id_at, label_columns, tuple(guessed))


def is_header(cells: Iterable[str], named: Sequence[str], without: Sequence[str] = ()) -> bool:
    """Return whether the cells of a first row are names of columns that mean something here.

    ``named`` are names that were asked for; those in ``without`` tell nothing by themselves.

    >>> is_header(["PPN", "Titel", "Subjects"], []), is_header(["A rose", "red"], [])
    (True, False)
    """
    words = {cell.strip().casefold() for cell in cells}
    known = {*TEXT_NAMES, *LABEL_NAMES} - set(without)
    return bool(words & (known | {name.casefold() for name in named}))


def _text_columns(
    columns: Sequence[str], given: Fields, kept: Fields | None, where: object, guessed: list[str]
) -> tuple[int, ...]:
    if given.text:
        return tuple(_find(columns, name, "--text", where) for name in given.text)
    if kept is not None and kept.text:
        missing = [name for name in kept.text if name not in columns]
        if missing:
            raise DataError(
                f'{where} has no column "{missing[0]}", which the model was trained on; its '
                f"columns are {_listed(columns)}: say with --text which of them to read."
            )
        return tuple(columns.index(name) for name in kept.text)
    found = [name for name in _by_name(columns, TEXT_NAMES) if name not in given.names]
    if not found:
        raise DataError(
            f"{where} is a table with the columns {_listed(columns)}: say with --text which of "
            "them hold the text, as in --text title,abstract (and --no-header if the first row is "
            "data)."
        )
    guessed.append(f"text from {' and '.join(found)}")
    return tuple(columns.index(name) for name in found)


def _label_columns(
    columns: Sequence[str],
    given: Fields,
    kept: Fields | None,
    where: object,
    guessed: list[str],
    needs_labels: bool,
    taken: set[int],
) -> tuple[int | None, tuple[int, ...], str | None]:
    if given.labels is not None and given.label_columns is not None:
        raise DataError("Labels are in one column or in many: give --labels or --label-columns.")
    if given.labels is not None:
        return _find(columns, given.labels, "--labels", where), (), None
    kept_pattern = kept.label_columns if kept is not None else None
    pattern = given.label_columns or kept_pattern
    if pattern is not None:
        found = tuple(at for at, name in enumerate(columns) if fnmatch.fnmatchcase(name, pattern))
        if not found and (needs_labels or given.label_columns is not None):
            raise DataError(
                f'{where} has no column like "{pattern}" for --label-columns; its columns are '
                f"{_listed(columns)}."
            )
        return None, tuple(at for at in found if at not in taken), pattern
    if kept is not None and kept.labels in columns:
        return columns.index(kept.labels), (), None
    named = [name for name in _by_name(columns, LABEL_NAMES) if columns.index(name) not in taken]
    if len(named) > 1 and needs_labels:
        raise DataError(
            f"{where} has several columns that may be labels, {_listed(named)}: say with --labels "
            "which one to read."
        )
    if named and (kept is None or needs_labels):
        if len(named) == 1:
            guessed.append(f"labels from {named[0]}")
            return columns.index(named[0]), (), None
        return None, (), None
    if needs_labels:
        raise DataError(
            f"{where} is a table with the columns {_listed(columns)}: say with --labels which of "
            "them holds the labels, or with --label-columns which are a label each."
        )
    return None, (), None


def _by_name(columns: Sequence[str], names: Sequence[str]) -> list[str]:
    return [column for column in columns if column.strip().casefold() in names]


def _find(columns: Sequence[str], name: str, option: str, where: object) -> int:
    if name in columns:
        return columns.index(name)
    folded = [column.strip().casefold() for column in columns]
    if folded.count(name.strip().casefold()) == 1:
        return folded.index(name.strip().casefold())
    told = nearest(name, columns[:_LOOKED_AT])
    raise DataError(f'{where} has no column "{shortened(name)}" for {option}{told}')


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(map(shortened, columns[:12]))
    return f"{shown} and {len(columns) - 12} more" if len(columns) > 12 else shown
