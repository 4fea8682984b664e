"""Dense layers after an encoder, against the same products written down."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace.models.neuralxc.dense_layers import DenseLayers


@pytest.fixture
def layers() -> DenseLayers:
    random = np.random.default_rng(0)
    made = [
        (random.normal(size=shape).astype(np.float32), random.normal(size=shape[1]).astype("f4"))
        for shape in ((3, 4), (4, 2))
    ]
    return DenseLayers(made, ["tanh", "linear"])


def test_each_layer_is_followed_by_its_own_activation(layers: DenseLayers) -> None:
    Z = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    (first, first_bias), (second, second_bias) = layers.layers
    expected = np.tanh(Z @ first + first_bias) @ second + second_bias
    np.testing.assert_allclose(layers.apply(Z), expected, rtol=1e-5)


def test_parts_behind_each_other_are_the_whole(layers: DenseLayers) -> None:
    Z = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    again = layers.part(0, 1).then(layers.part(1, None))
    np.testing.assert_array_equal(again.apply(Z), layers.apply(Z))
