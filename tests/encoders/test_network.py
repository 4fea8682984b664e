"""Networks for prediction, against the same products written down."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.encoders.network import NetworkEncoder

random = np.random.default_rng(0)
X = csr_matrix(random.random((6, 5)) * (random.random((6, 5)) < 0.6), dtype=np.float32)
FIRST = random.normal(size=(5, 4)).astype(np.float32)
BIAS = random.normal(size=4).astype(np.float32)
LAYERS = [(random.normal(size=(4, 3)).astype(np.float32), np.zeros(3, dtype=np.float32))]


@pytest.mark.parametrize(
    ("activation", "function"),
    [("relu", lambda h: np.maximum(h, 0)), ("tanh", np.tanh), ("linear", lambda h: h)],
)
def test_layers_have_the_activation_between_them_but_not_behind(activation, function) -> None:
    encoder = NetworkEncoder(
        FIRST, BIAS, LAYERS, activation=activation, unit=False, storage="float32"
    )
    expected = function(X.toarray() @ FIRST + BIAS) @ LAYERS[0][0]
    np.testing.assert_allclose(encoder.encode(X), expected, rtol=1e-5, atol=1e-6)
    assert encoder.dim == 3


def test_vectors_have_length_one_if_asked_for() -> None:
    Z = NetworkEncoder(FIRST, BIAS, []).encode(X)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), 1.0, rtol=1e-5)


def test_eight_bits_are_nearly_as_good_as_floats() -> None:
    short, long = (
        NetworkEncoder(FIRST, BIAS, LAYERS, storage=storage).encode(X)
        for storage in ("int8", "float32")
    )
    assert 0 < np.abs(short - long).max() < 0.03
