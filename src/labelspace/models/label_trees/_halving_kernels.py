"""Compiled loop of balanced two-means on sparse unit vectors."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit

MOST_TURNS = 50


@njit(cache=True, nogil=True)
def halve(indptr, indices, data, members, one, other, tol, means):
    """Return whether each member is in the second half; the halves differ by one at most.

    The means begin as two of the members. In turn each member prefers the mean with the larger
    cosine, the half with the strongest preference gets it, and means move, until the mean cosine
    of members and their mean grows by less than ``tol``. ``means``, (2, n_features), are zeros,
    and are so again.
    """
    n_members = members.shape[0]
    n_first = (n_members + 1) // 2
    second = np.zeros(n_members, dtype=np.bool_)
    preferences = np.empty(n_members)
    cosines = np.empty((2, n_members))
    scales = np.ones(2)
    for at in range(indptr[members[one]], indptr[members[one] + 1]):
        means[0, indices[at]] = data[at]
    for at in range(indptr[members[other]], indptr[members[other] + 1]):
        means[1, indices[at]] = data[at]
    before = -np.inf
    for _ in range(MOST_TURNS):
        for place in range(n_members):
            member = members[place]
            for side in range(2):
                cosine = 0.0
                for at in range(indptr[member], indptr[member + 1]):
                    cosine += data[at] * means[side, indices[at]]
                cosines[side, place] = cosine * scales[side]
            preferences[place] = cosines[1, place] - cosines[0, place]
        order = np.argsort(preferences, kind="mergesort")
        total = 0.0
        for rank in range(n_members):
            second[order[rank]] = rank >= n_first
            total += cosines[1 if rank >= n_first else 0, order[rank]]
        _clear(indptr, indices, members, means)
        for place in range(n_members):
            side = 1 if second[place] else 0
            for at in range(indptr[members[place]], indptr[members[place] + 1]):
                means[side, indices[at]] += data[at]
        for side in range(2):
            # The square of a sum's length is the sum of its products with what it sums up.
            square = 0.0
            for place in range(n_members):
                if second[place] == (side == 1):
                    for at in range(indptr[members[place]], indptr[members[place] + 1]):
                        square += data[at] * means[side, indices[at]]
            scales[side] = 1.0 / np.sqrt(square) if square > 0.0 else 0.0
        if total / n_members - before < tol:
            break
        before = total / n_members
    _clear(indptr, indices, members, means)
    return second


@njit(cache=True, nogil=True)
def _clear(indptr, indices, members, means):
    for member in members:
        for at in range(indptr[member], indptr[member + 1]):
            means[0, indices[at]] = 0.0
            means[1, indices[at]] = 0.0
