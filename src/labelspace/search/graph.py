"""Graph search (HNSW): walk from key to nearer key through a graph of neighbours.

Finds nearly all true neighbours in little time, takes longer to build than the clustered index
and about three times its room. faiss builds and walks the graph; it is kept as faiss's own bytes.
"""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from labelspace.search.faiss_index import FaissIndex
from labelspace.search.found import Found


class GraphIndex(FaissIndex):
    """Dense keys joined to a graph.

    Parameters
    ----------
    keys : ndarray of shape (n_keys, dim), float32
    ids : ndarray of shape (n_keys,), optional
        Number under which each key is found; its place unless given.
    n_links : int
        Links of each key.
    breadth : int
        Keys that a search holds in hand; more finds more and takes longer.

    Examples
    --------
    >>> import numpy as np
    >>> index = GraphIndex(np.eye(3, dtype=np.float32))
    >>> index.search(np.array([[0.1, 0.9, 0.2]], dtype=np.float32), 2).ids
    array([[1, 2]])
    """

    def __init__(
        self,
        keys: NDArray[np.float32],
        ids: NDArray[Any] | None = None,
        *,
        n_links: int = 16,
        breadth: int = 64,
    ) -> None:
        keys = self._as_keys(keys)
        self.ids = np.arange(len(keys), dtype=np.int64) if ids is None else ids.astype(np.int64)
        self.breadth = breadth
        self._index = faiss.IndexHNSWSQ(
            keys.shape[1], faiss.ScalarQuantizer.QT_fp16, n_links, faiss.METRIC_INNER_PRODUCT
        )
        self._index.hnsw.efConstruction = 2 * n_links
        self._index.train(keys)
        self._index.add(keys)

    def search(self, queries: NDArray[np.float32], n_neighbors: int) -> Found:
        """Return the keys with the largest inner product that the walk meets, largest first."""
        breadth = max(self.breadth, min(n_neighbors, self.n_keys))
        return self._found(queries, n_neighbors, faiss.SearchParametersHNSW(efSearch=breadth))

    def vectors(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the keys of some ids."""
        order = np.argsort(self.ids)
        places = order[np.searchsorted(self.ids, ids, sorter=order)]
        return self._index.reconstruct_batch(places)
