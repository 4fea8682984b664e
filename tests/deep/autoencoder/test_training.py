from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

pytest.importorskip("torch")

from labelspace.deep.autoencoder.settings import AutoencoderSettings
from labelspace.deep.autoencoder.training import learn_encoder, train_autoencoder
from labelspace.encoders.unit_rows import UnitRows
from tests.planted import planted_corpus


def test_rows_with_the_same_labels_get_codes_that_are_alike():
    X, Y = planted_corpus()
    X = UnitRows().encode(X)
    Z = learn_encoder(X, Y, 16, seed=0).encode(X)
    Z = Z - Z.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    shared = (Y @ Y.T).toarray()
    np.fill_diagonal(shared, 0)
    alike = Z @ Z.T
    assert alike[shared > 1].mean() > alike[shared == 0].mean() + 0.3


def test_rows_without_labels_are_not_learned_from():
    X, Y = planted_corpus(60)
    unlabelled = csr_matrix((5, Y.shape[1]), dtype=Y.dtype)
    encoder = learn_encoder(X, Y, 8, seed=0)
    with_more = learn_encoder(vstack((X, X[:5]), "csr"), vstack((Y, unlabelled), "csr"), 8, seed=0)
    np.testing.assert_array_equal(with_more.encode(X), encoder.encode(X))


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
