"""A graph whose clusters are known, and how well vectors show them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import block_diag, csr_matrix

from labelspace.spaces import sphere


def villages(n_villages: int = 6, size: int = 8, seed: int = 0) -> csr_matrix:
    """Nodes that know most of their own village and a few outside."""
    rng = np.random.default_rng(seed)
    n = n_villages * size
    inside = block_diag([np.ones((size, size))] * n_villages).toarray() > 0
    half = np.triu(rng.random((n, n)) < np.where(inside, 0.7, 0.02), 1)
    return csr_matrix((half | half.T).astype(np.float32))


def share_of_own_village(vectors: np.ndarray, size: int = 8) -> float:
    unit = sphere.keys(vectors)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2.0)
    nearest = np.argsort(-cosines, axis=1)[:, : size - 1]
    own = np.arange(len(vectors))[:, np.newaxis] // size
    return float(np.mean(nearest // size == own))
