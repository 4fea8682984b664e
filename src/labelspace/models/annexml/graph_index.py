"""The original program's search: a walk on the graph of nearest rows, which may miss some.

AnnexML answers fast because it looks at few rows. A tree of halves leads a query to a handful of
rows to begin with; from there it goes from row to row along the edges of the exact k-NN graph,
depth first, and on from a row z only if

    ‖q − z‖² < (1 + ε) · the largest ‖q − z‖² among the k nearest so far, z among them

with ε = 0: greedy, and so less exact than it could be. A row that is the worst of those found so
far leads nowhere, even while fewer than k are found. A leaf of the tree has k rows at most.

Tree and graph are made when the index is first asked, as the program makes them when it loads a
model; a model folder has the vectors only. ``search="exact"`` looks at every row instead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelspace.models.annexml import _graph_index_kernels as kernels
from labelspace.search.exact import ExactIndex
from labelspace.search.result import NO_KEY, SearchResult

N_EDGES = 50
EPSILON = 0.0
_BLOCK = 1024


class GraphIndex(ExactIndex):
    """Unit vectors that are found by walking along the edges of their k-NN graph.

    Parameters
    ----------
    keys, ids
        As in :class:`labelspace.search.exact.ExactIndex`.

    Examples
    --------
    >>> import numpy as np
    >>> index = GraphIndex(np.eye(3, dtype=np.float32))
    >>> index.search(np.array([[0.6, 0.8, 0.0]], dtype=np.float32), 2).ids
    array([[1, 0]])
    """

    _tree: Halves | None = None
    _edges: NDArray[np.int32] | None = None

    def search(self, queries: NDArray[np.float32], n_neighbors: int) -> SearchResult:
        """Return the nearest keys that the walk meets, nearest first."""
        n_neighbors = min(n_neighbors, self.n_keys)
        if not n_neighbors or not len(queries):
            return SearchResult.none(len(queries), n_neighbors)
        tree, edges = self._tree, self._edges
        if tree is None or tree.leaf_size != n_neighbors:
            self._tree = tree = Halves.of(self.keys, n_neighbors)
        if edges is None:
            self._edges = edges = nearest_rows(self.keys, N_EDGES)
        places, squares = kernels.walk(
            np.ascontiguousarray(queries, dtype=np.float32),
            np.ascontiguousarray(self.keys),
            tree.centroids,
            tree.children,
            tree.bounds,
            tree.rows,
            edges,
            n_neighbors,
            np.float32(1.0 + EPSILON),
        )
        found = places >= 0
        ids = np.where(found, self.ids[places], NO_KEY)
        # Of unit vectors cos = 1 − ½‖q − z‖².
        return SearchResult(ids, np.where(found, 1.0 - 0.5 * squares, -np.inf).astype(np.float32))

    def add(self, keys: NDArray[np.float32], ids: NDArray[Any]) -> None:
        """Put more keys in; tree and graph are made again when it is asked next."""
        super().add(keys, ids)
        self._tree = self._edges = None

    def _to_state(self) -> dict[str, Any]:
        return {"keys": self.keys, "ids": self.ids}


class Halves(NamedTuple):
    """Nodes (centroid, first child or -1, rows from … to), the rows, and how many a leaf has."""

    centroids: NDArray[np.float32]
    children: NDArray[np.int64]
    bounds: NDArray[np.int64]
    rows: NDArray[np.int64]
    leaf_size: int

    @classmethod
    def of(cls, keys: NDArray[np.float32], leaf_size: int) -> Halves:
        """Return the tree of unit vectors with so many rows in a leaf at most."""
        grown = kernels.grow(np.ascontiguousarray(keys), leaf_size, 0)
        centroids, children, bounds, rows = grown
        return cls(centroids, children, bounds, rows, leaf_size)


def nearest_rows(keys: NDArray[np.float32], n_edges: int) -> NDArray[np.int32]:
    """Return the nearest other rows of each row, all rows being looked at.

    They come in the order of the program's heap, the farthest first: the walk takes the last ones
    from its stack first.
    """
    keys = np.ascontiguousarray(keys)
    edges = np.full((len(keys), max(min(n_edges, len(keys) - 1), 1)), NO_KEY, dtype=np.int32)
    for start in range(0, len(keys), _BLOCK):
        block = slice(start, start + _BLOCK)
        kernels.nearest(keys[block] @ keys.T, start, edges[block])
    return edges
