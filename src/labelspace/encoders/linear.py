"""The linear map z = Vᵀx from sparse features to a short dense vector.

A model file holds one row of V for every feature and learner, so rows are kept as eight-bit
integers with a scale each, v_f ≈ scale_f · q_f, and used as they are: encoding costs no more than
with floats, reads a quarter of the memory, and loses less than the last digit of a score.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders import _kernels
from labelspace.spaces.quantized import dequantized, quantized
from labelspace.store import Storable, schema


class LinearEncoder(Storable):
    """A linear map, ready to encode.

    Parameters
    ----------
    weights : ndarray of shape (n_features, dim), float32
    storage : {"int8", "float32"}
        How the weights are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> encoder = LinearEncoder(np.array([[1, 0], [0, 2]], dtype=np.float32))
    >>> encoder.encode(csr_matrix([[0.5, 0.5]], dtype=np.float32)).round(2).tolist()
    [[0.5, 1.0]]
    """

    _schema: ClassVar[schema.Schema] = {
        "weights": schema.array("int8 float32", "n_features", "dim"),
        "scales": schema.array("float32", "n_features"),
    }

    def __init__(self, weights: NDArray[np.float32], storage: str = "int8") -> None:
        self.weights, self.scales = quantized(weights, storage)

    @property
    def dim(self) -> int:
        return self.weights.shape[1]

    def encode(self, X: csr_matrix) -> NDArray[np.float32]:
        """Return the vectors of the rows of ``X``; a row without known features is zero."""
        Z = np.zeros((X.shape[0], self.dim), dtype=np.float32)
        _kernels.encode(
            X.indptr,
            X.indices,
            np.ascontiguousarray(X.data, dtype=np.float32),
            self.weights,
            self.scales,
            Z,
        )
        return Z

    def to_float(self, features: NDArray[np.integer] | None = None) -> NDArray[np.float32]:
        """Return the weights (of some features) as floats."""
        chosen = slice(None) if features is None else features
        return dequantized(self.weights[chosen], self.scales[chosen])

    def append(self, n_features: int) -> None:
        """Take more features, which count for nothing until they are given weights."""
        zeros = np.zeros((n_features, self.dim), dtype=self.weights.dtype)
        self.weights = np.concatenate((self.weights, zeros))
        self.scales = np.concatenate((self.scales, np.ones(n_features, dtype=np.float32)))

    def replace(self, features: NDArray[np.integer], weights: NDArray[np.float32]) -> None:
        """Give some features new weights."""
        storage = "int8" if self.weights.dtype == np.int8 else "float32"
        # In new arrays: who holds the old ones, to go back to them, finds them as they were.
        self.weights, self.scales = self.weights.copy(), self.scales.copy()
        self.weights[features], self.scales[features] = quantized(weights, storage)
