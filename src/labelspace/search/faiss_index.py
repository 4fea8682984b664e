"""What the indexes that faiss keeps have in common: ids, answers, more keys, and being stored."""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from labelspace.search.found import NO_KEY, Found
from labelspace.store import Storable


class FaissIndex(Storable):
    """Keys in an index of faiss, each found under a number of its own."""

    ids: NDArray[np.int64]
    _index: Any

    @property
    def n_keys(self) -> int:
        return self.ids.shape[0]

    def add(self, keys: NDArray[np.float32], ids: NDArray[Any]) -> None:
        """Put more keys in; they are found at once."""
        self._index.add(self._as_keys(keys))
        self.ids = np.concatenate((self.ids, ids.astype(np.int64)))

    def _as_keys(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return vectors in the form that the index takes."""
        return np.ascontiguousarray(vectors, dtype=np.float32)

    def _found(self, queries: NDArray[np.float32], n_neighbors: int, parameters: Any) -> Found:
        n_neighbors = min(n_neighbors, self.n_keys)
        if not n_neighbors or not len(queries):
            return Found.none(len(queries), n_neighbors)
        products, places = self._index.search(
            self._as_keys(queries), n_neighbors, params=parameters
        )
        missing = places < 0
        ids = np.where(missing, NO_KEY, self.ids[places])
        return Found(ids, np.where(missing, -np.inf, products).astype(np.float32))

    def _to_state(self) -> dict[str, Any]:
        return vars(self) | {"_index": faiss.serialize_index(self._index)}

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Any:
        index = faiss.deserialize_index(np.ascontiguousarray(state["_index"]))
        return super()._from_state(state | {"_index": index})
