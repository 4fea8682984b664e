"""The map of features into each space, and its gradient."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.hyperbolic.encoder import SpaceEncoder, embed, pull_back
from labelspace.spaces import poincare

WAYS = [("sphere", "lift"), ("euclidean", "lift"), ("poincare", "lift"), ("poincare", "clip")]


@pytest.mark.parametrize(("space", "way"), WAYS)
@pytest.mark.parametrize("size", [0.4, 3.0])
def test_gradients_go_back_through_the_embedding(space: str, way: str, size: float) -> None:
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((4, 3))
    Z *= size / np.linalg.norm(Z, axis=1, keepdims=True)
    slope = rng.standard_normal((4, 3))
    U, norms = embed(Z, space, way)
    differences = np.empty_like(Z)
    for axis in range(3):
        step = 1e-6 * np.eye(3)[axis]
        ahead, behind = (embed(Z + sign * step, space, way)[0] for sign in (1, -1))
        differences[:, axis] = np.sum(slope * (ahead - behind), axis=1) / 2e-6
    if way == "clip":
        # In the ball's metric, as the publication has it.
        slope = slope * poincare.metric_factor(U) ** 2
    assert np.allclose(pull_back(slope, U, norms, space, way), differences, atol=1e-4)


def test_a_hidden_layer_is_a_tanh_between_two_maps() -> None:
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.random((5, 6)), dtype=np.float32)
    weights = rng.standard_normal((6, 4)).astype(np.float32)
    top = rng.standard_normal((4, 2)).astype(np.float32)
    encoder = SpaceEncoder(weights, top, "euclidean", "lift", "float32")
    assert np.allclose(encoder.encode(X), np.tanh(X.toarray() @ weights) @ top, atol=1e-5)
