from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labelspace.deep.loop import DeepSettings, train
from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.models.glas.settings import LOSSES, REGULARIZERS, GLaSSettings
from labelspace.models.glas.task import GLaSTask
from tests.planted import planted_corpus

SMALL = GLaSSettings(hidden=(16,), dim=16, scale=10.0, regularizer_weight=1.0)
QUICK = DeepSettings(n_epochs=8, batch_size=64, learning_rate=0.01, row_learning_rate=0.01)


def a_task(settings: GLaSSettings = SMALL, **more) -> GLaSTask:
    X, Y = planted_corpus()
    return GLaSTask(X, Y, settings, likeness=similarity(cooccurrence(Y), 300), **more)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("regularizer", REGULARIZERS)
def test_every_loss_learns_with_every_regulariser(loss, regularizer):
    weight = 0.1 if regularizer in ("laplacian", "gravity") else 1.0
    settings = replace(SMALL, loss=loss, biases=loss == "binary")
    settings = replace(settings, regularizer=regularizer, regularizer_weight=weight)
    task = a_task(settings, held_out=planted_corpus(50, seed=1))
    history = train(task, 300, QUICK)
    assert history["P@1"][-1] > 60.0
    assert history["loss"][-1] < history["loss"][0]


def test_biases_begin_with_the_frequencies_of_labels():
    task = a_task()
    share = (task.counts + 0.5) / 301.0
    chances = torch.sigmoid(task.biases.values[:, 0]).numpy()
    assert np.allclose(chances, share, atol=1e-5)
    assert not a_task(replace(SMALL, loss="softmax")).biases.values.any()


def test_what_is_exported_ranks_as_the_task_does():
    task = a_task()
    train(task, 300, replace(QUICK, n_epochs=2))
    X = planted_corpus(20, seed=2)[0]
    learned = task.exported("float32")
    scores = learned.scale * learned.encoder.encode(X) @ learned.vectors.T + learned.biases
    top = task.rank(X, 3)
    assert np.allclose(top.scores, -np.sort(-scores, axis=1)[:, :3], atol=1e-4)
    assert np.array_equal(top.labels[:, 0], scores.argmax(axis=1))


def test_a_task_goes_on_from_what_was_exported():
    first = a_task()
    train(first, 300, replace(QUICK, n_epochs=2))
    learned = first.exported("float32")
    again = a_task(start=(learned.encoder, learned.vectors, learned.biases), seed=9)
    X = planted_corpus(20, seed=2)[0]
    Z = again.network.exported("float32").encode(X)
    assert np.allclose(Z, learned.encoder.encode(X), atol=1e-5)
    assert np.allclose(again.label_vectors()[0], learned.vectors, atol=1e-6)


def test_tasks_of_other_rows_or_settings_are_told_apart():
    identity = a_task().identity()
    assert a_task(seed=3).identity() == identity
    assert a_task(replace(SMALL, loss="softmax")).identity() != identity
    X, Y = planted_corpus(seed=5)
    assert GLaSTask(X, Y, SMALL).identity() != identity
