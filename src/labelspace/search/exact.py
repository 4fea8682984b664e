"""Exact search for the largest inner product among dense vectors: every key is looked at.

The yardstick for the other indexes, and the right choice up to some ten thousand keys.
"""

from __future__ import annotations

from typing import Any, ClassVar

import faiss
import numpy as np
from numpy.typing import NDArray

from labelspace.search.result import NO_KEY, SearchResult, known_places
from labelspace.store import Storable, schema


class ExactIndex(Storable):
    """Dense keys, compared with every query.

    Parameters
    ----------
    keys : ndarray of shape (n_keys, dim), float32
    ids : ndarray of shape (n_keys,), optional
        Number under which each key is found; its place unless given.

    Examples
    --------
    >>> import numpy as np
    >>> index = ExactIndex(np.eye(3, dtype=np.float32))
    >>> index.search(np.array([[0.1, 0.9, 0.2]], dtype=np.float32), 2).ids
    array([[1, 2]])
    """

    _schema: ClassVar[schema.Schema] = {
        "keys": schema.array("float32", "n_keys", "dim"),
        "ids": schema.array("int64", "n_keys", low=0, end="ids_end"),
    }

    def __init__(self, keys: NDArray[np.float32], ids: NDArray[Any] | None = None) -> None:
        self.keys = np.ascontiguousarray(keys, dtype=np.float32)
        self.ids = np.arange(len(keys), dtype=np.int64) if ids is None else ids.astype(np.int64)

    @property
    def n_keys(self) -> int:
        return self.keys.shape[0]

    def search(self, queries: NDArray[np.float32], n_neighbors: int) -> SearchResult:
        """Return the keys with the largest inner product, largest first."""
        n_neighbors = min(n_neighbors, self.n_keys)
        if not n_neighbors or not len(queries):
            return SearchResult.none(len(queries), n_neighbors)
        products, places = faiss.knn(
            np.ascontiguousarray(queries), self.keys, n_neighbors, metric=faiss.METRIC_INNER_PRODUCT
        )
        # Where products are no numbers, fewer keys are found than there are.
        return SearchResult(np.where(places < 0, NO_KEY, self.ids[places]), products)

    def add(self, keys: NDArray[np.float32], ids: NDArray[Any]) -> None:
        """Put more keys in; they are found at once."""
        self.keys = np.concatenate((self.keys, keys.astype(np.float32)))
        self.ids = np.concatenate((self.ids, ids.astype(np.int64)))

    def vectors(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the keys of some ids, all of which are there."""
        return self.keys[known_places(self.ids, ids)]
