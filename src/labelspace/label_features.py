"""What labels are called, as rows of features: names, other names and descriptions of labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.csr import canonical
from labelspace.errors import DataError


class NameVectors(NamedTuple):
    """Vectors that an encoder makes of names, and the label that each is a name of."""

    values: NDArray[np.float16]
    labels: NDArray[np.int64]


class LabelFeatures(NamedTuple):
    """Rows in the feature space of the examples, one or several for a label.

    Attributes
    ----------
    rows : csr_matrix of shape (n_names, n_features)
        Features of each name.
    labels : ndarray of shape (n_names,)
        Column of the label that each row is a name of, in any order; a label may have none.
    alike : ndarray of shape (n_features,), optional
        For each feature the one that stands for it and all that mean the same, such as the words
        of one stem; itself where there are no others.
    n_unknown : ndarray of shape (n_names,), optional
        Words of each name that are no feature, so that no row can have all of the name.
    vectors : NameVectors, optional
        What an encoder makes of names, also of those that have no feature.

    Examples
    --------
    >>> LabelFeatures.of(csr_matrix([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]), 3, 2).labels
    array([0, 2])
    """

    rows: csr_matrix
    labels: NDArray[np.int64]
    alike: NDArray[np.int64] | None = None
    n_unknown: NDArray[np.int64] | None = None
    vectors: NameVectors | None = None

    @classmethod
    def of(cls, given: Any, n_labels: int, n_features: int) -> LabelFeatures:
        """Return label features as given: these, or a matrix with a row for each label."""
        if not isinstance(given, LabelFeatures):
            rows = csr_matrix(given, dtype=np.float32)
            if rows.shape[0] != n_labels:
                raise DataError(
                    f"label_features has {rows.shape[0]} rows for {n_labels} labels: give one row "
                    "for each, or LabelFeatures(rows, labels)."
                )
            given = cls(rows, np.arange(n_labels))
        rows, labels = canonical(csr_matrix(given.rows)), np.asarray(given.labels, dtype=np.int64)
        alike = np.arange(n_features) if given.alike is None else np.asarray(given.alike)
        if rows.shape[1] != n_features or alike.shape != (n_features,):
            raise DataError(
                f"label_features has {rows.shape[1]} columns, but there are {n_features} features: "
                "give rows of the same features as X."
            )
        if labels.shape != (rows.shape[0],):
            raise DataError(
                f"label_features has {rows.shape[0]} rows but {labels.size} labels: give the label "
                "of each row."
            )
        if labels.size and not 0 <= labels.min() <= labels.max() < n_labels:
            raise DataError(
                f"label_features names label {labels.max()}, but there are {n_labels} labels: "
                "count them from 0."
            )
        if alike.size and not 0 <= alike.min() <= alike.max() < n_features:
            raise DataError("label_features.alike names a feature that there is not.")
        named = np.diff(rows.indptr) > 0
        unknown: NDArray[np.int64] = np.zeros(len(labels), dtype=np.int64)
        if given.n_unknown is not None:
            unknown = np.asarray(given.n_unknown, dtype=np.int64)
        if unknown.shape != labels.shape or unknown.min(initial=0) < 0:
            raise DataError("label_features.n_unknown counts words: give a number for each row.")
        return cls(csr_matrix(rows[named]), labels[named], alike.astype(np.int64), unknown[named])
