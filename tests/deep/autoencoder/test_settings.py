from __future__ import annotations

import pytest

from labelspace.deep.autoencoder.settings import AutoencoderSettings
from labelspace.parameters import CorpusShape


def test_the_papers_widths_grow_with_the_data():
    chosen = AutoencoderSettings.for_corpus("paper", CorpusShape(300, 78, 12))
    assert (chosen.dim, chosen.label_dim) == (round(6 * 78**0.5), round(2.5 * 12**0.5))
    assert chosen.hidden == (round((78 * chosen.dim) ** 0.5),)
    assert chosen.regressor_hidden == ((chosen.dim + chosen.label_dim) // 2,)


def test_no_layer_of_the_paper_is_wider_than_can_be_afforded():
    chosen = AutoencoderSettings.for_corpus("paper", CorpusShape(10**6, 10**6, 10**6))
    assert chosen.dim == chosen.hidden[0] == chosen.label_hidden[0] == 2048


def test_patience_counts_only_where_training_may_stop_early():
    pytest.importorskip("torch")
    settings = AutoencoderSettings(patience=3, n_epochs=9)
    assert settings.training(seed=1).patience is None
    assert settings.training(seed=1, stops_early=True).patience == 3
    assert (settings.training(seed=1).n_epochs, settings.training(seed=1).seed) == (9, 1)
