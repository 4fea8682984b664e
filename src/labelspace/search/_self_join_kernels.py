"""Compiled loops of the search for keys among themselves."""

from __future__ import annotations

from labelspace._topk_kernels import insert
from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def keep_nearest(products, asking, looked_at, found, nearness):
    """Fill the rows ``asking`` with the largest products, without each key's own."""
    n_neighbors = found.shape[1]
    for at in range(asking.shape[0]):
        own = asking[at]
        ids = found[own]
        best = nearness[own]
        filled = 0
        for other in range(looked_at.shape[0]):
            product = products[at, other]
            if filled == n_neighbors and product <= best[n_neighbors - 1]:
                continue
            if looked_at[other] != own:
                filled = insert(ids, best, filled, other, product)
        # Positions until here, so that of equal products the one looked at first wins.
        for rank in range(filled):
            ids[rank] = looked_at[ids[rank]]
