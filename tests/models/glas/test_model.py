from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import labelspace
from labelspace import models
from labelspace.errors import UsageError
from labelspace.models import GLaS
from labelspace.selection import split_rows
from tests.planted import planted_corpus

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus()


def small(**parameters) -> GLaS:
    return models.make("glas", **{"dim": 16, "random_state": 0, "n_threads": 1} | parameters)


@pytest.mark.parametrize("loss", ["softmax", "margin", "mining"])
def test_every_loss_learns(corpus, loss):
    model = small(loss=loss, biases=loss == "softmax", n_epochs=30).fit(*corpus)
    assert model.score(*planted_corpus(100, seed=1)) > 0.8


def test_the_papers_preset_has_no_biases_and_normalises_weights(corpus):
    model = small(preset="paper", hidden=(16,), batch_size=64, n_epochs=25).fit(*corpus)
    assert not model.embedding_.biases.any()
    assert model.settings_.loss == "margin"
    assert np.allclose(np.linalg.norm(model.embedding_.vectors, axis=1), 1.0, atol=1e-5)
    assert model.score(*planted_corpus(100, seed=1)) > 0.8


def test_the_search_from_coarse_to_fine_finds_what_the_exact_one_finds(corpus):
    X, Y = corpus
    exact = small(search="exact").fit(X, Y).predict_topk(X, k=3)
    found = small(search="coarse_to_fine").fit(X, Y).predict_topk(X, k=3)
    shared = [np.intersect1d(*pair).size for pair in zip(exact.labels, found.labels, strict=True)]
    assert np.mean(shared) > 2.7


def test_scores_are_probabilities(corpus):
    top = small(tail=0.0).fit(*corpus).predict_topk(corpus[0], k=12)
    assert top.scores.min() >= 0.0
    assert top.scores.max() <= 1.0
    mean_true = corpus[1].sum() / corpus[1].shape[0]
    assert top.scores.sum() / len(top) == pytest.approx(mean_true, rel=0.3)


def test_it_stops_early_takes_the_best_epoch_and_keeps_its_history(corpus, tmp_path):
    X, Y = corpus
    # A space this small gets worse again, and nothing else changes what the last epoch has learned.
    coarse = {"dim": 4, "row_learning_rate": 0.1, "n_epochs": 40}
    plain = {"tail": 0.0, "search": "exact", "storage": "float32"}
    model = small(validation=0.2, patience=1, **coarse, **plain).fit(X, Y)
    quality = model.history_["P@1"]
    assert len(quality) < 40
    assert quality[-1] < quality[-2] == max(quality)
    _, held_out = split_rows(Y, 0.2, seed=np.random.RandomState(0).randint(1 << 31))
    assert 100.0 * model.score(X[held_out], Y[held_out]) == pytest.approx(max(quality))
    model.save(tmp_path / "model")
    assert labelspace.load(tmp_path / "model").history_["loss"] == model.history_["loss"]


def test_a_new_label_does_not_drive_out_known_ones(corpus):
    X, Y = corpus
    known = np.flatnonzero(Y[:, 11:].sum(axis=1).A1 == 0)
    new = np.setdiff1d(np.arange(300), known)
    model = small().fit(X[known], Y[known][:, :11])
    before = model.score(X[known], Y[known][:, :11])
    model.partial_fit(X[new], Y[new])
    assert np.mean(model.predict_topk(X[new], k=3).labels == 11) * 3 > 0.8
    assert model.score(X[known], Y[known]) > before - 0.1


def test_a_linear_map_beside_the_network_counts_by_its_scale(corpus):
    X, Y = corpus
    model = small(linear_dim=24, linear_scale=8.0, tail=0.0).fit(X, Y)
    alone = small(tail=0.0).fit(X, Y)
    assert model.embedding_.encoder.dim == 40
    assert model.score(*planted_corpus(100, seed=1)) > 0.8
    encoder = model.embedding_.encoder
    rows = model.rows_.encode(X[:5])
    network, linear = encoder.split(encoder.encode(rows))
    total = alone.embedding_.scale + 8.0
    assert np.isclose(model.embedding_.scale, total, rtol=1e-4)
    assert np.allclose(np.linalg.norm(linear, axis=1) ** 2, 8.0 / total, atol=1e-4)
    # The network is the same as without it, and its inner products have the same weight.
    V = encoder.split(model.embedding_.vectors)[0]
    expected = (
        alone.embedding_.scale * alone.embedding_.encoder.encode(rows) @ alone.embedding_.vectors.T
    )
    assert np.allclose(model.embedding_.scale * network @ V.T, expected, atol=1e-3)


def test_a_model_with_a_linear_map_learns_on_and_is_saved(corpus, tmp_path):
    X, Y = corpus
    known = np.flatnonzero(Y[:, 11:].sum(axis=1).A1 == 0)
    new = np.setdiff1d(np.arange(300), known)
    model = small(linear_dim=16).fit(X[known], Y[known][:, :11])
    model.partial_fit(X[new], Y[new])
    top = model.predict_topk(X[new], k=3).labels
    assert np.mean(top == 11) * 3 > 0.8
    model.save(tmp_path / "model")
    assert np.array_equal(labelspace.load(tmp_path / "model").predict_topk(X[new], k=3).labels, top)


@pytest.mark.parametrize("search", ["exact", "coarse_to_fine"])
def test_labels_without_rows_are_never_answered_and_can_get_rows_later(corpus, search):
    X, Y = corpus
    wide = csr_matrix((Y.data, 3 * Y.indices, Y.indptr), shape=(300, 36))
    model = small(search=search).fit(X, wide)
    top = model.predict_topk(X, k=20)
    assert not (top.labels[top.labels >= 0] % 3).any()
    assert (top.labels[:, 12:] == -1).all()
    more = csr_matrix((Y.data, 3 * Y.indices + 1, Y.indptr), shape=(300, 36))
    model.partial_fit(X[:50], more[:50])
    assert (model.predict_topk(X[:50], k=10).labels % 3 == 1).any()


def test_networks_answer_by_the_mean_of_their_scores(corpus):
    X, Y = corpus
    both = small(n_learners=2, n_epochs=5, tail=0.0, linear_dim=0, search="exact").fit(X, Y)
    alone = both.embedding_.networks(2)
    rows = both.rows_.encode(X[:20])
    # Biases are kept as a mean, so each network's are the same here.
    scores = [one.scale * one.encoder.encode(rows) @ one.vectors.T + one.biases for one in alone]
    found = both.embedding_.search(rows, 3)
    expected = np.sort(np.mean(scores, axis=0), axis=1)[:, ::-1][:, :3]
    assert np.allclose(found.products, expected, atol=2e-2)
    assert not np.allclose(alone[0].vectors, alone[1].vectors, atol=0.1)


def test_several_networks_learn_on_and_are_saved(corpus, tmp_path):
    X, Y = corpus
    model = small(n_learners=2, n_epochs=10).fit(X, Y)
    before = model.score(X, Y)
    Y_new = csr_matrix(np.hstack((Y[:50].toarray(), np.ones((50, 1)))))
    model.partial_fit(X[:50], Y_new)
    assert np.mean(model.predict_topk(X[:50], k=4).labels == Y.shape[1]) > 0.1
    assert model.embedding_.networks(2)[1].vectors.shape[0] == len(model.embedding_.labels)
    assert before > 0.8
    model.save(tmp_path / "model")
    loaded = labelspace.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_topk(X, 3).labels, model.predict_topk(X, 3).labels)


def test_a_killed_training_of_several_networks_goes_on(corpus, tmp_path, monkeypatch):
    from labelspace.deep import loop as deep

    X, Y = corpus
    whole = small(n_learners=2, n_epochs=3).fit(X, Y)
    real, called = deep.train, []

    def killed(*arguments):
        called.append(arguments)
        if len(called) == 2:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(deep, "train", killed)
    folder = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        small(n_learners=2, n_epochs=3, checkpoint=str(folder)).fit(X, Y)
    assert (folder / "network-0").is_dir()
    (folder / "thesis.txt").write_text("years of work")
    resumed = small(n_learners=2, n_epochs=3, checkpoint=str(folder)).fit(X, Y)
    assert [file.name for file in folder.iterdir()] == ["thesis.txt"]
    assert np.array_equal(resumed.predict_topk(X, 3).scores, whole.predict_topk(X, 3).scores)


def test_steps_that_are_far_too_large_are_told_of(corpus):
    with pytest.raises(UsageError, match="diverged"):
        small(learning_rate=1e4, n_epochs=1).fit(*corpus)


def wide(X: csr_matrix, n_features: int = 5_000_000, step: int = 1000) -> csr_matrix:
    """Return rows whose features are far apart among many that no row has."""
    return csr_matrix((X.data, X.indices * step + 7, X.indptr), shape=(X.shape[0], n_features))


def test_features_without_rows_cost_nothing(corpus):
    X, Y = corpus
    model = small(linear_dim=16).fit(wide(X), Y)
    weights = [part.first.weights for part in model.embedding_.encoder.parts]
    assert [len(one) for one in weights] == [len(np.unique(X.indices))] * 2
    asked, truth = planted_corpus(100, seed=1)
    assert model.score(wide(asked), truth) > 0.8


def test_features_that_come_later_are_learned_and_saved(corpus, tmp_path):
    X, Y = corpus
    model = small(linear_dim=16).fit(wide(X), Y)
    other = wide(X, step=999)
    unseen = model.predict_topk(other, 3).scores
    for _ in range(20):
        model.partial_fit(other, Y)
    assert model.score(other, Y) > 0.5
    assert not np.array_equal(model.predict_topk(other, 3).scores, unseen)
    model.save(tmp_path / "model")
    loaded = labelspace.load(tmp_path / "model")
    for rows in (wide(X), other):
        assert np.array_equal(
            loaded.predict_topk(rows, 3).scores, model.predict_topk(rows, 3).scores
        )
