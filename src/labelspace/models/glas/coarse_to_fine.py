"""Search that looks at every key, but at a short form of it first.

Vectors that lie at random have no clusters, and an index of lists would miss most of them. But
queries do not lie at random: most of what they say they say along few directions. Their inner
products along these pick some hundred candidates from all keys, which are then compared in full.
The last coordinate, a bias, stays as it is in the short form. Keys are eight-bit integers in both.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from labelspace.models.glas import _coarse_to_fine_kernels as kernels
from labelspace.search.result import SearchResult, known_places
from labelspace.spaces.quantized import dequantized, quantized
from labelspace.store import Storable, schema

Floats = NDArray[np.float32]


class CoarseToFineIndex(Storable):
    """Dense keys with a short form for each.

    Parameters
    ----------
    keys : ndarray of shape (n_keys, dim + 1), float32
        The last coordinate is a bias, which meets a constant in queries.
    ids : ndarray of shape (n_keys,)
        Number under which each key is found.
    directions : ndarray of shape (dim, n_short), float32
        Unit vectors at right angles, along which queries differ most: see ``principal_directions``.
    n_candidates : int
        Keys that are compared in full.
    storage : {"int8", "float32"}

    Examples
    --------
    >>> import numpy as np
    >>> keys = np.eye(4, dtype=np.float32)
    >>> directions = principal_directions(keys[:, :3], 2)
    >>> index = CoarseToFineIndex(keys, np.arange(4), directions, n_candidates=3)
    >>> index.search(np.array([[0.0, 0.5, 0.0, 0.9]], dtype=np.float32), 2).ids
    array([[3, 1]])
    """

    _schema: ClassVar[schema.Schema] = {
        "ids": schema.array("int64", "n_keys", low=0, end="ids_end"),
        "n_candidates": schema.integer(1),
        "keys": schema.array("int8 float32", "n_keys", "dim"),
        "scales": schema.array("float32", "n_keys"),
        "directions": schema.array("float32", schema.plus("dim", -1), "n_short"),
        "short": schema.array("int8 float32", "n_keys", schema.plus("n_short", 1)),
        "short_scales": schema.array("float32", "n_keys"),
    }

    def __init__(
        self,
        keys: Floats,
        ids: NDArray[np.integer],
        directions: Floats,
        *,
        n_candidates: int = 256,
        storage: str = "int8",
    ) -> None:
        self.ids = ids.astype(np.int64)
        self.directions = directions
        self.n_candidates = n_candidates
        self.keys, self.scales = quantized(keys, storage)
        self.short, self.short_scales = quantized(self._shortened(keys), storage)

    @property
    def n_keys(self) -> int:
        return self.ids.shape[0]

    def search(self, queries: Floats, n_neighbors: int) -> SearchResult:
        """Return the keys with the largest inner product, largest first."""
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        n_neighbors = min(n_neighbors, self.n_keys)
        n_candidates = min(max(self.n_candidates, n_neighbors), self.n_keys)
        candidates = np.empty((len(queries), n_candidates), dtype=np.int64)
        short = self._shortened(queries)
        kernels.select_candidates(short, self.short, self.short_scales, candidates)
        products = np.empty(candidates.shape, dtype=np.float32)
        kernels.rescore(queries, candidates, self.keys, self.scales, products)
        best = np.argsort(-products, axis=1, kind="stable")[:, :n_neighbors]
        found = np.take_along_axis(candidates, best, axis=1)
        return SearchResult(self.ids[found], np.take_along_axis(products, best, axis=1))

    def vectors(self, ids: NDArray[np.integer]) -> Floats:
        """Return the keys of some ids, all of which are there."""
        positions = known_places(self.ids, ids)
        return dequantized(self.keys[positions], self.scales[positions])

    def _shortened(self, vectors: Floats) -> Floats:
        return np.concatenate((vectors[:, :-1] @ self.directions, vectors[:, -1:]), axis=1)


def principal_directions(queries: Floats, n_directions: int) -> Floats:
    """Return the directions (columns) along which ``queries`` are longest, longest first.

    >>> import numpy as np
    >>> queries = np.array([[0.0, 3.0], [0.1, 2.0]], dtype=np.float32)
    >>> abs(principal_directions(queries, 1)).round().tolist()
    [[0.0], [1.0]]
    """
    dim = queries.shape[1]
    n_directions = min(n_directions, dim)
    _, found = eigh(queries.T @ queries, subset_by_index=(dim - n_directions, dim - 1))
    return np.ascontiguousarray(found[:, ::-1])
