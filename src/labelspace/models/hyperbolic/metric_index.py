"""Nearest places in a space by its own distance: the ball, the sphere, or euclidean space.

Exact search looks at every place. ``"centroids"`` draws one place in 3,000 at random and looks only
into the lists around the nearest of them (Gerald and Baskiotis, 2019). ``"kmeans"`` has more lists,
around the middles that k-means finds by the space's own distance. ``"clustered"`` is the
shared index for largest inner products, which the space's ``queries`` and ``keys`` turn into
nearest places; near the ball's edge float32 products cancel, so more are fetched than asked for and
ranked again by distance in float64. The shared graph index does not serve here: it joins keys by
their products with each other, and only the product of a query and a key is a distance.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.models.hyperbolic import _metric_index_kernels as kernels
from labelspace.search.ivf import IVFIndex
from labelspace.search.result import SearchResult
from labelspace.spaces import euclidean, poincare, sphere
from labelspace.store import Storable

SPACES: dict[str, ModuleType] = {
    "poincare": poincare,
    "sphere": sphere,
    "euclidean": euclidean,
}
KINDS = ("exact", "centroids", "kmeans", "clustered")

# The shared index is asked for this many times as many places as are wanted.
_MORE = 4
_PLACES_PER_CENTROID = 3000
# k-means needs no more places per list, and no more rounds, to find the middles.
_POINTS_PER_LIST = 64
_ROUNDS = 6


class MetricIndex(Storable):
    """Places that are searched by distance.

    Parameters
    ----------
    space : {"poincare", "sphere", "euclidean"}
    places : ndarray of shape (n_places, dim)
        Points of the space.
    ids : ndarray of shape (n_places,), optional
        Number under which each place is found; its position unless given.
    search : {"exact", "centroids", "kmeans", "clustered"}
    n_lists : int, optional
        Centroids of the lists; unless given one for 3,000 places with ``"centroids"``, and the
        root of their number with ``"kmeans"`` and ``"clustered"``.
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

    places: NDArray[np.float32]
    gaps: NDArray[np.float64]
    ids: NDArray[np.int64]
    starts: NDArray[np.int64]

    def __init__(
        self,
        space: str,
        places: NDArray[Any],
        ids: NDArray[Any] | None = None,
        *,
        search: str = "exact",
        n_lists: int | None = None,
        n_probes: int = 8,
        seed: int = 0,
    ) -> None:
        self.space = space
        self.n_probes = n_probes
        ids = np.arange(len(places)) if ids is None else ids
        places = np.ascontiguousarray(places, dtype=np.float32)
        n_wanted = 1
        if search == "centroids":
            n_wanted = len(places) // _PLACES_PER_CENTROID if n_lists is None else n_lists
        elif search == "kmeans":
            n_wanted = round(np.sqrt(len(places))) if n_lists is None else n_lists
        n_wanted = min(max(n_wanted, 1), len(places))
        mixed = np.random.default_rng(seed).permutation(len(places))
        self._around(places[np.sort(mixed[:n_wanted])])
        if search == "kmeans":
            self._improve(places[mixed[: _POINTS_PER_LIST * n_wanted]])
        self._arrange(places, ids.astype(np.int64))
        self.index: IVFIndex | None = None
        if search == "clustered":
            self.index = IVFIndex(
                SPACES[space].keys(self.places),
                n_lists=n_lists,
                n_probes=n_probes,
                storage="float32",
                seed=seed,
            )

    @property
    def n_places(self) -> int:
        return self.ids.shape[0]

    def add(self, places: NDArray[Any], ids: NDArray[Any]) -> None:
        """Put more places into the lists that they are nearest to; they are found at once."""
        new = places.astype(np.float32)
        every, every_id = np.concatenate((self.places, new)), np.concatenate((self.ids, ids))
        if self.index is None:
            self._arrange(every, every_id)
            return
        self.index.add(SPACES[self.space].keys(new), np.arange(self.n_places, len(every)))
        self.places, self.ids, self.gaps = every, every_id, self._gaps(every)

    def search(self, points: NDArray[Any], n_neighbors: int) -> SearchResult:
        """Return the nearest places of each point, nearest first; ``products`` are −distance."""
        n_neighbors = min(n_neighbors, self.n_places)
        found = np.full((len(points), n_neighbors), -1, dtype=np.int64)
        nearness = np.full((len(points), n_neighbors), -np.inf)
        queries = np.ascontiguousarray(points, dtype=np.float64)
        if len(queries) and n_neighbors and self.index is not None:
            fetched = self.index.search(SPACES[self.space].queries(queries), _MORE * n_neighbors)
            kernels.rank_again(queries, fetched.ids, self.places, self.gaps, found, nearness)
        elif len(queries) and n_neighbors:
            kernels.search_lists(
                queries,
                self.centroids,
                self.centroid_gaps,
                min(self.n_probes, len(self.centroids)),
                self.starts,
                self.places,
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
            apart = 2.0 * np.arcsinh(apart / np.sqrt(poincare.gap(queries)))
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
        """Move each centroid to the middle of the places nearest to it, a few times."""
        for _ in range(_ROUNDS):
            lists = self._nearest_list(some)
            shape = len(self.centroids), len(some)
            members = csr_matrix((np.ones(len(some)), (lists, np.arange(len(some)))), shape)
            filled = np.diff(members.indptr) > 0
            centroids = self.centroids.copy()
            centroids[filled] = SPACES[self.space].midpoints(members[filled], some)
            self._around(centroids)

    def _arrange(self, places: NDArray[np.float32], ids: NDArray[np.int64]) -> None:
        lists = self._nearest_list(places)
        order = np.argsort(lists, kind="stable")
        self.places = places[order]
        self.gaps = self._gaps(self.places)
        self.ids = ids[order]
        counts = np.bincount(lists, minlength=len(self.centroids))
        self.starts = np.concatenate(([0], np.cumsum(counts)))

    def _gaps(self, places: NDArray[np.float32]) -> NDArray[np.float64]:
        if self.space == "poincare":
            return poincare.gap(places)[:, 0]
        return np.ones(len(places))

    def _nearest_list(self, places: NDArray[np.float32]) -> NDArray[np.int64]:
        if len(self.centroids) == 1:
            return np.zeros(len(places), dtype=np.int64)
        nearest = np.empty((len(places), 1), dtype=np.int64)
        nearness = np.empty((len(places), 1))
        all_in_one = np.array([0, len(self.centroids)])
        kernels.search_lists(
            places.astype(np.float64),
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
