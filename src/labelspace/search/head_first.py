"""Search that always looks at the keys that are asked for most.

Labels are asked for as unevenly as they are given: a few hundred make up most answers. Were one of
them in a list that a query does not look into, the answer would miss what it should begin with. So
these keys stand apart and are compared with every query. Of the others, a query looks into the
nearest lists around centroids.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelspace.search.clustered import ClusteredIndex
from labelspace.search.found import Found
from labelspace.store import Storable

Floats = NDArray[np.float32]


class HeadFirst(Storable):
    """Dense keys, the most frequent of them apart.

    Parameters
    ----------
    keys : ndarray of shape (n_keys, dim), float32
    ids : ndarray of shape (n_keys,)
        Number under which each key is found.
    counts : ndarray of shape (n_keys,)
        How often each key is asked for.
    n_head : int
        Keys that every query is compared with.
    n_probes : int
        Lists of the other keys that a query looks into.
    storage : {"int8", "float32"}

    Examples
    --------
    >>> import numpy as np
    >>> keys = np.eye(4, dtype=np.float32)
    >>> index = HeadFirst(keys, np.arange(4), np.array([1, 9, 1, 1]), n_head=1, n_probes=1)
    >>> index.search(np.array([[0.0, 0.5, 0.0, 0.9]], dtype=np.float32), 2).ids
    array([[3, 1]])
    """

    def __init__(
        self,
        keys: Floats,
        ids: NDArray[np.integer],
        counts: NDArray[np.integer],
        *,
        n_head: int = 1024,
        n_probes: int = 16,
        storage: str = "int8",
    ) -> None:
        order = np.argsort(-counts, kind="stable")
        head, rest = order[:n_head], order[n_head:]
        self.head = ClusteredIndex(keys[head], ids[head], n_lists=1, n_probes=1, storage=storage)
        self.rest = ClusteredIndex(keys[rest], ids[rest], n_probes=n_probes, storage=storage)

    @property
    def n_keys(self) -> int:
        return self.head.n_keys + self.rest.n_keys

    def search(self, queries: Floats, n_neighbors: int) -> Found:
        """Return the keys with the largest inner product, largest first."""
        found = [part.search(queries, n_neighbors) for part in (self.head, self.rest)]
        products = np.hstack([one.products for one in found])
        best = np.argsort(-products, axis=1, kind="stable")[:, :n_neighbors]
        ids = np.hstack([one.ids for one in found])
        return Found(
            np.take_along_axis(ids, best, axis=1), np.take_along_axis(products, best, axis=1)
        )

    def vectors(self, ids: NDArray[np.integer]) -> Floats:
        """Return the keys of some ids."""
        in_head = np.isin(ids, self.head.ids)
        found = np.empty((len(ids), self.head.keys.shape[1]), dtype=np.float32)
        found[in_head] = self.head.vectors(ids[in_head])
        found[~in_head] = self.rest.vectors(ids[~in_head])
        return found
