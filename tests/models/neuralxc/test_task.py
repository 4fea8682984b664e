from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional

from labelspace.deep.loop import DeepSettings, train
from labelspace.models.neuralxc.autoencoder_settings import AutoencoderSettings
from labelspace.models.neuralxc.task import AutoencoderTask
from tests.planted import planted_corpus

SMALL = AutoencoderSettings(
    dim=6,
    label_dim=5,
    hidden=(8,),
    label_hidden=(7,),
    regressor_hidden=(9,),
    cosine=0.0,
    keep_features=1.0,
    keep_labels=1.0,
    dropout=0.0,
    alpha=0.7,
    n_rebuilt=64,
)
QUICK = DeepSettings(n_epochs=6, batch_size=64, learning_rate=0.01, row_learning_rate=0.01)


def a_task(settings: AutoencoderSettings = SMALL) -> AutoencoderTask:
    task = AutoencoderTask(*planted_corpus(60), settings)
    task.module.eval()
    return task


def dense_losses(task: AutoencoderTask, rows: np.ndarray) -> dict[str, float]:
    """Return the three parts of the loss, worked out with dense matrices."""

    def sparse(network, matrix):
        hidden = matrix @ network.table.values + network.bias
        for layer in network.layers:
            hidden = layer(torch.relu(hidden))
        return hidden

    def columns(decoder, Z):
        hidden, weights = decoder.hidden(Z), decoder.scale * decoder.table.values
        if decoder.cosine is not None:
            hidden = hidden / hidden.norm(dim=1, keepdim=True).clamp_min(1e-9)
            weights = decoder.cosine * weights / weights.norm(dim=1, keepdim=True)
        return hidden @ weights.T + decoder.scale * decoder.biases.values[:, 0]

    X, Y = (torch.from_numpy(matrix[rows].toarray()) for matrix in (task.X, task.Y))
    with torch.no_grad():
        Z = sparse(task.encoder, X)
        scores = columns(task.label_decoder, task.regressor(Z))
        again = columns(task.label_decoder, sparse(task.label_encoder, Y))
        fit = functional.binary_cross_entropy_with_logits(scores, Y, reduction="sum")
        found = {
            "fit": fit,
            "labels": (torch.sigmoid(again) - Y).square().sum(),
            "rows": (columns(task.decoder, Z) - X).square().sum(),
        }
    return {name: float(value) / len(rows) for name, value in found.items()}


@pytest.mark.parametrize("cosine", [0.0, 7.0])
def test_with_all_columns_the_loss_is_that_of_the_report(cosine):
    task, rows = a_task(replace(SMALL, cosine=cosine)), np.arange(3, 20)
    found = task.loss(rows, np.random.default_rng(0))
    expected = dense_losses(task, rows)
    for name, value in expected.items():
        assert float(found[name].detach()) == pytest.approx(value, rel=1e-4)
    whole = expected["fit"] + 0.7 * expected["rows"] + 1.0 * expected["labels"]
    assert float(found["loss"].detach()) == pytest.approx(whole, rel=1e-4)


def test_with_a_sample_of_columns_the_loss_is_the_same_on_average():
    task, rows = a_task(replace(SMALL, n_sampled=8, n_zeros=10)), np.arange(3)
    expected = dense_losses(task, rows)
    rng = np.random.default_rng(0)
    drawn = [task.loss(rows, rng) for _ in range(150)]
    for name, value in expected.items():
        numbers = np.array([float(one[name].detach()) for one in drawn])
        error = numbers.std() / len(numbers) ** 0.5
        assert error > 0.0, f"{name} is not sampled at all"
        assert abs(numbers.mean() - value) < 4.0 * error


def test_a_step_touches_only_sampled_columns():
    task = a_task(replace(SMALL, n_sampled=6, n_zeros=4))
    task.loss(np.arange(1), np.random.default_rng(0))["loss"].backward()
    touched = {
        name: np.concatenate([ids.numpy() for ids, _ in table.pop_gradients()])
        for name, table in task.tables.items()
    }
    assert touched["labels"].size == 6
    assert touched["features again"].size <= task.X[0].nnz + 4


@pytest.mark.parametrize("left_out", [{"alpha": 0.0}, {"beta": 0.0}, {"alpha": 0.0, "beta": 0.0}])
def test_a_reconstruction_of_weight_nought_has_no_network(left_out):
    task = a_task(replace(SMALL, **left_out))
    found = task.loss(np.arange(9), np.random.default_rng(0))
    assert ("rows" in found) == ("alpha" not in left_out)
    assert ("labels" in found) == ("beta" not in left_out)
    assert len(task.tables) == 3 + 2 * ("alpha" not in left_out) + ("beta" not in left_out)


@pytest.mark.parametrize("changed", [{"code": "linear"}, {"code": "tanh"}, {"cosine": 10.0}])
def test_all_three_parts_get_smaller(changed):
    settings = replace(SMALL, dim=16, label_dim=16, keep_features=0.8, keep_labels=0.8, **changed)
    task = AutoencoderTask(*planted_corpus(), settings, held_out=planted_corpus(50, seed=1))
    history = train(task, 300, replace(QUICK, n_epochs=25, row_learning_rate=0.03))
    for name in ("fit", "rows", "labels"):
        assert history[name][-1] < 0.9 * history[name][0]
    assert history["P@1"][-1] > 70.0


def test_a_part_of_a_batch_is_made_again():
    task, rows = a_task(replace(SMALL, n_rebuilt=4)), np.arange(10)
    found = task.loss(rows, np.random.default_rng(0))
    expected = dense_losses(task, rows[:4])
    assert float(found["rows"].detach()) == pytest.approx(expected["rows"], rel=1e-4)
    assert float(found["fit"].detach()) == pytest.approx(dense_losses(task, rows)["fit"], rel=1e-4)
