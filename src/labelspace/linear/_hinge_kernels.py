"""The compiled solver of one classifier with a hinge loss, on the rows that it is given.

A hinge that counts by its square has a ``slack`` of 1 / (2 C) in the dual, and no bound; one that
counts as it is has no slack, and no row weighs more than ``most`` = C.

``fastmath`` allows fused multiply-add only, so that the answer is the same on every machine.
"""

from __future__ import annotations

import numpy as np

from labelspace._random_kernels import shuffle
from labelspace.compiling import njit
from labelspace.linear._subproblem_kernels import FUSED, add_dense, dense_product

FAR = np.float32(1e30)


@njit(cache=True, nogil=True, fastmath=FUSED)
def descend(
    indptr, indices, data, dense, lengths, rows, alphas, size, n_positive, slack, most, tol,
    max_iter, weights, state,
):  # fmt: skip
    """Dual coordinate descent with shrinking on the first ``size`` of ``rows``.

    The first ``n_positive`` are positives. ``weights`` is kept equal to the sum of
    alpha · y · x; the last of them are those of ``dense``, the numbers that every row has.
    Returns the number of passes.
    """
    has_dense = dense.shape[1] > 0
    of_dense = weights[weights.shape[0] - dense.shape[1] :]
    order = np.arange(size)
    n_active = size
    ceiling = FAR
    n_passes = 0
    while n_passes < max_iter:
        n_passes += 1
        state = shuffle(order, n_active, state)
        highest = -FAR
        lowest = FAR
        visit = 0
        while visit < n_active:
            at = order[visit]
            start, end = indptr[rows[at]], indptr[rows[at] + 1]
            score = np.float32(0.0)
            for place in range(start, end):
                score += data[place] * weights[indices[place]]
            if has_dense:
                score += dense_product(dense[rows[at]], of_dense)
            sign = np.float32(1.0) if at < n_positive else np.float32(-1.0)
            old = alphas[at]
            gradient = sign * score - np.float32(1.0) + old * slack
            if old == 0 and gradient > 0:
                # Most rows that just came in need nothing once the first of them are learned.
                if gradient > ceiling or n_passes == 1:
                    n_active -= 1
                    order[visit] = order[n_active]
                    order[n_active] = at
                    continue
                highest = max(highest, np.float32(0.0))
                lowest = min(lowest, np.float32(0.0))
            elif old == most and gradient < 0:
                highest = max(highest, np.float32(0.0))
                lowest = min(lowest, np.float32(0.0))
            else:
                highest = max(highest, gradient)
                lowest = min(lowest, gradient)
                new = max(old - gradient / (lengths[rows[at]] + slack), np.float32(0.0))
                new = min(new, most)
                if new != old:
                    alphas[at] = new
                    step = (new - old) * sign
                    for place in range(start, end):
                        weights[indices[place]] += step * data[place]
                    if has_dense:
                        add_dense(of_dense, step, dense[rows[at]])
            visit += 1
        if highest - lowest <= tol:
            if n_active == size:
                break
            n_active = size
            ceiling = FAR
        else:
            ceiling = highest if highest > 0 else FAR
    return n_passes
