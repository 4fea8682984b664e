"""Search that looks at every key, but at a short form of it first.

Vectors that lie at random have no clusters, and an index of lists would miss most of them. A random
projection keeps their inner products, up to a noise of 1/√n_short: enough to pick some hundred
candidates from all keys, which are then compared in full. The last coordinate, a bias, stays as it
is in the short form. Keys are eight-bit integers in both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelspace.search import _dense_kernels
from labelspace.search.clustered import ClusteredIndex
from labelspace.search.found import NO_KEY, Found
from labelspace.space.quantized import dequantized, quantized
from labelspace.store import Storable

Floats = NDArray[np.float32]


class ShortFirst(Storable):
    """Dense keys with a short form for each.

    Parameters
    ----------
    keys : ndarray of shape (n_keys, dim), float32
    ids : ndarray of shape (n_keys,)
        Number under which each key is found.
    n_short : int
        Numbers in the short form.
    n_candidates : int
        Keys that are compared in full.
    storage : {"int8", "float32"}

    Examples
    --------
    >>> import numpy as np
    >>> index = ShortFirst(np.eye(4, dtype=np.float32), np.arange(4))
    >>> index.search(np.array([[0.0, 0.5, 0.0, 0.9]], dtype=np.float32), 2).ids
    array([[3, 1]])
    """

    def __init__(
        self,
        keys: Floats,
        ids: NDArray[np.integer],
        *,
        n_short: int = 256,
        n_candidates: int = 256,
        storage: str = "int8",
        seed: int = 0,
    ) -> None:
        self.ids = ids.astype(np.int64)
        self.n_candidates = n_candidates
        rng = np.random.default_rng(seed)
        drawn = rng.standard_normal((keys.shape[1] - 1, n_short), dtype=np.float32)
        self.projection = drawn / np.float32(n_short**0.5)
        self.keys, self.scales = quantized(keys, storage)
        self.short = ClusteredIndex(self._shortened(keys), n_lists=1, n_probes=1, storage=storage)

    @property
    def n_keys(self) -> int:
        return self.ids.shape[0]

    def search(self, queries: Floats, n_neighbors: int) -> Found:
        """Return the keys with the largest inner product, largest first."""
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        n_neighbors = min(n_neighbors, self.n_keys)
        n_candidates = max(self.n_candidates, n_neighbors)
        places = self.short.search(self._shortened(queries), n_candidates).ids
        products = np.empty(places.shape, dtype=np.float32)
        _dense_kernels.compare(queries, places, self.keys, self.scales, products)
        best = np.argsort(-products, axis=1, kind="stable")[:, :n_neighbors]
        places = np.take_along_axis(places, best, axis=1)
        products = np.take_along_axis(products, best, axis=1)
        return Found(np.where(places == NO_KEY, NO_KEY, self.ids[places]), products)

    def vectors(self, ids: NDArray[np.integer]) -> Floats:
        """Return the keys of some ids."""
        order = np.argsort(self.ids)
        places = order[np.searchsorted(self.ids, ids, sorter=order)]
        return dequantized(self.keys[places], self.scales[places])

    def _shortened(self, vectors: Floats) -> Floats:
        short = vectors[:, :-1] @ self.projection
        return np.concatenate((short, vectors[:, -1:]), axis=1)
