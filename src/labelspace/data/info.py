"""What a corpus is like: the numbers that one asks for before training on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.data.corpus import Corpus

TAIL = 5  # a label with at most so many examples (and at least one) is a tail label


@dataclass(frozen=True)
class FrequencyBin:
    """Labels with ``low`` to ``high`` examples, both included."""

    low: int
    high: int
    n_labels: int
    n_assignments: int


@dataclass(frozen=True)
class CorpusInfo:
    """Numbers about a corpus.

    Tail labels have 1 to 5 examples; their share is of the labels that have any example, and of
    all assignments of a label to a row. A duplicate is a row that repeats an earlier one.
    """

    n_examples: int
    n_features: int
    n_labels: int
    has_text: bool
    n_feature_values: int
    n_assignments: int
    features_per_row: float
    labels_per_row: float
    max_labels_per_row: int
    examples_per_label: float
    feature_density: float
    label_density: float
    rows_without_labels: int
    rows_without_features: int
    labels_without_examples: int
    tail_labels: int
    tail_share_of_labels: float
    tail_share_of_assignments: float
    duplicate_features: int
    duplicate_rows: int
    label_frequencies: list[FrequencyBin]

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as plain Python objects, ready for JSON."""
        return asdict(self)


def describe(corpus: Corpus) -> CorpusInfo:
    """Return sizes, label frequencies, gaps and duplicates of a corpus.

    A corpus of text has words instead of features: its rows without features are those with an
    empty text, and its duplicates those with the same text.

    Examples
    --------
    >>> X, Y = csr_matrix([[1.0, 0], [1, 0], [0, 2]]), csr_matrix([[1, 0], [1, 0], [0, 0]])
    >>> info = describe(Corpus(X, Y))
    >>> info.labels_without_examples, info.rows_without_labels, info.duplicate_rows
    (1, 1, 1)
    >>> info.label_frequencies
    [FrequencyBin(low=2, high=2, n_labels=1, n_assignments=2)]
    """
    X, Y = corpus.X, corpus.Y
    n_examples = len(corpus)
    labels_per_row = np.diff(Y.indptr)
    # Of the labels that occur: ids may be as large as they like.
    frequencies = np.unique(Y.indices, return_counts=True)[1]
    tail = frequencies[frequencies <= TAIL]
    if X is not None:
        n_empty = int((np.diff(X.indptr) == 0).sum())
    else:
        n_empty = sum(not text.strip() for text in corpus.texts or ())
    duplicate_features, duplicate_rows = _count_duplicates(corpus)
    n_values = X.nnz if X is not None else 0
    return CorpusInfo(
        n_examples=n_examples,
        n_features=corpus.n_features,
        n_labels=corpus.n_labels,
        has_text=corpus.texts is not None,
        n_feature_values=n_values,
        n_assignments=Y.nnz,
        features_per_row=_ratio(n_values, n_examples),
        labels_per_row=_ratio(Y.nnz, n_examples),
        max_labels_per_row=int(labels_per_row.max(initial=0)),
        examples_per_label=_ratio(Y.nnz, corpus.n_labels),
        feature_density=_ratio(n_values, n_examples * corpus.n_features),
        label_density=_ratio(Y.nnz, n_examples * corpus.n_labels),
        rows_without_labels=int((labels_per_row == 0).sum()),
        rows_without_features=n_empty,
        labels_without_examples=corpus.n_labels - len(frequencies),
        tail_labels=len(tail),
        tail_share_of_labels=_ratio(len(tail), len(frequencies)),
        tail_share_of_assignments=_ratio(int(tail.sum()), Y.nnz),
        duplicate_features=duplicate_features,
        duplicate_rows=duplicate_rows,
        label_frequencies=_frequency_bins(frequencies),
    )


def _frequency_bins(frequencies: np.ndarray) -> list[FrequencyBin]:
    """Count labels by frequency: 1, 2, 3-5, 6-10, 11-20, 21-50, and so on by 1, 2, 5."""
    bins: list[FrequencyBin] = []
    low = 1
    for high in _one_two_five():
        if low > frequencies.max(initial=0):
            return bins
        inside = frequencies[(frequencies >= low) & (frequencies <= high)]
        if len(inside) or bins:
            bins.append(FrequencyBin(low, high, len(inside), int(inside.sum())))
        low = high + 1
    return bins


def _one_two_five() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def _count_duplicates(corpus: Corpus) -> tuple[int, int]:
    """Return how many rows repeat an earlier row's features, and its labels as well.

    Rows are compared by a 128-bit digest, so that memory needs 16 bytes for each.
    """
    features: set[bytes] = set()
    rows: set[bytes] = set()
    texts = iter(corpus.texts or ())
    for row in range(len(corpus)):
        if corpus.X is not None:
            content = _row_bytes(corpus.X, row, with_values=True)
        else:
            content = next(texts, "").encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(content, digest_size=16).digest()
        features.add(digest)
        labels = _row_bytes(corpus.Y, row, with_values=False)
        rows.add(hashlib.blake2b(digest + labels, digest_size=16).digest())
    return len(corpus) - len(features), len(corpus) - len(rows)


def _row_bytes(matrix: csr_matrix, row: int, with_values: bool) -> bytes:
    inside = slice(matrix.indptr[row], matrix.indptr[row + 1])
    content = matrix.indices[inside].tobytes()
    return content + matrix.data[inside].tobytes() if with_values else content


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
