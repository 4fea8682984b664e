"""The auto-encoder of HierarchicalXC's program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")

from labelspace.models.hierarchical_xc.linear_autoencoder import (
    LinearAutoencoderTask,
    halved,
    learn_linear_autoencoder,
    training,
)
from tests.planted import planted_corpus


@pytest.mark.parametrize(
    ("n_features", "dim", "widths"),
    [
        (1836, 256, [1836, 918, 459, 256]),
        (500, 125, [500, 250, 125]),
        (120, 50, [120, 60, 50]),
        (5000, 500, [5000, 2500, 1250, 625, 500]),
        (3, 2, [3, 2]),
        (1, 1, [1, 1]),
    ],
)
def test_widths_are_halved_as_the_program_does(n_features, dim, widths):
    # GenericAutoencoder(input_dim, 0.5, output_dim): while int(factor * input_dim) > output_dim
    assert halved(n_features, dim) == widths


def test_no_layer_is_wider_than_memory():
    assert halved(1_000_000, 300) == [1_000_000, 300]


def test_the_loss_is_the_mean_squared_error_of_rows_alone():
    # L = 1/d ‖D(E(x)) − x‖²
    X, _ = planted_corpus(20)
    task = LinearAutoencoderTask(X, 8, seed=0)
    x = X.toarray()
    again = x
    for layer in (*task.encoder, *task.decoder):
        again = again @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    found = task.loss(np.arange(20), np.random.default_rng(0))["loss"].item()
    assert found == pytest.approx(np.sum((again - x) ** 2) / x.shape[1] / 20, rel=1e-4)


def test_what_is_exported_is_the_encoder_as_one_map():
    X, _ = planted_corpus(20)
    task = LinearAutoencoderTask(X, 8, seed=0)
    assert len(task.encoder) > 1
    code = task.encoder(torch.from_numpy(X.toarray().astype(np.float32))).detach().numpy()
    np.testing.assert_allclose(task.exported().encode(X), code, atol=1e-5)


def test_rows_are_made_again_from_codes_that_are_shorter():
    rng = np.random.default_rng(0)
    X = csr_matrix((rng.random((2000, 4)) @ rng.random((4, 24))).astype(np.float32))
    Z = learn_linear_autoencoder(X, 4, seed=0).encode(X)
    again = Z @ np.linalg.lstsq(Z, X.toarray(), rcond=None)[0]
    assert np.mean((again - X.toarray()) ** 2) < 0.3 * X.toarray().var(axis=0).mean()


@pytest.mark.parametrize(("n_rows", "n_features"), [(1, 1), (1, 5), (10, 3)])
def test_a_few_rows_or_features_are_enough(n_rows, n_features):
    X = csr_matrix(np.ones((n_rows, n_features), dtype=np.float32))
    Z = learn_linear_autoencoder(X, 4, seed=0).encode(X)
    assert Z.shape == (n_rows, min(4, n_features))
    assert np.isfinite(Z).all()


def test_it_is_trained_as_the_program_trains():
    told = training(1836, seed=0)
    assert (told.n_epochs, told.batch_size, told.rule, told.decay) == (10, 64, "adam-l2", False)
    assert (told.learning_rate, told.weight_decay) == (0.0003, 0.0)
    assert training(1836, l2=1e-4, seed=0).weight_decay == 1e-4
    assert training(120, seed=0).learning_rate == 0.001
