"""Counting the tokens of texts into sparse rows, one text after the other."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.data.corpus import build_csr


def count_all(token_lists: Iterable[list[str]]) -> tuple[csr_matrix, list[str]]:
    """Count the tokens of each text; number them as they come."""
    number_of: defaultdict[str, int] = defaultdict()
    number_of.default_factory = number_of.__len__
    columns, values, indptr = array("i"), array("i"), array("q", [0])
    for tokens in token_lists:
        counts = Counter(tokens)
        columns.extend(map(number_of.__getitem__, counts))
        values.extend(counts.values())
        indptr.append(len(columns))
    counted = build_csr(
        np.array(values, dtype=np.float32),
        np.frombuffer(columns, dtype=np.int32),
        np.frombuffer(indptr, dtype=np.int64),
        len(number_of),
    )
    return counted, list(number_of)


def merged_counts(
    parts: Iterable[tuple[csr_matrix, list[str]]], n_columns: int | None = None
) -> tuple[csr_matrix, list[str]]:
    """Put the counts of parts of the texts together, as if one had gone through all of them.

    >>> one, two = count_all([["a", "b"]]), count_all([["c", "a"]])
    >>> counts, tokens = merged_counts([one, two])
    >>> tokens, counts.toarray().tolist()
    (['a', 'b', 'c'], [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    """
    number_of: dict[str, int] = {}
    columns, values, lengths = [], [], []
    for counts, tokens in parts:
        if n_columns is None:
            numbers = [number_of.setdefault(token, len(number_of)) for token in tokens]
            columns.append(np.array(numbers, dtype=np.int32)[counts.indices])
        else:
            columns.append(counts.indices)
        values.append(counts.data)
        lengths.append(np.diff(counts.indptr))
    ends = np.concatenate(([0], np.cumsum(np.concatenate(lengths), dtype=np.int64)))
    n_columns = len(number_of) if n_columns is None else n_columns
    merged = build_csr(np.concatenate(values), np.concatenate(columns), ends, n_columns)
    return merged, list(number_of)


def count_known(token_lists: Iterable[list[str]], vocabulary: dict[str, int]) -> csr_matrix:
    """Count the tokens of each text that are in the vocabulary."""
    columns, values, indptr = array("i"), array("i"), array("q", [0])
    for tokens in token_lists:
        counts = Counter(tokens)
        columns.extend(map(vocabulary.get, counts, repeat(-1)))
        values.extend(counts.values())
        indptr.append(len(columns))
    return keep_known(
        np.array(values, dtype=np.float32),
        np.frombuffer(columns, dtype=np.int32),
        np.frombuffer(indptr, dtype=np.int64),
        len(vocabulary),
    )


def keep_known(
    values: NDArray[Any], columns: NDArray[Any], indptr: NDArray[Any], n_columns: int
) -> csr_matrix:
    """Make sorted CSR of the entries whose column is not negative."""
    known = columns >= 0
    ends = np.concatenate(([0], np.cumsum(known, dtype=np.int64)))[indptr]
    kept = build_csr(values[known], columns[known], ends, n_columns)
    kept.sort_indices()
    return kept
