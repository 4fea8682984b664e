"""True labels and rankings that are lists of names, made into columns that metrics count on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.errors import DataError
from labelspace.frames import labels_of


def is_lists(labels: Any) -> bool:
    """Tell whether these are lists of labels, one for each row, rather than a matrix."""
    return isinstance(labels, (list, tuple)) and all(
        isinstance(row, (list, tuple, set, frozenset, np.ndarray)) for row in labels
    )


def by_column(
    truth: Any, ranking: Any, label_counts: Any = None
) -> tuple[csr_matrix, NDArray[np.int64], Any]:
    """Return true labels as a matrix, a ranking as columns, and counts by column.

    Parameters
    ----------
    truth : list of lists of names, or a column of them
    ranking : list of lists, best first
        Names, or pairs of name and score as ``Tagger.tag_many`` gives them.
    label_counts : mapping of name to count, optional

    Examples
    --------
    >>> Y, ranked, _ = by_column([["red"], []], [[("blue", 0.5), ("red", 0.2)], ["blue"]])
    >>> Y.toarray(), ranked
    (array([[0., 1.],
           [0., 0.]], dtype=float32), array([[ 0,  1],
           [ 0, -1]]))
    """
    true_rows = [list(row) for row in labels_of(truth)]
    ranked_rows = [[_name(item) for item in row] for row in ranking]
    names = sorted({name for row in (*true_rows, *ranked_rows) for name in row}, key=str)
    column = {name: at for at, name in enumerate(names)}
    columns = [sorted({column[name] for name in row}) for row in true_rows]
    flat = np.array([label for row in columns for label in row], dtype=np.int64)
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in columns], dtype=np.int64)))
    ones = np.ones(len(flat), dtype=np.float32)
    Y = csr_matrix((ones, flat, indptr), shape=(len(columns), max(len(names), 1)))
    widest = max((len(row) for row in ranked_rows), default=0)
    ranked = np.full((len(ranked_rows), widest), -1, dtype=np.int64)
    for row, given in enumerate(ranked_rows):
        ranked[row, : len(given)] = [column[name] for name in given]
    if label_counts is not None:
        label_counts = _counts(label_counts, names)
    return Y, ranked, label_counts


def _counts(label_counts: Any, names: Sequence[Any]) -> NDArray[np.int64]:
    if not hasattr(label_counts, "get"):
        raise DataError(
            "The labels are names, but their counts in train are not: give a dict of name to "
            "count, such as collections.Counter makes."
        )
    return np.array([label_counts.get(name, 0) for name in names], dtype=np.int64)


def _name(item: Any) -> Any:
    return item[0] if isinstance(item, (tuple, list)) else item
