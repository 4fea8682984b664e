from __future__ import annotations

import pytest

from labelspace.models.neuralxc.autoencoder_settings import AutoencoderSettings


def test_patience_counts_only_where_training_may_stop_early():
    pytest.importorskip("torch")
    settings = AutoencoderSettings(patience=3, n_epochs=9)
    assert settings.training(seed=1).patience is None
    assert settings.training(seed=1, stops_early=True).patience == 3
    assert (settings.training(seed=1).n_epochs, settings.training(seed=1).seed) == (9, 1)
