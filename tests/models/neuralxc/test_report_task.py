from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

pytest.importorskip("torch")

from labelspace.models.neuralxc.report_task import ReportTask
from labelspace.models.neuralxc.settings import NeuralXCSettings
from labelspace.parameters import CorpusShape
from tests.models.neuralxc.logits import logits

X = csr_matrix(np.random.default_rng(0).random((6, 5), dtype=np.float32))
Y = csr_matrix(np.eye(4, dtype=np.float32)[[0, 1, 2, 3, 0, 1]])


def task(**settings) -> ReportTask:
    chosen = NeuralXCSettings.for_corpus("paper", CorpusShape(6, 5, 4))
    return ReportTask(X, Y, NeuralXCSettings(**{**vars(chosen), **settings}))


def sigmoid(values):
    return 1.0 / (1.0 + np.exp(-values))


def dense(network, values):
    return network(__import__("torch").from_numpy(values)).detach().numpy()


@pytest.mark.parametrize(("errors", "d_x", "d_y"), [("mean", 1, 1), ("sum", 5, 4)])
def test_the_loss_is_the_one_on_the_page(errors, d_x, d_y):
    # L(x, y) = α/d_x ‖ψ_i(φ_i(x)) − x‖² + β/d_y ‖ψ_o(φ_o(y)) − y‖² + 1/d_y BCE(ψ_o(f(φ_i(x))), y)
    # with decoders that end in a sigmoid; sums over columns are that without d_x and d_y.
    one = task(errors=errors, alpha=0.3, beta=0.2)
    x, y = X.toarray(), Y.toarray()
    code = dense(one.encoder, x)
    again = sigmoid(dense(one.decoder, code))
    labels = sigmoid(dense(one.label_decoder, dense(one.label_encoder, y)))
    p = sigmoid(dense(one.label_decoder, dense(one.regressor, code)))
    bce = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    expected = 0.3 * d_x * np.mean((again - x) ** 2) + 0.2 * d_y * np.mean((labels - y) ** 2)
    found = one.loss(np.arange(6), np.random.default_rng(0))["loss"]
    assert found.item() == pytest.approx(expected + d_y * bce, rel=1e-4)


def test_outputs_can_begin_at_how_frequent_labels_are():
    share = (np.array([2, 2, 1, 1]) + 0.5) / 7.0
    biases = task(label_priors=True).label_decoder[-1].bias.detach().numpy()
    assert sigmoid(biases) == pytest.approx(share, abs=1e-5)


def test_weights_start_as_glorot_and_bengio_have_them():
    # xavier_uniform: U(−a, a) with a = √(6 / (inputs + outputs))
    wide = task(hidden=(400,), dim=300)
    weights = wide.encoder[2].weight.detach().numpy()
    assert weights.shape == (300, 400)
    limit = (6 / 700) ** 0.5
    assert 0.999 * limit < np.abs(weights).max() <= limit
    assert weights.std() == pytest.approx(limit / 3**0.5, rel=0.01)


# What stands between linear layers and after the last, from setups/Bibtex/*_cfg.yml of the report's
# program; the decoders' Sigmoid is in the loss, whose test works it out.
LAYERS = {
    "encoder": ("ReLU", None),
    "decoder": ("LeakyReLU", None),
    "label_encoder": ("LeakyReLU", "Tanh"),
    "label_decoder": ("ReLU", None),
    "regressor": ("ReLU", "Tanh"),
}


@pytest.mark.parametrize("network", LAYERS)
def test_layers_are_those_of_the_program(network):
    between, end = LAYERS[network]
    one = task(hidden=(8, 7), label_hidden=(6, 5), regressor_hidden=(4, 3))
    names = [type(layer).__name__ for layer in getattr(one, network)]
    assert names == ["Linear", between, "Linear", between, "Linear", *filter(None, [end])]


def test_leaks_are_those_of_the_program():
    one = task(hidden=(8, 7), label_hidden=(6, 5))
    assert [one.decoder[at].negative_slope for at in (1, 3)] == [0.2, 0.2]
    assert [one.label_encoder[at].negative_slope for at in (1, 3)] == [0.1, 0.1]


def test_what_is_exported_gives_the_same_outputs():
    one = task()
    learned = one.exported("float32")
    code = dense(one.regressor, dense(one.encoder, X.toarray()))
    assert logits(learned, X) == pytest.approx(dense(one.label_decoder, code), abs=1e-5)
