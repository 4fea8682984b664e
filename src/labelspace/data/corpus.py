"""The one shape that a corpus has in memory, whatever file it came from."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from labelspace.csr import NamedColumns, canonical
from labelspace.data.formats.streamed import taken
from labelspace.errors import DataError, LabelspaceWarning

if TYPE_CHECKING:
    from labelspace.data.formats.table import Reading
    from labelspace.vocabulary import Vocabulary


@dataclass(eq=False)
class Corpus:
    """Examples with their labels.

    Attributes
    ----------
    X : csr_matrix of float32 (n_examples, n_features), or None
        Features; None where the corpus has only text.
    Y : csr_matrix of float32 ones (n_examples, n_labels)
        Labels.
    texts : sequence of str, or None
        The examples as text; those of a large table stay in its file, and are read again each time
        they are gone through.
    label_names, feature_names : list of str, or None
        Names of the columns of ``Y`` and ``X``.
    ids : sequence of str, or None
        The examples' identifiers, where their file has any.
    reading : Reading, or None
        How the file was understood, where it was a table.
    vocabulary : Vocabulary, or None
        What the labels are called, where that was read; ``label_keys`` are the keys of the columns.

    Examples
    --------
    >>> corpus = Corpus(
    ...     X=None,
    ...     Y=csr_matrix([[1, 0], [1, 1]]),
    ...     texts=["a red ball", "a red and green ball"],
    ...     label_names=["red", "green"],
    ... )
    >>> len(corpus), corpus.n_labels, corpus.n_features
    (2, 2, 0)
    >>> corpus.labels_of(1)
    ['red', 'green']
    """

    X: csr_matrix | None
    Y: csr_matrix
    texts: Sequence[str] | None = None
    label_names: list[str] | None = None
    feature_names: list[str] | None = None
    ids: Sequence[str] | None = None
    reading: Reading | None = None
    vocabulary: Vocabulary | None = None
    label_keys: list[str] | None = None

    def __post_init__(self) -> None:
        self.Y = binary(csr_matrix(self.Y))
        if self.X is not None:
            self.X = canonical(csr_matrix(self.X, dtype=np.float32))
        for what, size, expected in (
            ("rows of X", self.X.shape[0] if self.X is not None else None, len(self)),
            ("texts", len(self.texts) if self.texts is not None else None, len(self)),
            ("ids", len(self.ids) if self.ids is not None else None, len(self)),
            (
                "label names",
                len(self.label_names) if self.label_names is not None else None,
                self.n_labels,
            ),
            (
                "feature names",
                len(self.feature_names) if self.feature_names is not None else None,
                self.n_features,
            ),
        ):
            if size is not None and size != expected:
                raise DataError(
                    f"A corpus of {len(self)} rows, {self.n_features} features and "
                    f"{self.n_labels} labels cannot have {size} {what}; make them {expected}."
                )

    def __len__(self) -> int:
        return int(self.Y.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``; 0 for a corpus of text."""
        return int(self.X.shape[1]) if self.X is not None else 0

    @property
    def n_labels(self) -> int:
        """Number of columns of ``Y``."""
        return int(self.Y.shape[1])

    @property
    def rows(self) -> Sequence[str] | NamedColumns | csr_matrix:
        """The examples as a model takes them: features, with their names, or texts."""
        if self.X is None:
            return self.texts or []
        return self.X if self.feature_names is None else NamedColumns(self.X, self.feature_names)

    def labels_of(self, row: int) -> list[str]:
        """Return the names of a row's labels (their ids, as text, where they have none)."""
        ids = self.Y.indices[self.Y.indptr[row] : self.Y.indptr[row + 1]]
        names = self.label_names
        return [str(label) if names is None else names[label] for label in ids]

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> Corpus:
        """Return the corpus of these rows, in this order, with the same columns.

        >>> corpus = Corpus(X=csr_matrix([[1.0], [2.0], [3.0]]), Y=csr_matrix((3, 5)))
        >>> corpus.take([2, 0]).X.toarray().ravel()
        array([3., 1.], dtype=float32)
        """
        chosen: Any = np.asarray(rows, dtype=np.int64)
        return Corpus(
            X=self.X[chosen] if self.X is not None else None,
            Y=self.Y[chosen],
            texts=taken(self.texts, chosen.tolist()) if self.texts is not None else None,
            label_names=self.label_names,
            feature_names=self.feature_names,
            ids=taken(self.ids, chosen.tolist()) if self.ids is not None else None,
            reading=self.reading,
            vocabulary=self.vocabulary,
            label_keys=self.label_keys,
        )

    def followed_by(self, other: Corpus) -> Corpus:
        """Return the rows of both, whose columns are the same but for labels that ``other`` adds.

        >>> one = Corpus(None, csr_matrix([[1]]), ["a rose"], ["rose"])
        >>> two = Corpus(None, csr_matrix([[1, 1]]), ["two tulips"], ["rose", "tulip"])
        >>> len(one.followed_by(two)), one.followed_by(two).label_names
        (2, ['rose', 'tulip'])
        """
        Y = self.Y.copy()
        Y.resize(len(self), other.n_labels)
        return replace(
            other,
            X=None if self.X is None or other.X is None else csr_matrix(vstack([self.X, other.X])),
            Y=csr_matrix(vstack([Y, other.Y])),
            texts=None if self.texts is None else [*self.texts, *(other.texts or ())],
            ids=None,
            reading=self.reading,
        )

    def with_merged_labels(self, target: NDArray[np.int64]) -> Corpus:
        """Return the corpus with each label moved to the column ``target`` has for it.

        Columns that nothing is moved to are left out, and their names.

        >>> corpus = Corpus(None, csr_matrix([[1, 0, 1]]), ["a rose"], ["rose", "tulip", "Rosa"])
        >>> merged = corpus.with_merged_labels(np.array([0, 1, 0]))
        >>> merged.label_names, merged.labels_of(0)
        (['rose', 'tulip'], ['rose'])
        """
        kept, column = np.unique(target, return_inverse=True)
        Y = build_csr(self.Y.data, column[self.Y.indices], self.Y.indptr, len(kept))
        Y.sum_duplicates()
        names, keys = self.label_names, self.label_keys
        return replace(
            self,
            Y=Y,
            label_names=None if names is None else [names[label] for label in kept],
            label_keys=None if keys is None else [keys[label] for label in kept],
        )


def build_csr(
    values: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], n_columns: int
) -> csr_matrix:
    """Put arrays together into CSR without copying them more than the index type asks for."""
    small = max(n_columns, len(indices)) <= np.iinfo(np.int32).max
    dtype = np.int32 if small else np.int64
    return csr_matrix(
        (values, indices.astype(dtype, copy=False), indptr.astype(dtype, copy=False)),
        shape=(len(indptr) - 1, n_columns),
        copy=False,
    )


def merge_duplicates(X: csr_matrix, path: Path) -> None:
    """Sort each row's features and add up those given twice, in place, with a warning."""
    n_before = X.nnz
    with np.errstate(over="ignore", invalid="ignore"):
        X.sum_duplicates()
    if n_before > X.nnz and not np.isfinite(X.data).all():
        row = int(np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(X.data))[0], "right"))
        raise DataError(
            f"{path}: a feature that is given again in row {row} adds up to more than a float32 "
            "can hold; scale the values down."
        )
    if n_before > X.nnz:
        warnings.warn(
            f"{path}: {n_before - X.nnz} features were given again in the same row; "
            "their values were added up.",
            LabelspaceWarning,
            stacklevel=2,
        )


def binary(matrix: csr_matrix) -> csr_matrix:
    """Return the matrix of float32 ones where ``matrix`` is not zero.

    >>> binary(csr_matrix([[0, 3, -1]])).toarray()
    array([[0., 1., 1.]], dtype=float32)
    """
    matrix = canonical(matrix)
    if matrix.dtype == np.float32 and (matrix.nnz == 0 or (matrix.data == 1).all()):
        return matrix
    ones = np.ones(matrix.nnz, dtype=np.float32)
    return csr_matrix((ones, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False)
