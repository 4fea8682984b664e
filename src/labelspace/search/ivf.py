"""Clustered search (IVF): keys in lists around centroids, a query looks into the nearest lists.

k-means finds the centroids. Keys lie in one array, list after list, as eight-bit integers with a
scale each, and are compared with the query as they are. So the index is two plain arrays and some
small ones: memory-mapped when a model is loaded, nothing to be built, a quarter of the size of
floats, and quicker than floats since reading memory is what takes the time.
"""

from __future__ import annotations

from typing import Any, ClassVar

import faiss
import numpy as np
from numpy.typing import NDArray

from labelspace import threads
from labelspace.search import _ivf_kernels
from labelspace.search.result import SearchResult, known_places
from labelspace.spaces.quantized import dequantized, quantized
from labelspace.store import Storable, schema

# k-means needs no more points per centroid than this to find its place.
_POINTS_PER_LIST = 64


class IVFIndex(Storable):
    """Dense keys in lists around centroids.

    Parameters
    ----------
    keys : ndarray of shape (n_keys, dim), float32
    ids : ndarray of shape (n_keys,), optional
        Number under which each key is found; its place unless given.
    n_lists : int, optional
        √n_keys unless given.
    n_probes : int
        Lists that a query looks into; more finds more and takes longer.
    storage : {"int8", "float32"}
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> keys = np.eye(3, dtype=np.float32)
    >>> index = IVFIndex(keys, n_lists=1)
    >>> index.search(keys[1:2] + 0.1 * keys[2:3], 2).ids
    array([[1, 2]])
    """

    keys: NDArray[Any]
    scales: NDArray[np.float32]
    ids: NDArray[np.int32]
    starts: NDArray[np.int64]

    _schema: ClassVar[schema.Schema] = {
        "n_probes": schema.integer(1),
        "storage": schema.STORAGE,
        "centroids": schema.array("float32", "n_lists", "dim"),
        "keys": schema.array("int8 float32", "n_keys", "dim"),
        "scales": schema.array("float32", "n_keys"),
        "ids": schema.array("int32", "n_keys", low=0, end="ids_end"),
        "starts": schema.offsets("n_lists", "n_keys"),
    }

    def __init__(
        self,
        keys: NDArray[np.float32],
        ids: NDArray[Any] | None = None,
        *,
        n_lists: int | None = None,
        n_probes: int = 8,
        storage: str = "int8",
        seed: int = 0,
    ) -> None:
        keys = np.ascontiguousarray(keys, dtype=np.float32)
        ids = np.arange(len(keys)) if ids is None else ids
        n_lists = max(1, round(np.sqrt(len(keys)))) if n_lists is None else n_lists
        self.n_probes = n_probes
        self.storage = storage
        self.centroids = _centroids(keys, min(n_lists, max(len(keys), 1)), seed)
        self._arrange(keys, ids.astype(np.int64), self._nearest_list(keys))

    @property
    def n_keys(self) -> int:
        return self.ids.shape[0]

    def search(self, queries: NDArray[np.float32], n_neighbors: int) -> SearchResult:
        """Return the keys with the largest inner product in the nearest lists, largest first."""
        found = SearchResult.none(len(queries), min(n_neighbors, self.n_keys))
        if len(queries) and found.ids.shape[1]:
            queries = np.ascontiguousarray(queries, dtype=np.float32)
            _ivf_kernels.search_lists(
                queries,
                self.centroids,
                min(self.n_probes, len(self.centroids)),
                self.starts,
                self.keys,
                self.scales,
                self.ids,
                found.ids,
                found.products,
            )
        return found

    def add(self, keys: NDArray[np.float32], ids: NDArray[Any]) -> None:
        """Put more keys into the lists that they are nearest to; they are found at once."""
        new_keys, new_scales = quantized(keys, self.storage)
        old_lists = np.repeat(np.arange(len(self.centroids)), np.diff(self.starts))
        lists = np.concatenate((old_lists, self._nearest_list(keys)))
        order = np.argsort(lists, kind="stable")
        self.keys = np.concatenate((self.keys, new_keys))[order]
        self.scales = np.concatenate((self.scales, new_scales))[order]
        self.ids = np.concatenate((self.ids, ids.astype(np.int32)))[order]
        self.starts = _starts(lists, len(self.centroids))

    def vectors(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the keys of some ids, all of which are there."""
        places = known_places(self.ids, ids)
        return dequantized(self.keys[places], self.scales[places])

    def _arrange(
        self, keys: NDArray[np.float32], ids: NDArray[np.int64], lists: NDArray[np.int64]
    ) -> None:
        order = np.argsort(lists, kind="stable")
        self.keys, self.scales = quantized(keys[order], self.storage)
        self.ids = ids[order].astype(np.int32)
        self.starts = _starts(lists, len(self.centroids))

    def _nearest_list(self, keys: NDArray[np.float32]) -> NDArray[np.int64]:
        if not len(keys):
            return np.zeros(0, dtype=np.int64)
        keys = np.ascontiguousarray(keys, dtype=np.float32)
        with threads.limit(1):  # BLAS on more of them rounds in another way
            _, nearest = faiss.knn(keys, self.centroids, 1, metric=faiss.METRIC_INNER_PRODUCT)
        return nearest[:, 0]


def _starts(lists: NDArray[np.int64], n_lists: int) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.bincount(lists, minlength=n_lists))))


def _centroids(keys: NDArray[np.float32], n_lists: int, seed: int) -> NDArray[np.float32]:
    if n_lists == 1 or len(keys) <= n_lists:
        some = keys[:n_lists] if len(keys) else np.zeros((1, keys.shape[1]), dtype=np.float32)
        return np.ascontiguousarray(some)
    kmeans = faiss.Kmeans(
        keys.shape[1],
        n_lists,
        niter=8,
        spherical=True,
        seed=seed % (1 << 31),
        min_points_per_centroid=1,
        max_points_per_centroid=_POINTS_PER_LIST,
    )
    with threads.limit(1):  # BLAS on more of them rounds in another way
        kmeans.train(keys)
    return kmeans.centroids
