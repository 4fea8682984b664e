"""Stochastic neighbour embedding (Hinton and Roweis, 2003), to stand beside SMCE and t-SNE.

Each point draws a neighbour, in the space of the data with probabilities p of a Gaussian whose
width gives ``perplexity`` neighbours, in the plane with probabilities q of one of width one,

    C = Σ_i Σ_j p_{j|i} log( p_{j|i} / q_{j|i} ),
    ∂C/∂y_i = 2 Σ_j ( p_{j|i} − q_{j|i} + p_{i|j} − q_{i|j} ) (y_i − y_j)

which gradient descent with momentum makes small. t-SNE changed q and made p symmetric.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def sne(
    X: Floats, perplexity: float = 30.0, n_iter: int = 300, rate: float = 0.2, seed: int = 0
) -> Floats:
    """Return the points in the plane."""
    P = neighbour_probabilities(squared_distances(X), perplexity)
    rng = np.random.default_rng(seed)
    # Begun where the data extends most, as t-SNE does, and shaken as the paper does.
    centred = X - X.mean(axis=0)
    Y = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    Y /= Y.std()
    speed = np.zeros_like(Y)
    for step in range(n_iter):
        noise = 0.05 * (1.0 - step / n_iter) ** 2
        speed = (0.5 if step < 50 else 0.8) * speed - rate * gradient(P, Y)
        Y = Y + speed + noise * rng.standard_normal(Y.shape)
    return Y


def cost(P: Floats, Y: Floats) -> float:
    """Return C for the points ``Y``."""
    Q = _probabilities(squared_distances(Y))
    return float(np.sum(P * np.log(np.maximum(P, 1e-300) / np.maximum(Q, 1e-300))))


def gradient(P: Floats, Y: Floats) -> Floats:
    """Return ∂C/∂Y."""
    unmatched = P - _probabilities(squared_distances(Y))
    unmatched = unmatched + unmatched.T
    return 2.0 * (unmatched.sum(axis=1)[:, np.newaxis] * Y - unmatched @ Y)


def neighbour_probabilities(squares: Floats, perplexity: float) -> Floats:
    """Return p_{j|i}, each row of the entropy log(perplexity), by bisection of its width."""
    low: NDArray[np.float64] = np.zeros(len(squares))
    high: NDArray[np.float64] = np.full(len(squares), np.inf)
    precision = 1.0 / np.maximum(squares.mean(axis=1), 1e-12)
    wanted = np.log(min(perplexity, 0.9 * len(squares)))
    for _ in range(60):
        P = _probabilities(precision[:, np.newaxis] * squares)
        entropy = -np.sum(P * np.log(np.maximum(P, 1e-300)), axis=1)
        wide = entropy > wanted
        low, high = np.where(wide, precision, low), np.where(wide, high, precision)
        precision = np.where(np.isinf(high), 2.0 * precision, 0.5 * (low + high))
    return P


def squared_distances(X: Floats) -> Floats:
    lengths = np.square(X).sum(axis=1)
    return np.maximum(lengths[:, np.newaxis] + lengths - 2.0 * X @ X.T, 0.0)


def _probabilities(squares: Floats) -> Floats:
    """Return e^{−squares}, without a point's own, each row adding up to one."""
    logits = -squares
    np.fill_diagonal(logits, -np.inf)
    logits -= logits.max(axis=1, keepdims=True)
    weights = np.exp(logits)
    return weights / weights.sum(axis=1, keepdims=True)
