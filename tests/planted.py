"""A small corpus whose right answer is known: each label has words of its own."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix


def planted_corpus(
    n_examples: int = 300, n_labels: int = 12, seed: int = 0
) -> tuple[csr_matrix, csr_matrix]:
    """Return X, Y: a row has one to three labels, all four words of each, and some noise."""
    rng = np.random.default_rng(seed)
    n_features = 4 * n_labels + 30
    X = np.zeros((n_examples, n_features), dtype=np.float32)
    Y = np.zeros((n_examples, n_labels), dtype=np.float32)
    for row in range(n_examples):
        labels = rng.choice(n_labels, size=rng.integers(1, 4), replace=False)
        Y[row, labels] = 1.0
        for label in labels:
            X[row, 4 * label : 4 * label + 4] = rng.uniform(0.5, 1.0, size=4)
        noise = rng.choice(30, size=3, replace=False)
        X[row, 4 * n_labels + noise] = rng.uniform(0.1, 0.4, size=3)
    return csr_matrix(X), csr_matrix(Y)
