"""A few of all rows seen so far, kept so that what is learned later has something to differ from.

However rows come, all at once or in many updates, each is among those kept with the same chance.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, vstack


def draw_reservoir(X: csr_matrix, size: int, seed: int) -> csr_matrix:
    """Return ``size`` rows of ``X``, drawn without repetition; all where they are fewer."""
    return _some(X, min(size, X.shape[0]), np.random.default_rng(seed))


def update_reservoir(
    kept: csr_matrix, n_seen: int, new: csr_matrix, size: int, seed: int
) -> csr_matrix:
    """Return a reservoir of ``n_seen`` rows, of which ``kept`` were kept, and of ``new`` rows.

    >>> kept = draw_reservoir(csr_matrix(np.zeros((50, 2))), 10, seed=0)
    >>> update_reservoir(kept, 50, csr_matrix(np.ones((50, 2))), 10, seed=0).shape
    (10, 2)
    """
    rng = np.random.default_rng(seed)
    size = min(size, kept.shape[0] + new.shape[0])
    n_new = int(rng.hypergeometric(new.shape[0], n_seen, size)) if n_seen else size
    n_new = max(n_new, size - kept.shape[0])
    return csr_matrix(
        vstack([_some(kept, size - n_new, rng), _some(new, n_new, rng)], format="csr")
    )


def _some(X: csr_matrix, n_rows: int, rng: np.random.Generator) -> csr_matrix:
    return csr_matrix(X[np.sort(rng.choice(X.shape[0], n_rows, replace=False))])
