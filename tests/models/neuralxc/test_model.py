from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import labelspace
from labelspace import metrics, models
from labelspace.errors import UsageError
from labelspace.tagger import Tagger
from tests.models.neuralxc.logits import logits
from tests.planted import planted_corpus

pytest.importorskip("torch")

from labelspace.models.neuralxc.model import NeuralXC


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus()


def small(**parameters) -> NeuralXC:
    chosen = {"dim": 16, "label_dim": 16, "random_state": 0, "n_threads": 1} | parameters
    return models.make("neuralxc", **chosen)


@pytest.mark.parametrize(
    "parameters",
    [
        {"hidden": (24,), "label_hidden": (20,), "regressor_hidden": (18,), "n_epochs": 40},
        {"label_dim": 12, "code": "tanh", "n_epochs": 25},
        {"n_sampled": 6, "n_zeros": 10, "n_epochs": 25},
        {"alpha": 0.0, "beta": 0.0, "n_epochs": 25},
        {"n_learners": 2},
        {"linear_dim": 16},
    ],
)
def test_every_architecture_learns(corpus, parameters):
    chosen = {"dropout": 0.0, "learning_rate": 0.01, "row_learning_rate": 0.1} | parameters
    assert small(**chosen).fit(*corpus).score(*planted_corpus(100, seed=1)) > 0.8


def test_the_programs_networks_read_rows_as_they_are_and_learn_on(corpus):
    model = NeuralXC(preset="repaired", random_state=0, n_epochs=150).fit(*corpus)
    assert model.encode(corpus[0]).shape == (300, round(6 * 78**0.5))
    assert (model.rows_.encode(corpus[0]) != corpus[0]).nnz == 0
    more, labels = planted_corpus(100, seed=1)
    assert model.score(more, labels) > 0.5
    before = model.score(more, labels)
    model.partial_fit(*planted_corpus(100, seed=2))
    assert model.score(more, labels) > before - 0.1


@pytest.mark.parametrize("settings", [{"dropout": 0.3}, {"networks": "dense"}])
def test_what_dense_networks_do_not_read_is_refused_before_anything_is_learned(corpus, settings):
    preset = "best" if "networks" in settings else "paper"
    model = NeuralXC(preset=preset, settings=settings)
    with pytest.raises(UsageError, match="is for sparse networks"):
        model.fit(*corpus)
    assert not hasattr(model, "settings_")


def test_scores_are_probabilities_of_the_decoders_outputs(corpus):
    model = small(n_learners=2, n_epochs=25, storage="float32").fit(*corpus)
    X = corpus[0][:20]
    rows = model.rows_.encode(X)
    mean = np.mean([logits(one, rows) for one in model.learners_], axis=0)
    top = model.predict_topk(X, k=12)
    expected = np.take_along_axis(1.0 / (1.0 + np.exp(-mean)), top.labels, axis=1)
    assert np.allclose(top.scores, expected, atol=1e-5)
    assert np.all(np.diff(top.scores, axis=1) <= 0.0)


def test_the_linear_map_counts_as_much_as_all_networks(corpus):
    model = small(n_learners=2, n_epochs=5, linear_dim=32, storage="float32").fit(*corpus)
    X = corpus[0][:20]
    rows = model.rows_.encode(X)
    scores = [logits(one, rows) for one in (*model.learners_, model.linear_)]
    top = model.predict_topk(X, k=12)
    mean = (scores[0] + scores[1] + 2 * scores[2]) / 4
    expected = np.take_along_axis(1.0 / (1.0 + np.exp(-mean)), top.labels, axis=1)
    assert np.allclose(top.scores, expected, atol=1e-5)


def test_codes_are_those_of_all_learners(corpus):
    model = small(n_learners=2, n_epochs=1).fit(*corpus)
    codes = model.encode(corpus[0])
    assert codes.shape == (300, 32)
    assert np.allclose(codes[:, :16], model.encoder_.encode(model.rows_.encode(corpus[0])))


def test_it_stops_early_and_leaves_no_checkpoint(corpus, tmp_path):
    model = small(validation=0.2, patience=1, n_epochs=60, row_learning_rate=0.1)
    model.set_params(checkpoint=str(tmp_path / "state")).fit(*corpus)
    assert len(model.history_) < 60
    assert not list(tmp_path.iterdir()), "a finished training leaves no checkpoint"
    model.save(tmp_path / "model")
    assert labelspace.load(tmp_path / "model").history_["loss"] == model.history_["loss"]


@pytest.mark.parametrize("linear", [{}, {"linear_dim": 32}])
def test_a_new_label_does_not_drive_out_known_ones(corpus, linear):
    X, Y = corpus
    known = np.flatnonzero(Y[:, 11:].sum(axis=1).A1 == 0)
    new = np.setdiff1d(np.arange(300), known)
    model = small(dim=32, label_dim=32, **linear).fit(X[known], Y[known][:, :11])
    before = model.score(X[known], Y[known][:, :11])
    model.partial_fit(X[new], Y[new])
    assert np.mean(model.predict_topk(X[new], k=3).labels == 11) * 3 > 0.8
    assert model.score(X[known], Y[known]) > before - 0.1


def test_texts_go_in_as_they_are():
    colors, things = ("red", "green", "blue", "white"), ("ball", "cube", "cone", "ring")
    texts = [f"a {color} {thing} on the table" for color, thing in product(colors, things)]
    labels = [[color, thing] for color, thing in product(colors, things)]
    tagger = Tagger("neuralxc", random_state=0, n_threads=1).fit(texts * 3, labels * 3)
    assert {name for name, _ in tagger.tag("there is a blue cone", k=2)} == {"blue", "cone"}


def test_a_killed_training_keeps_the_networks_that_are_done(corpus, tmp_path, monkeypatch):
    from labelspace.models.neuralxc import training

    folder = tmp_path / "checkpoint"
    two = {"n_learners": 2, "n_epochs": 2, "batch_size": 16}
    real, called = training.train, []

    def killed(*arguments):
        called.append(arguments)
        if len(called) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(training, "train", killed)
    with pytest.raises(KeyboardInterrupt):
        small(**two, checkpoint=str(folder)).fit(*corpus)
    assert (folder / "network-0").is_dir()
    (folder / "thesis.txt").write_text("years of work")
    resumed = small(**two, checkpoint=str(folder)).fit(*corpus)
    assert [file.name for file in folder.iterdir()] == ["thesis.txt"]
    whole = small(**two).fit(*corpus)
    X = corpus[0]
    assert np.array_equal(resumed.predict_topk(X, 3).scores, whole.predict_topk(X, 3).scores)


def test_rows_to_learn_from_may_come_later(corpus):
    X, Y = corpus
    nothing = csr_matrix((5, X.shape[1]), dtype=np.float32)
    model = small(n_epochs=2).fit(nothing, csr_matrix(Y[:5]))
    assert len(model.predict_topk(X[:3], k=2)) == 3
    assert np.isfinite(model.partial_fit(X, Y).predict_topk(X, k=2).scores).all()


def test_scores_are_probabilities_and_measured_as_such(corpus):
    model = small(n_epochs=20).fit(*corpus)
    X_test, Y_test = planted_corpus(200, seed=1)
    assert model.gives_probabilities
    assert metrics.calibration_error(Y_test, model.predict_topk(X_test, k=5)) < 10.0
