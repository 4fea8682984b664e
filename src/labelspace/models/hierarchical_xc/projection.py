"""Linear maps of sparse rows into a small space that need no labels.

``"svd"`` keeps what reconstructs the rows best with ``dim`` numbers, X ≈ (X V) Vᵀ: what a linear
auto-encoder with squared error arrives at. ``"random"`` draws V, which keeps the rows' inner
products up to noise of 1/√dim.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.extmath import randomized_svd

from labelspace.encoders.linear import LinearEncoder

PROJECTIONS = ("svd", "random")


def projection(X: csr_matrix, dim: int, kind: str = "svd", seed: int = 0) -> LinearEncoder:
    """Return a map into ``dim`` dimensions, or fewer where rows or features are fewer.

    Examples
    --------
    >>> X = csr_matrix([[3.0, 0, 0], [0, 2.0, 0], [0, 0, 0.1]], dtype=np.float32)
    >>> abs(projection(X, 2).encode(X)).round(1)
    array([[3., 0.],
           [0., 2.],
           [0., 0.]], dtype=float32)
    """
    if kind == "random":
        random = np.random.default_rng(seed)
        drawn = random.standard_normal((X.shape[1], dim), dtype=np.float32) / np.float32(dim**0.5)
        return LinearEncoder(drawn, storage="float32")
    _, _, directions = randomized_svd(X, min(dim, *X.shape), random_state=seed)
    return LinearEncoder(np.ascontiguousarray(directions.T, dtype=np.float32), storage="float32")
