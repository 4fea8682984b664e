"""Rows of length one: the encoder of methods that compare rows by their features as they are."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.store import Storable, schema

_LARGEST_SCALE = 1e38


class UnitRows(Storable):
    """Scales each row to length one, after weighting rare features more if asked to.

    The weight of a feature is its inverse document frequency, ln((1 + n) / (1 + n_f)) + 1, where
    n_f of n training rows have it. Features that are tf-idf already do not need it.

    Parameters
    ----------
    idf : bool or "auto"
        "auto" weights features where all values are whole numbers: 0-1 features or counts.
    norm : bool
        Whether rows are scaled to length one at all.

    Examples
    --------
    >>> rows = UnitRows(idf=False).learn(csr_matrix([[3.0, 4.0]]))
    >>> rows.encode(csr_matrix([[3.0, 4.0], [0.0, 0.0]])).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """

    _schema: ClassVar[schema.Schema] = {
        "idf": schema.option(True, False, "auto"),
        "norm": schema.FLAG,
        "feature_weights": schema.optional(schema.array("float32", "n_features")),
    }

    def __init__(self, idf: bool | Literal["auto"] = False, norm: bool = True) -> None:
        self.idf = idf
        self.norm = norm
        self.feature_weights: NDArray[np.float32] | None = None

    def learn(self, X: csr_matrix) -> UnitRows:
        """Count in how many rows of ``X`` each feature is."""
        if self.idf == "auto":
            self.idf = bool(np.all(X.data == np.rint(X.data)))
        if self.idf:
            in_rows = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
            weights = np.log((1 + X.shape[0]) / (1 + in_rows)) + 1
            self.feature_weights = weights.astype(np.float32)
        return self

    def encode(self, X: csr_matrix) -> csr_matrix:
        """Return the scaled rows as a new matrix; a row without features stays so."""
        data = X.data.astype(np.float32)
        if self.feature_weights is not None:
            data *= self.feature_weights[X.indices]
        if self.norm:
            lengths = np.sqrt(_row_sums(X.indptr, np.square(data, dtype=np.float64)))
            scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
            sizes = np.diff(X.indptr)
            if scales.max(initial=0.0) > _LARGEST_SCALE:  # a float32 does not hold it
                tiny = np.repeat(scales > _LARGEST_SCALE, sizes)
                data[tiny] = (data * np.repeat(scales, sizes))[tiny]
                scales[scales > _LARGEST_SCALE] = 1.0
            data *= np.repeat(scales.astype(np.float32), sizes)
        return csr_matrix((data, X.indices, X.indptr), shape=X.shape)


def _row_sums(indptr: NDArray[np.integer], values: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(len(indptr) - 1)
    filled = np.flatnonzero(np.diff(indptr))
    if filled.size:
        sums[filled] = np.add.reduceat(values, indptr[filled])
    return sums
