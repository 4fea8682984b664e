"""C is chosen by what ranks labels better for rows held out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.labelspace.choose_c import CHOICES, choose_C


def corpus(n_rows: int, noise: float) -> tuple[csr_matrix, csr_matrix]:
    """A label is there where its feature is, but for a share of rows where that is turned round."""
    rng = np.random.default_rng(0)
    has = rng.random((n_rows, 8)) < 0.3
    X = np.concatenate((has, rng.random((n_rows, 60)) < 0.2), axis=1) * 1.0
    turned = rng.random(has.shape) < noise
    X /= np.sqrt(np.maximum((X**2).sum(axis=1, keepdims=True), 1.0))
    return csr_matrix(X, dtype=np.float32), csr_matrix((has ^ turned) * 1.0)


@pytest.mark.parametrize(("noise", "expected"), [(0.4, min(CHOICES)), (0.0, max(CHOICES))])
def test_noisy_labels_get_a_small_C_and_clear_ones_a_large_one(
    noise: float, expected: float
) -> None:
    assert choose_C(*corpus(600, noise), min_weight=0.0) == expected


def test_too_few_rows_to_tell_give_the_first_choice() -> None:
    assert choose_C(*corpus(100, noise=0.4), min_weight=0.0) == CHOICES[0]
