"""Graph search (HNSW): walk from key to nearer key through a graph of neighbours.

Finds nearly all true neighbours in little time, takes longer to build than the clustered index
and about three times its room. faiss builds and walks the graph; it is kept as faiss's own bytes.
"""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from labelspace.search.found import NO_KEY, Found
from labelspace.store import Storable


class GraphIndex(Storable):
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
        keys = np.ascontiguousarray(keys, dtype=np.float32)
        self.ids = np.arange(len(keys), dtype=np.int64) if ids is None else ids.astype(np.int64)
        self.breadth = breadth
        self._graph = faiss.IndexHNSWSQ(
            keys.shape[1], faiss.ScalarQuantizer.QT_fp16, n_links, faiss.METRIC_INNER_PRODUCT
        )
        self._graph.hnsw.efConstruction = 2 * n_links
        self._graph.train(keys)
        self._graph.add(keys)

    @property
    def n_keys(self) -> int:
        return self.ids.shape[0]

    def search(self, queries: NDArray[np.float32], n_neighbors: int) -> Found:
        """Return the keys with the largest inner product that the walk meets, largest first."""
        n_neighbors = min(n_neighbors, self.n_keys)
        if not n_neighbors or not len(queries):
            return Found.none(len(queries), n_neighbors)
        parameters = faiss.SearchParametersHNSW(efSearch=max(self.breadth, n_neighbors))
        products, places = self._graph.search(
            np.ascontiguousarray(queries, dtype=np.float32), n_neighbors, params=parameters
        )
        missing = places < 0
        ids = np.where(missing, NO_KEY, self.ids[places])
        return Found(ids, np.where(missing, -np.inf, products).astype(np.float32))

    def add(self, keys: NDArray[np.float32], ids: NDArray[Any]) -> None:
        """Put more keys into the graph; they are found at once."""
        self._graph.add(np.ascontiguousarray(keys, dtype=np.float32))
        self.ids = np.concatenate((self.ids, ids.astype(np.int64)))

    def vectors(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the keys of some ids."""
        order = np.argsort(self.ids)
        places = order[np.searchsorted(self.ids, ids, sorter=order)]
        return self._graph.reconstruct_batch(places)

    def _to_state(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name != "_graph"}
        return state | {"graph": faiss.serialize_index(self._graph)}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> GraphIndex:
        made = super()._from_state({name: state[name] for name in state if name != "graph"})
        made._graph = faiss.deserialize_index(np.ascontiguousarray(state["graph"]))
        return made
