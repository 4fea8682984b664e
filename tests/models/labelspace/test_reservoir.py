from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.models.labelspace.reservoir import refreshed, reservoir


def test_reservoir_is_a_fair_sample_of_all_rows() -> None:
    marked = [csr_matrix(np.full((400, 1), 1.0 + part)) for part in range(3)]
    shares = []
    for seed in range(20):
        kept = reservoir(marked[0], seed, largest=90)
        kept = refreshed(kept, 400, marked[1], seed, largest=90)
        kept = refreshed(kept, 800, marked[2], seed, largest=90)
        assert kept.shape == (90, 1)
        shares.append([np.mean(kept.data == 1.0 + part) for part in range(3)])
    np.testing.assert_allclose(np.mean(shares, axis=0), 1 / 3, atol=0.05)


def test_reservoir_of_few_rows_is_all_of_them() -> None:
    first = reservoir(csr_matrix(np.ones((3, 1))), seed=0, largest=10)
    assert first.shape == (3, 1)
    assert refreshed(first, 3, csr_matrix(np.ones((4, 1))), seed=0, largest=10).shape == (7, 1)
