from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from labelspace.models.neuralxc.autoencoder_settings import AutoencoderSettings
from labelspace.models.neuralxc.training import train_autoencoder
from tests.planted import planted_corpus


def test_learning_goes_on_from_what_was_exported():
    X, Y = planted_corpus(60)
    settings = AutoencoderSettings(dim=6, label_dim=5, regressor_hidden=(4,), storage="float32")
    first, history = train_autoencoder(X, Y, settings, settings.training(seed=0), device="cpu")
    assert history["loss"][-1] < history["loss"][0]
    start = (first.encoder.exported("float32"), first.exported_layers(), *first.output_layer())
    # Steps of next to nothing: what it starts from is what it ends with.
    still = replace(settings, n_epochs=1, learning_rate=1e-12, row_learning_rate=1e-12)
    training = replace(still.training(seed=7), min_steps=1)
    second, _ = train_autoencoder(X, Y, still, training, start=start, device="cpu")
    np.testing.assert_allclose(second.rank(X, 3).scores, first.rank(X, 3).scores, atol=1e-4)
