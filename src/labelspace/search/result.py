"""What every dense index answers: keys and their inner products, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NO_KEY = -1


def places_of(ids: NDArray[np.integer], wanted: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return where each of the ``wanted`` numbers stands among ``ids``; -1 where it does not.

    >>> places_of(np.array([7, 3]), np.array([3, 4, 9]))
    array([ 1, -1, -1])
    """
    if not ids.size:
        return np.full(wanted.shape, NO_KEY, dtype=np.int64)
    order = np.argsort(ids)
    nearest = np.minimum(np.searchsorted(ids, wanted, sorter=order), ids.size - 1)
    places = order[nearest]
    return np.where(ids[places] == wanted, places, NO_KEY)


def known_places(ids: NDArray[np.integer], wanted: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the same where all that is wanted is there, and raise KeyError where it is not."""
    places = places_of(ids, wanted)
    if places.size and places.min() < 0:
        raise KeyError(f"there is no key {wanted[places < 0][0]} in the index")
    return places


@dataclass(frozen=True)
class SearchResult:
    """The keys found for each query.

    Attributes
    ----------
    ids : ndarray of shape (n, n_neighbors), int64
        -1 where fewer keys were found.
    products : ndarray of shape (n, n_neighbors), float32
        Inner products, descending; -inf where there is no key.
    """

    ids: NDArray[np.int64]
    products: NDArray[np.float32]

    @staticmethod
    def none(n_queries: int, n_neighbors: int) -> SearchResult:
        """Return an answer with nothing found."""
        return SearchResult(
            np.full((n_queries, n_neighbors), NO_KEY, dtype=np.int64),
            np.full((n_queries, n_neighbors), -np.inf, dtype=np.float32),
        )

    @staticmethod
    def beside(found: Sequence[SearchResult]) -> SearchResult:
        """Return what several indexes have found for the same queries, side by side."""
        return SearchResult(
            np.concatenate([one.ids for one in found], axis=1),
            np.concatenate([one.products for one in found], axis=1),
        )
