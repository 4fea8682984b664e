"""Compiled loops of the search for keys among themselves."""

from __future__ import annotations

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
            number = looked_at[other]
            if number == own:
                continue
            place = min(filled, n_neighbors - 1)
            while place > 0 and best[place - 1] < product:
                best[place] = best[place - 1]
                ids[place] = ids[place - 1]
                place -= 1
            best[place] = product
            ids[place] = number
            filled = min(filled + 1, n_neighbors)
