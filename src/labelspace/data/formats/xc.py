"""XC-repository text, and multi-label svmlight, which is the same without the first line.

::

    2 5 3              rows, features, labels: present in XC text, absent in svmlight
    0,2 1:0.5 4:1      labels, then feature:value
     0:0.25            a row without labels begins with a blank

Numbers are kept as they are written: XC text counts from 0, and so does svmlight as
scikit-learn writes it; a file that counts from 1 gets an empty column 0. Features may stand in
any order; one that is given twice in a row is added up (and counted in a warning), one with the
value 0 is left out. Lines that begin with ``#`` and what follows a ``#`` are comments. An empty
line is a row of nothing where a first line says how many rows there are, and no row elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from labelspace.data.corpus import Corpus, build_csr, merge_duplicates
from labelspace.data.formats import _xc_kernels as kernels
from labelspace.data.formats.column_spec import ColumnSpec
from labelspace.data.formats.names import (
    FEATURES_FILE,
    LABELS_FILE,
    MAX_INDEX,
    check_width,
    columns_of_ids,
    fitting_names,
    names_beside,
)
from labelspace.data.formats.xc_blocks import (
    ColumnLimits,
    ParsedRows,
    parse_blocks,
    parse_error,
    rows_by_engine,
    skip_mark,
)
from labelspace.errors import DataError

HEADER = re.compile(rb" *(\d+) +(\d+) +(\d+)[ \t]*\r?")


def read_xc_text(stream: BufferedReader, path: Path, wanted: ColumnSpec) -> Corpus:
    """Read XC text or svmlight, a block at a time, on as many threads as numba may use."""
    header = _read_header(stream, path, wanted)
    rows = _read_rows(stream, path, _limits(wanted, header), header)
    _check_row_count(rows, path, header)

    told_by = "the first line" if header else None
    n_features = header.n_features if header else max(rows.max_feature + 1, wanted.n_features or 0)
    feature_names = wanted.feature_names
    if feature_names is None:
        beside = names_beside(path, FEATURES_FILE)
        feature_names = fitting_names(beside, n_features, path, exactly=True)
    if feature_names is None:
        check_width(n_features, rows.features, path, wanted.n_features, "features", told_by)
    X = build_csr(rows.values, rows.features, rows.feature_ptr, n_features)
    merge_duplicates(X, path)

    n_seen = header.n_labels if header else rows.max_label + 1
    own = fitting_names(names_beside(path, LABELS_FILE), n_seen, path, exactly=header is not None)
    if own is None:
        check_width(n_seen, rows.labels, path, wanted.n_known_labels, told_by=told_by)
    placed = columns_of_ids(rows.labels, n_seen, own, wanted.label_names, wanted.n_labels)
    labels = rows.labels if placed.column is None else placed.column[rows.labels]
    Y = build_csr(np.ones(len(labels), np.float32), labels, rows.label_ptr, placed.n_columns)
    Y.sum_duplicates()
    return Corpus(X, Y, label_names=placed.names, feature_names=feature_names)


class _Header(NamedTuple):
    n_rows: int
    n_features: int
    n_labels: int


@dataclass
class _Rows:
    labels: NDArray[Any]
    label_ptr: NDArray[Any]
    features: NDArray[Any]
    values: NDArray[Any]
    feature_ptr: NDArray[Any]
    max_label: int
    max_feature: int


def _read_header(stream: BufferedReader, path: Path, wanted: ColumnSpec) -> _Header | None:
    skip_mark(stream)
    match = HEADER.fullmatch(stream.peek(1).partition(b"\n")[0])
    if match is None:
        return None
    stream.readline()
    header = _Header(*(min(int(number[:20]), 2**63 - 1) for number in match.groups()))
    if max(header) > MAX_INDEX:
        raise DataError(f"{path}, line 1: {max(header)} is beyond 2**31; correct the first line.")
    if wanted.n_features is not None and header.n_features != wanted.n_features:
        raise DataError(
            f"{path}, line 1: the file has {header.n_features} features but the model has "
            f"{wanted.n_features}; use a corpus made with the features of the training corpus."
        )
    return header


def _limits(wanted: ColumnSpec, header: _Header | None) -> ColumnLimits:
    if header is not None:
        reason = (
            f"the first line has {header.n_features} features and {header.n_labels} labels, "
            "counted from 0; correct this line or the first one."
        )
        return ColumnLimits(header.n_labels, header.n_features, reason)
    if wanted.n_features is not None:
        reason = (
            f"the model has {wanted.n_features} features, counted from 0; "
            "use a corpus made with the features of the training corpus."
        )
        return ColumnLimits(MAX_INDEX, wanted.n_features, reason)
    reason = f"numbers end at {MAX_INDEX - 1}; number the columns from 0."
    return ColumnLimits(MAX_INDEX, MAX_INDEX, reason)


def _read_rows(
    stream: BufferedReader, path: Path, limits: ColumnLimits, header: _Header | None
) -> _Rows:
    labels, features = GrowingArray(np.int32), GrowingArray(np.int32)
    values = GrowingArray(np.float32)
    label_ptr, feature_ptr = GrowingArray(np.int64), GrowingArray(np.int64)
    label_ptr.extend(np.zeros(1, np.int64))
    feature_ptr.extend(np.zeros(1, np.int64))
    max_label = max_feature = -1
    for rows in _parsed(stream, path, limits, header):
        label_ptr.extend(len(labels) + rows.label_ends)
        feature_ptr.extend(len(features) + rows.feature_ends)
        labels.extend(rows.labels)
        features.extend(rows.features)
        values.extend(rows.values)
        max_label = max(max_label, rows.max_label)
        max_feature = max(max_feature, rows.max_feature)
    return _Rows(
        labels.finish(),
        label_ptr.finish(),
        features.finish(),
        values.finish(),
        feature_ptr.finish(),
        max_label,
        max_feature,
    )


def _parsed(
    stream: BufferedReader, path: Path, limits: ColumnLimits, header: _Header | None
) -> Iterator[ParsedRows]:
    """Yield the rows part by part: read by the engine in use, or here, one part after another."""
    found = rows_by_engine(path, limits, header is not None)
    if found is not None:
        yield from found
        return
    n_lines = 0 if header is None else 1
    for block in parse_blocks(stream, limits, blank_is_row=header is not None):
        if block.status != kernels.OK:
            line, sentence = parse_error(block, limits)
            raise DataError(f"{path}, line {n_lines + line}: {sentence}")
        yield block.rows
        n_lines += block.n_lines


def _check_row_count(rows: _Rows, path: Path, header: _Header | None) -> None:
    n_rows = len(rows.label_ptr) - 1
    if header is None:
        if n_rows == 0:
            raise DataError(f"{path} holds no rows; give a file with at least one.")
        return
    expected = header.n_rows
    if n_rows > expected:  # blank lines at the end are no rows
        ends = rows.label_ptr[expected:], rows.feature_ptr[expected:]
        if all(end[0] == end[-1] for end in ends):
            rows.label_ptr = rows.label_ptr[: expected + 1]
            rows.feature_ptr = rows.feature_ptr[: expected + 1]
            return
    if n_rows != expected:
        raise DataError(
            f"{path}, line 1: the first line promises {expected} rows but {n_rows} follow; "
            "fetch the file again if it was cut short, or correct the first line."
        )


class GrowingArray:
    """A one-dimensional array with an end to append to, so that memory holds little more than it.

    Collecting blocks in a list and joining them at the end needs the corpus twice. This is resized
    in place: for large blocks the operating system moves pages, not bytes.

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
