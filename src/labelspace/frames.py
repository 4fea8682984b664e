"""Tables of pandas, polars and pyarrow, made into the rows and labels that models take.

None of the three is needed to run labelspace: their objects are known by the package that their
class comes from, and each is asked in its own words for its columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.csr import NamedColumns
from labelspace.errors import DataError, UsageError

LIBRARIES = ("pandas", "polars", "pyarrow")


def library_of(value: Any) -> str | None:
    """Return the package that a table or a column comes from; None for anything else.

    >>> library_of([1, 2]) is None
    True
    """
    for kind in type(value).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in LIBRARIES:
            return package
    return None


def is_frame(value: Any) -> bool:
    """Tell whether this is a table with named columns of one of the three packages."""
    return library_of(value) is not None and (
        _is_lazy(value) or len(getattr(value, "shape", ())) == 2
    )


def column_names(frame: Any) -> list[str] | None:
    """Return the names of a frame's columns; None where they are mere numbers."""
    names = list(getattr(frame, "column_names", None) or frame.columns)
    return [str(name) for name in names] if all(isinstance(n, str) for n in names) else None


def rows_of(rows: Any) -> Any:
    """Return rows as texts or as a matrix, where they are a frame, a column or an array of texts.

    Columns of text are joined by a blank, in their order; columns of numbers become
    ``NamedColumns``. Anything else comes back as it is.

    >>> rows_of(np.array([["a red", "ball"], ["a cube", ""]], dtype=object))
    ['a red ball', 'a cube']
    """
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind in "OUT":
        columns = [rows[:, at] for at in range(rows.shape[1])]
        return rows if any(map(_is_numeric, columns)) else _joined([c.tolist() for c in columns])
    if library_of(rows) is None:
        return rows
    if not is_frame(rows):
        return _listed(rows)
    frame = rows.collect() if _is_lazy(rows) else rows
    columns = _columns(frame)
    names = column_names(frame)
    shown = names or [str(at) for at in range(len(columns))]
    numeric = [_is_numeric(_array(column)) for column in columns]
    if not any(numeric):
        return _joined([_listed(column) for column in columns])
    if not all(numeric):
        text = shown[numeric.index(False)]
        raise DataError(
            f"The frame has columns of text ('{text}') and of numbers "
            f"('{shown[numeric.index(True)]}'): choose those to learn from, such as [['{text}']]."
        )
    values = np.column_stack([_array(column).astype(np.float32) for column in columns])
    return values if names is None else NamedColumns(values, names)


def feature_frame(frame: Any, known: Sequence[str] | None) -> tuple[Any, list[str] | None]:
    """Return a frame of features as scikit-learn takes it, and the names of its columns.

    ``known`` are the names that the model learned: other ones, or another order, are an error.
    """
    frame = frame.collect() if _is_lazy(frame) else frame
    names = column_names(frame)
    _check_numbers(frame)
    if library_of(frame) == "pandas":
        return frame, names  # scikit-learn itself compares the names
    if None not in (known, names) and list(known or ()) != names:
        wrong = next((name for name in names or () if name not in (known or ())), None)
        told = "are in another order" if wrong is None else f"have '{wrong}', which it has not"
        raise DataError(
            f"The model knows its features by name, and the columns of this frame {told}: give "
            "the columns that it learned from, in the same order."
        )
    rows = rows_of(frame)
    return (rows.values if isinstance(rows, NamedColumns) else rows), names


def labels_of(labels: Any) -> Any:
    """Return labels as lists, classes or a matrix, where they are a frame or a column.

    A frame of 0-1 columns keeps their names; a frame of one column is that column. A row of a list
    column without a list has no labels; a row of another column must have one.
    """
    if isinstance(labels, Iterator):
        return list(labels)
    if library_of(labels) is None:
        return labels
    if not is_frame(labels):
        return _label_column(labels)
    frame = labels.collect() if _is_lazy(labels) else labels
    columns = _columns(frame)
    names = column_names(frame)
    if len(columns) == 1 and not _is_numeric(_array(columns[0])):
        return _label_column(columns[0])
    found: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for at, column in enumerate(columns):
        found.append(_rows_with(column, str(at) if names is None else names[at]))
    indptr = np.cumsum([len(rows) for rows in found])
    indices = np.concatenate(found)
    shape = (len(columns), _length(frame))
    matrix = csr_matrix((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=shape).T
    return csr_matrix(matrix) if names is None else NamedColumns(csr_matrix(matrix), names)


def given_labels(labels: Any, names: Iterable[str] | None = None) -> Any:
    """Return labels as a ``LabelEncoder`` takes them, names without blanks around them.

    ``names`` are those of the columns, where the labels are a matrix or numbers.
    """
    labels = stripped(labels_of(labels))
    return labels if names is None else NamedColumns(labels, list(names))


def stripped(labels: Any) -> Any:
    """Return label names without blanks around them; empty ones are left out of lists.

    >>> stripped([["red ", ""], [" round"]]), stripped(["red ", "green"]), stripped([[1, 2]])
    ([['red'], ['round']], ['red', 'green'], [[1, 2]])
    """
    if isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind in "OU":
        values = stripped(labels.tolist())
        return values if any(map(_is_list, values)) else np.asarray(values)
    if not isinstance(labels, (list, tuple)):
        return labels
    if any(isinstance(label, str) for label in labels):
        return [label.strip() if isinstance(label, str) else label for label in labels]
    return [_stripped_row(row) for row in labels]


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for none: None, NaN, or what pandas writes for them.

    >>> is_missing(float("nan")), is_missing(""), is_missing(None)
    (True, False, True)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(value != value)


def tags_frame(rows: Any, tags: Sequence[Sequence[Any]], with_keys: bool = False) -> Any:
    """Return tags as a frame with a line for each: ``row``, ``label``, ``score``, and the ``key``.

    It is a frame of the package that ``rows`` come from, else of pandas. ``row`` is the index of
    a pandas frame or column, else the number of the row from 0.
    """
    library = library_of(rows) or "pandas"
    index = list(rows.index) if library_of(rows) == "pandas" and hasattr(rows, "index") else None
    numbers = [at for at, given in enumerate(tags) for _ in given]
    columns = {
        "row": numbers if index is None else [index[at] for at in numbers],
        "label": [name for given in tags for name, _ in given],
        "score": [score for given in tags for _, score in given],
    }
    if with_keys:
        columns["key"] = [tag.key for given in tags for tag in given]
    try:
        if library == "polars":
            import polars

            return polars.DataFrame(columns)
        if library == "pyarrow":
            import pyarrow

            return pyarrow.table(columns)
        import pandas
    except ImportError:
        raise UsageError(
            "as_frame makes a pandas frame, and pandas is not installed: pip install pandas."
        ) from None
    return pandas.DataFrame(columns)


def _check_numbers(frame: Any) -> None:
    """Raise if a frame of features has a column of something else."""
    labels = getattr(frame, "column_names", None) or frame.columns
    for name, column in zip(labels, _columns(frame), strict=True):
        kind = getattr(getattr(column, "dtype", None), "kind", "O")
        if kind not in "biufc" and len(column) and not _is_numeric(_array(column)):
            raise DataError(
                f"Column '{name}' of the features holds no numbers: leave it out, or use a "
                "Tagger if it is text."
            )


def _is_lazy(frame: Any) -> bool:
    return type(frame).__name__ == "LazyFrame"


def _columns(frame: Any) -> list[Any]:
    if library_of(frame) == "pandas":
        return [frame.iloc[:, at] for at in range(frame.shape[1])]
    if library_of(frame) == "polars":
        return list(frame.get_columns())
    return list(frame.columns)


def _listed(column: Any) -> list[Any]:
    """Return a column's values as Python has them."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, name):
            return list(getattr(column, name)())
    return list(column)


def _array(column: Any) -> NDArray[Any]:
    if library_of(column) == "pyarrow" and not hasattr(column, "chunks"):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)


def _is_numeric(values: NDArray[Any]) -> bool:
    if values.dtype.kind in "biuf":
        return True
    numbers = (int, float, np.number, np.bool_)
    return (
        values.dtype == object
        and len(values) > 0
        and all(isinstance(value, numbers) or is_missing(value) for value in values)
        and not all(map(is_missing, values))
    )


def _length(frame: Any) -> int:
    return int(frame.shape[0])


def _joined(columns: list[list[Any]]) -> list[Any]:
    if len(columns) == 1:
        return columns[0]  # who takes the texts says what is wrong with one
    return [
        " ".join(str(part) for part in parts if not is_missing(part) and part)
        for parts in zip(*columns, strict=True)
    ]


def _label_column(column: Any) -> Any:
    array = _array(column) if library_of(column) != "polars" else None
    if array is not None and array.dtype.kind in "biu":
        return array
    values = _listed(column)
    if any(_is_list(value) for value in values):
        rows = [[] if is_missing(value) else value for value in values]
        return [list(row) if _is_list(row) else row for row in rows]
    missing = [row for row, value in enumerate(values) if is_missing(value)]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(values)} rows have no label (NaN or None), the first is row "
            f"{missing[0]} (counted from 0): leave these rows out, or give a list of labels for "
            "each row, [] where there are none."
        )
    return np.asarray(values)


def _rows_with(column: Any, name: str) -> NDArray[np.int64]:
    """Return the rows where a 0-1 column has its label."""
    values = _array(column)
    if not _is_numeric(values):
        raise DataError(
            f"Column '{name}' of the labels is neither 0 nor 1 throughout: give one column of "
            "label lists, or 0-1 columns only."
        )
    missing = [row for row, value in enumerate(values) if is_missing(value)]
    if missing:
        raise DataError(
            f"Column '{name}' of the labels has no value (NaN or None) in row {missing[0]} "
            "(counted from 0): fill it with 0 where the label is not given."
        )
    numbers = values.astype(np.float64)
    wrong = np.flatnonzero((numbers != 0) & (numbers != 1))
    if wrong.size:
        raise DataError(
            f"Column '{name}' of the labels holds {numbers[wrong[0]]:g} in row {wrong[0]} (counted "
            "from 0), but 0-1 columns hold 0 and 1 only: give one column of label lists instead."
        )
    return np.flatnonzero(numbers)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset, np.ndarray))


def _stripped_row(row: Any) -> Any:
    if not isinstance(row, Iterable) or isinstance(row, (str, bytes)):
        return row
    names = [label.strip() if isinstance(label, str) else label for label in row]
    return [name for name in names if name != ""]
