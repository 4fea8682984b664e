from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labelspace.deep.loop import DeepSettings, train
from labelspace.deep.sparse_network import SparseBatch
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


def test_a_label_drawn_for_several_rows_counts_so_often_as_in_algorithm_2():
    # λ mean_{a,b} (v_a·v_b − u_ab)² over the labels y_1 … y_B of the batch, as they were drawn.
    told = replace(SMALL, regularizer_weight=2.0)
    rows = np.arange(100)
    for keep in (True, False):
        task = a_task(replace(told, keep_duplicates=keep))
        losses = task.loss(rows, np.random.default_rng(3))
        sample = task.sampler.draw(rows, np.random.default_rng(3))
        drawn = sample.labels[sample.chosen if keep else np.unique(sample.chosen)]
        V = task.label_vectors()[0][drawn]
        U = task.likeness.toarray()[np.ix_(drawn, drawn)]
        expected = np.mean((V @ V.T - U) ** 2)
        assert losses["penalty"].item() == pytest.approx(expected, rel=1e-4)
        assert losses["loss"].item() == pytest.approx(
            losses["fit"].item() + 2.0 * expected, rel=1e-4
        )


def test_dropout_as_printed_divides_nothing():
    # x ⊙ Bernoulli(ρ), section 3.3.
    X = planted_corpus()[0][:50]
    for rescaled, factor in ((False, 1.0), (True, 2.0)):
        rng = np.random.default_rng(0)
        kept = SparseBatch.of(X, keep=0.5, rescaled=rescaled, rng=rng).X.toarray()
        assert 0.4 < (kept != 0).sum() / X.nnz < 0.6
        assert np.allclose(kept[kept != 0], factor * X.toarray()[kept != 0])
