"""JSON lines: one object per row, with ``text`` or ``features`` (or both) and ``labels``.

::

    {"text": "a red and green ball", "labels": ["red", "green"]}
    {"features": {"3": 0.5, "7": 1}, "labels": [0, 2]}
    {"features": [[3, 0.5], [7, 1]], "labels": []}
    {"features": {"ball": 0.5}, "labels": ["red"]}

Features are numbers throughout a file (columns) or strings throughout (names; all whole numbers:
columns). Labels are numbers or strings throughout; either way they are names, unless
``labels.txt`` beside the file has a line for each number. Every row has the same of ``text`` and
``features`` as the first; a row without ``labels`` has none. Other members are ignored. Where a
trained model has names for its features, words that it does not know are left out and counted in
a warning.
"""

from __future__ import annotations

import json
import warnings
from array import array
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.data.corpus import Corpus, build_csr, merge_duplicates
from labelspace.data.formats.column_spec import ColumnSpec
from labelspace.data.formats.compression import HEAD_SIZE, open_output
from labelspace.data.formats.label_cells import check_whole
from labelspace.data.formats.names import (
    FEATURES_FILE,
    LABELS_FILE,
    MAX_INDEX,
    decode,
    names_kept_beside,
)
from labelspace.data.formats.row_blocks import ReadRows, line_rows
from labelspace.data.formats.tsv import encode
from labelspace.data.formats.word_rows import WordRows, words_to_write
from labelspace.errors import DataError, LabelspaceWarning

_BLANK = r"\A\s*\Z"
_TOO_LARGE = 2.0**128 - 2.0**103  # from here on a float32 rounds to infinity


def read_jsonl(stream: BufferedReader, path: Path, wanted: ColumnSpec) -> Corpus:
    """Read JSON lines, one by one, or texts by the engine in use."""
    reader = _Reader(wanted)
    found = None if b'"features"' in stream.peek(HEAD_SIZE) else line_rows("jsonl-rows", path)
    if found is not None:
        reader.take(found)
        return reader.finish(path)
    for number, raw in enumerate(stream, 1):
        line = decode(raw, path, number)
        if not line.strip():
            continue
        try:
            reader.add(parse_object(line), number)
        except ValueError as error:
            raise DataError(f"{path}, line {number}: {error}") from None
    return reader.finish(path)


def labelled_texts(stream: Any, path: Path) -> Iterator[tuple[str, Sequence[str | int]]]:
    """Yield texts and labels of rows that have no features; one that has is an error."""
    for number, raw in enumerate(stream, 1):
        line = decode(raw, path, number)
        if line.strip():
            row = parse_object(line)
            if not isinstance(row.get("text"), str) or "features" in row:
                raise ValueError("the row has no text, or features as well.")
            yield row["text"], _labels(row.get("labels", []))


def write_jsonl(corpus: Corpus, path: Path) -> None:
    """Write JSON lines, with ids, and with names where they are unique and numbers elsewhere."""
    X, Y = corpus.X, corpus.Y
    texts = None if corpus.texts is None else iter(corpus.texts)
    ids = None if corpus.ids is None else iter(corpus.ids)
    beside: dict[str, Sequence[str] | None] = {}
    label_words, beside[LABELS_FILE] = words_to_write(
        corpus.label_names, Y, _BLANK, path, LABELS_FILE
    )
    if X is not None:
        feature_words, beside[FEATURES_FILE] = words_to_write(
            corpus.feature_names, X, _BLANK, path, FEATURES_FILE
        )
    with names_kept_beside(path, beside), open_output(path) as file:
        for row in range(len(corpus)):
            members = []
            if ids is not None:
                members.append(f'"id": {json.dumps(next(ids), ensure_ascii=False)}')
            if texts is not None:
                members.append(f'"text": {json.dumps(next(texts), ensure_ascii=False)}')
            if X is not None:
                members.append(f'"features": {_features(X, row, feature_words)}')
            labels = Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()
            if label_words is not None:
                labels = [label_words[label] for label in labels]
            members.append(f'"labels": {json.dumps(labels, ensure_ascii=False)}')
            file.write(encode("{" + ", ".join(members) + "}\n", path, row))


class _Reader:
    """Collects rows; every mistake is a ValueError that says what is wrong in the row."""

    def __init__(self, wanted: ColumnSpec) -> None:
        self._wanted = wanted
        self._labels = WordRows()
        self._features = WordRows()
        self._values = array("f")
        self._texts: Any = []
        self._lines = array("q")
        self._has: tuple[bool, bool] | None = None  # text, features

    def add(self, row: dict[str, Any], line: int) -> None:
        has = "text" in row, "features" in row
        if self._has is None:
            if not any(has):
                raise ValueError('the row has neither "text" nor "features"; give one of them.')
            self._has = has
        for name, here, before in zip(("text", "features"), has, self._has, strict=True):
            if here != before:
                raise ValueError(
                    f'the row has {"a" if here else "no"} "{name}", unlike the first row; '
                    "give all rows the same members."
                )
        self._lines.append(line)
        if has[0]:
            if not isinstance(row["text"], str):
                raise ValueError(f'"text" is {_kind(row["text"])}; write a string.')
            self._texts.append(row["text"])
        if has[1]:
            keys, values = _pairs(row["features"], self._limit())
            if not self._features.add(keys):
                raise ValueError("features are given by name and by number; use one of them.")
            self._values.extend(values)
        if not self._labels.add(_labels(row.get("labels", []))):
            raise ValueError("labels are given by name and by number; use one of them.")

    def take(self, read: ReadRows) -> None:
        """Take rows of text that others have read, in place of adding each."""
        self._texts, _, self._labels = read
        self._has = (True, False)

    def finish(self, path: Path) -> Corpus:
        wanted = self._wanted
        labels, placed = self._labels.place(path, LABELS_FILE, wanted.label_names, wanted.n_labels)
        _, indptr = self._labels.arrays()
        Y = build_csr(np.ones(len(labels), np.float32), labels, indptr, placed.n_columns)
        Y.sum_duplicates()
        has_text, has_features = self._has or (False, False)
        X, names = self._finish_features(path) if has_features else (None, None)
        texts = self._texts if has_text else None
        return Corpus(X, Y, texts=texts, label_names=placed.names, feature_names=names)

    def _finish_features(self, path: Path) -> tuple[csr_matrix, list[str] | None]:
        wanted = self._wanted
        # A model that knows its features by number has no use for a file of names.
        numbered = wanted.n_features is not None and wanted.feature_names is None
        features, placed = self._features.place(
            path,
            None if numbered else FEATURES_FILE,
            wanted.feature_names,
            wanted.n_features,
            are_features=True,
        )
        values = np.frombuffer(self._values, np.float32)
        _, indptr = self._features.arrays()
        n_columns, names = placed.n_columns, placed.names
        if wanted.feature_names is not None:
            n_columns, names = len(wanted.feature_names), list(wanted.feature_names)
            known = features < n_columns
            n_unknown = len(features) - int(known.sum())
            if n_unknown:
                warnings.warn(
                    f"{path}: {n_unknown} features have names that the model does not know; "
                    "they are left out.",
                    LabelspaceWarning,
                    stacklevel=2,
                )
                indptr = np.append(0, np.cumsum(known))[indptr]
                features, values = features[known], values[known]
        elif wanted.n_features is not None:
            self._check_columns(path, features, names)
            n_columns = wanted.n_features
        X = build_csr(values, features, indptr, n_columns)
        merge_duplicates(X, path)
        return X, names

    def _check_columns(self, path: Path, features: Any, names: list[str] | None) -> None:
        """Refuse features that a model without feature names cannot have."""
        limit = self._wanted.n_features
        if names is not None:
            raise DataError(
                f"{path}, line {self._lines[0]}: features have names but the model knows them by "
                "number only; write the numbers of the training corpus's features."
            )
        beyond = np.flatnonzero(features >= limit)
        if len(beyond):
            _, indptr = self._features.arrays()
            row = int(np.searchsorted(indptr, beyond[0], side="right")) - 1
            raise DataError(
                f"{path}, line {self._lines[row]}: feature {features[beyond[0]]} is too large: "
                f"the model has {limit} features, counted from 0; "
                "use a corpus made with the features of the training corpus."
            )

    def _limit(self) -> int:
        wanted = self._wanted
        return MAX_INDEX if wanted.feature_names is None else len(wanted.feature_names)


def parse_object(line: str) -> dict[str, Any]:
    """Return the object on a line; anything else is a ValueError that says what it is."""

    def refuse(constant: str) -> float:
        raise ValueError(f"{constant} is not finite; replace it or leave it out.")

    try:
        row = json.loads(line, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"this is not JSON ({error.msg} at character {error.pos + 1}); "
            "write one whole object per line."
        ) from None
    except ValueError as error:
        if "digits" not in str(error):
            raise
        raise ValueError("a number has thousands of digits; write a shorter one.") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply; write one flat object.") from None
    if not isinstance(row, dict):
        raise ValueError(f'this is {_kind(row)}; write an object with "text" and "labels".')
    return row


def _labels(labels: Any) -> Sequence[str | int]:
    if not isinstance(labels, list):
        raise ValueError(f'"labels" is {_kind(labels)}; write a list of names or numbers.')
    for label in labels:
        if type(label) is int:
            _check_index(label, "label", MAX_INDEX)
        elif not isinstance(label, str):
            raise ValueError(f"a label is {_kind(label)}; write its name or its number.")
        elif not label.strip():
            raise ValueError("a label's name is blank; write its name or its number.")
        else:
            check_whole(label, "a label's name")
    return labels


def _pairs(features: Any, limit: int) -> tuple[list[str | int], list[float]]:
    if isinstance(features, dict):
        pairs: Sequence[Any] = list(features.items())
    elif isinstance(features, list):
        pairs = features
    else:
        raise ValueError(f'"features" is {_kind(features)}; write {{"3": 0.5}} or [[3, 0.5]].')
    keys: list[str | int] = []
    values: list[float] = []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError(f"a feature is {_kind(pair)}; write it as [number, value].")
        key, value = pair
        if type(key) is int:
            _check_index(key, "feature", limit)
        elif not isinstance(key, str):
            raise ValueError(f"a feature's key is {_kind(key)}; write its name or its number.")
        elif key.startswith("-") and key[1:].isdigit():
            _check_index(int(key[:20]), "feature", limit)
        else:
            check_whole(key, "a feature's name")
        if type(value) not in (int, float):
            raise ValueError(f"the value of feature {key!r} is {_kind(value)}; write a number.")
        if not abs(value) < _TOO_LARGE:
            raise ValueError(
                f"the value of feature {key!r} is beyond what a float32 can hold; "
                "scale it down or leave it out."
            )
        keys.append(key)
        values.append(value)
    return keys, values


def _check_index(index: int, what: str, limit: int) -> None:
    if index < 0:
        raise ValueError(f"{what} {index} is negative; number the {what}s from 0.")
    if index >= limit:
        raise ValueError(
            f"{what} {str(index)[:30]} is too large: numbers end at {limit - 1}; "
            "number the columns from 0."
        )


def _kind(thing: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if thing is None else names.get(type(thing), "a number")


def _features(X: csr_matrix, row: int, words: Sequence[str] | None) -> str:
    inside = slice(X.indptr[row], X.indptr[row + 1])

    def pairs() -> Iterator[tuple[int, str]]:
        # As strings: the shortest decimal of a float32 is longer as a float64.
        return zip(X.indices[inside].tolist(), X.data[inside].astype(str).tolist(), strict=True)

    if words is None:
        return "[" + ", ".join(f"[{i}, {value}]" for i, value in pairs()) + "]"
    members = (f"{json.dumps(words[i], ensure_ascii=False)}: {value}" for i, value in pairs())
    return "{" + ", ".join(members) + "}"
