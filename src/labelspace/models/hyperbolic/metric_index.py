"""Nearest points in a space by its own distance: the ball, the sphere, or euclidean space.

Exact search looks at every point. ``"centroids"`` draws one point in 3,000 at random and looks only
into the lists around the nearest of them (Gerald and Baskiotis, 2019). ``"kmeans"`` has more lists,
around the centroids that k-means finds by the space's own distance. The shared indexes do not serve
here: they compare keys by inner products, which cancel in float32 near the ball's edge.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.models.hyperbolic import _metric_index_kernels as kernels
from labelspace.search.result import SearchResult
from labelspace.spaces import euclidean, poincare, sphere
from labelspace.store import Storable, schema

SPACES: dict[str, ModuleType] = {
    "poincare": poincare,
    "sphere": sphere,
    "euclidean": euclidean,
}
KINDS = ("exact", "centroids", "kmeans")

_POINTS_PER_CENTROID = 3000
# Of points in a ball, however near to its edge they are.
_SMALLEST_GAP = 1e-12
# k-means needs no more points per list, and no more rounds, to find the centroids.
_POINTS_PER_LIST = 64
_ROUNDS = 6


class MetricIndex(Storable):
    """Points that are searched by distance.

    Parameters
    ----------
    space : {"poincare", "sphere", "euclidean"}
    points : ndarray of shape (n_points, dim)
        Points of the space.
    ids : ndarray of shape (n_points,), optional
        Number under which each point is found; its position unless given.
    search : {"exact", "centroids", "kmeans"}
    n_lists : int, optional
        Centroids of the lists; unless given one for 3,000 points with ``"centroids"``, and the
        root of their number with ``"kmeans"``.
    n_probes : int
        Lists that a query looks into.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> index = MetricIndex("poincare", np.array([[0.0, 0.0], [0.9, 0.0], [0.0, 0.5]]))
    >>> index.search(np.array([[0.8, 0.1]]), 2).ids
    array([[1, 0]])
    """

    points: NDArray[np.float32]
    gaps: NDArray[np.float64]  # 1 − ‖v‖² of points in the ball, one elsewhere
    ids: NDArray[np.int64]
    starts: NDArray[np.int64]

    _schema: ClassVar[schema.Schema] = {
        "space": schema.option(*SPACES),
        "n_probes": schema.integer(1),
        "centroids": schema.array("float32", "n_lists", "dim"),
        "centroid_gaps": schema.array("float64", "n_lists", low=_SMALLEST_GAP),
        "points": schema.array("float32", "n_points", "dim"),
        "gaps": schema.array("float64", "n_points", low=_SMALLEST_GAP),
        "ids": schema.array("int64", "n_points", low=0, end="ids_end"),
        "starts": schema.offsets("n_lists", "n_points"),
    }

    def __init__(
        self,
        space: str,
        points: NDArray[Any],
        ids: NDArray[Any] | None = None,
        *,
        search: str = "exact",
        n_lists: int | None = None,
        n_probes: int = 8,
        seed: int = 0,
    ) -> None:
        self.space = space
        self.n_probes = n_probes
        ids = np.arange(len(points)) if ids is None else ids
        points = np.ascontiguousarray(points, dtype=np.float32)
        n_wanted = 1
        if search == "centroids":
            n_wanted = len(points) // _POINTS_PER_CENTROID if n_lists is None else n_lists
        elif search == "kmeans":
            n_wanted = round(np.sqrt(len(points))) if n_lists is None else n_lists
        n_wanted = min(max(n_wanted, 1), len(points))
        mixed = np.random.default_rng(seed).permutation(len(points))
        self._around(points[np.sort(mixed[:n_wanted])])
        if search == "kmeans":
            self._improve(points[mixed[: _POINTS_PER_LIST * n_wanted]])
        self._arrange(points, ids.astype(np.int64))

    @property
    def n_points(self) -> int:
        return self.ids.shape[0]

    def add(self, points: NDArray[Any], ids: NDArray[Any]) -> None:
        """Put more points into the lists that they are nearest to; they are found at once."""
        every = np.concatenate((self.points, points.astype(np.float32)))
        self._arrange(every, np.concatenate((self.ids, ids)))

    def search(self, queries: NDArray[Any], n_neighbors: int) -> SearchResult:
        """Return the nearest points of each query, nearest first; ``products`` are −distance."""
        n_neighbors = min(n_neighbors, self.n_points)
        found = np.full((len(queries), n_neighbors), -1, dtype=np.int64)
        nearness = np.full((len(queries), n_neighbors), -np.inf)
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        if len(queries) and n_neighbors:
            kernels.search_lists(
                queries,
                self.centroids,
                self.centroid_gaps,
                min(self.n_probes, len(self.centroids)),
                self.starts,
                self.points,
                self.gaps,
                found,
                nearness,
            )
        return SearchResult(
            np.where(found < 0, -1, self.ids[found]), -self._distances(queries, nearness)
        )

    def _distances(
        self, queries: NDArray[np.float64], nearness: NDArray[np.float64]
    ) -> NDArray[np.float32]:
        apart = np.sqrt(-nearness)
        if self.space == "poincare":
            apart = 2.0 * np.arcsinh(apart / np.sqrt(poincare.boundary_gap(queries)))
        elif self.space == "sphere":
            there = np.isfinite(apart)
            apart[there] = 2.0 * np.arcsin(np.minimum(apart[there] / 2.0, 1.0))
        return apart.astype(np.float32)

    def _around(self, centroids: NDArray[Any]) -> None:
        if not len(centroids):
            centroids = np.zeros((1, centroids.shape[1]))
        self.centroids = np.ascontiguousarray(centroids, dtype=np.float32)
        self.centroid_gaps = self._gaps(self.centroids)

    def _improve(self, some: NDArray[np.float32]) -> None:
        """Move each centroid to the middle of the points nearest to it, a few times."""
        for _ in range(_ROUNDS):
            lists = self._nearest_list(some)
            shape = len(self.centroids), len(some)
            members = csr_matrix((np.ones(len(some)), (lists, np.arange(len(some)))), shape)
            filled = np.diff(members.indptr) > 0
            centroids = self.centroids.copy()
            centroids[filled] = SPACES[self.space].midpoints(members[filled], some)
            self._around(centroids)

    def _arrange(self, points: NDArray[np.float32], ids: NDArray[np.int64]) -> None:
        lists = self._nearest_list(points)
        order = np.argsort(lists, kind="stable")
        self.points = points[order]
        self.gaps = self._gaps(self.points)
        self.ids = ids[order]
        counts = np.bincount(lists, minlength=len(self.centroids))
        self.starts = np.concatenate(([0], np.cumsum(counts)))

    def _gaps(self, points: NDArray[np.float32]) -> NDArray[np.float64]:
        if self.space == "poincare":
            return poincare.boundary_gap(points)[:, 0]
        return np.ones(len(points))

    def _nearest_list(self, points: NDArray[np.float32]) -> NDArray[np.int64]:
        if len(self.centroids) == 1:
            return np.zeros(len(points), dtype=np.int64)
        nearest = np.empty((len(points), 1), dtype=np.int64)
        nearness = np.empty((len(points), 1))
        all_in_one = np.array([0, len(self.centroids)])
        kernels.search_lists(
            points.astype(np.float64),
            self.centroids[:1],
            self.centroid_gaps[:1],
            1,
            all_in_one,
            self.centroids,
            self.centroid_gaps,
            nearest,
            nearness,
        )
        return nearest[:, 0]
