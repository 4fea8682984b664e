"""Product-quantised search: keys in lists around centroids, each kept as a few bytes.

A key less its list's centroid is cut into short pieces, and each piece is replaced by the nearest
of 256: one byte per piece. Inner products with the pieces come from a table made once per query.
The smallest index and the coarsest: what it finds is right, the order among near ones may not be.
faiss trains and searches it; it is kept as faiss's own bytes.
"""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from labelspace.search.faiss_index import FaissIndex
from labelspace.search.found import Found


class ProductIndex(FaissIndex):
    """Dense keys, a byte for every few dimensions.

    Parameters
    ----------
    keys : ndarray of shape (n_keys, dim), float32
    ids : ndarray of shape (n_keys,), optional
        Number under which each key is found; its place unless given.
    piece : int
        Dimensions that share a byte.
    n_probes : int
        Lists that a query looks into; more finds more and takes longer.

    Examples
    --------
    >>> import numpy as np
    >>> index = ProductIndex(np.eye(8, dtype=np.float32))
    >>> index.search(np.eye(8, dtype=np.float32)[2:3], 1).ids
    array([[2]])
    """

    def __init__(
        self,
        keys: NDArray[np.float32],
        ids: NDArray[Any] | None = None,
        *,
        piece: int = 4,
        n_probes: int = 16,
    ) -> None:
        self.ids = np.arange(len(keys), dtype=np.int64) if ids is None else ids.astype(np.int64)
        self.piece = piece
        self.n_probes = n_probes
        padded = self._as_keys(keys)
        width = padded.shape[1]
        n_lists = max(1, round(np.sqrt(len(keys)) / 2))
        n_bits = max(1, min(8, int(np.log2(max(len(keys), 2)))))
        self._index = faiss.IndexIVFPQ(
            faiss.IndexFlatIP(width),
            width,
            n_lists,
            width // piece,
            n_bits,
            faiss.METRIC_INNER_PRODUCT,
        )
        self._index.cp.min_points_per_centroid = 1
        self._index.pq.cp.min_points_per_centroid = 1
        if len(keys):
            self._index.train(padded)
            self._index.add(padded)

    def search(self, queries: NDArray[np.float32], n_neighbors: int) -> Found:
        """Return the keys with about the largest inner product, largest first."""
        parameters = faiss.SearchParametersIVF(nprobe=self.n_probes)
        return self._found(queries, n_neighbors, parameters)

    def _as_keys(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        missing = -vectors.shape[1] % self.piece
        return np.ascontiguousarray(np.pad(vectors, ((0, 0), (0, missing))), dtype=np.float32)
