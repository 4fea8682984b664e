"""Compiled loops of learning a map pair by pair, as the original program does."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def pair_epoch(indptr, indices, data, neighbors, order, others, gamma, learning_rate, V, squares):
    """Visit rows once: pull the neighbours of each towards it, push as many others away.

    The vectors of a row, its neighbours and the others are worked out once; then each of the pairs
    takes a step of its own, on the weights of both rows' features.
    """
    dim = V.shape[1]
    k = neighbors.shape[1]
    Z = np.empty((2 * k + 1, dim), dtype=np.float32)
    rows = np.empty(2 * k + 1, dtype=np.int64)
    norms = np.empty(2 * k + 1, dtype=np.float32)
    cosines = np.empty(2 * k, dtype=np.float32)
    weights = np.empty(2 * k, dtype=np.float32)
    step = np.empty(dim, dtype=np.float32)
    for at_row in range(order.shape[0]):
        row = order[at_row]
        n_own = k
        while n_own > 0 and neighbors[row, n_own - 1] < 0:
            n_own -= 1
        for place in range(k):
            rows[place] = neighbors[row, place % n_own]  # fewer than k are taken several times
            rows[k + place] = others[at_row, place]
        rows[2 * k] = row
        for place in range(2 * k + 1):
            _encode(indptr, indices, data, rows[place], V, Z[place])
            norms[place] = max(np.sqrt(np.sum(Z[place] * Z[place])), np.float32(1e-12))
        for place in range(2 * k):
            cosines[place] = np.sum(Z[place] * Z[2 * k]) / (norms[place] * norms[2 * k])
        pair_weights(cosines, gamma, weights)
        for place in range(2 * k):
            for first, second in ((2 * k, place), (place, 2 * k)):
                for at in range(dim):
                    step[at] = (
                        weights[place]
                        * (
                            Z[second, at] / norms[second]
                            - cosines[place] * Z[first, at] / norms[first]
                        )
                        / norms[first]
                    )
                _ascend(indptr, indices, data, rows[first], step, learning_rate, V, squares)


@njit(cache=True, nogil=True)
def pair_weights(cosines, gamma, weights):
    """Fill in what each pair's cosine counts: −∂ℓ/∂cos, the first half being the neighbours.

    ℓ = Σ_p −log( e^{γ cos_p} / ( e^{γ cos_p} + Σ_n e^{γ cos_n} ) ). With
    t_pn = e^{−γ(cos_p − cos_n)} and D_p = 1 + Σ_n t_pn they are γ Σ_n t_pn / D_p for neighbours and
    −γ Σ_p t_pn / D_p for others.
    """
    k = cosines.shape[0] // 2
    weights[k:] = 0.0
    for p in range(k):
        total = np.float32(0.0)
        for n in range(k, 2 * k):
            total += np.exp(-gamma * (cosines[p] - cosines[n]))
        weights[p] = gamma * total / (np.float32(1.0) + total)
        for n in range(k, 2 * k):
            t = np.exp(-gamma * (cosines[p] - cosines[n]))
            weights[n] -= gamma * t / (np.float32(1.0) + total)


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _encode(indptr, indices, data, row, V, z):
    z[:] = 0.0
    for at in range(indptr[row], indptr[row + 1]):
        value = data[at]
        weight = V[indices[at]]
        for place in range(z.shape[0]):
            z[place] += value * weight[place]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _ascend(indptr, indices, data, row, step, learning_rate, V, squares):
    """One AdaGrad step, with a step size for each weight."""
    for at in range(indptr[row], indptr[row + 1]):
        value = data[at]
        weight = V[indices[at]]
        square = squares[indices[at]]
        for place in range(step.shape[0]):
            gradient = value * step[place]
            square[place] += gradient * gradient
            weight[place] += learning_rate * gradient / np.sqrt(square[place])
