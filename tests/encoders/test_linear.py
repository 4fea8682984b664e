from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import random as random_sparse

from labelspace.encoders.linear import LinearEncoder


@pytest.fixture
def weights() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)


@pytest.mark.parametrize(("storage", "error"), [("float32", 1e-5), ("int8", 0.05)])
def test_encodes_as_the_matrix_product(weights: np.ndarray, storage: str, error: float) -> None:
    X = random_sparse(30, 40, 0.2, "csr", dtype=np.float32, random_state=0)
    encoder = LinearEncoder(weights, storage)
    assert np.abs(encoder.encode(X) - X @ weights).max() < error
    assert encoder.dim == 8


def test_some_features_get_new_weights(weights: np.ndarray) -> None:
    encoder = LinearEncoder(weights)
    changed = np.array([3, 7])
    before = encoder.to_float()
    encoder.replace(changed, np.ones((2, 8), dtype=np.float32))
    after = encoder.to_float()
    assert np.allclose(after[changed], 1.0)
    others = np.setdiff1d(np.arange(40), changed)
    assert np.array_equal(after[others], before[others])
    assert np.array_equal(encoder.to_float(changed), after[changed])
