from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import models
from labelspace.cli.set_option import parse_parameters
from labelspace.cli.train import train
from labelspace.data import Corpus
from labelspace.errors import DataError
from labelspace.models import DXML
from labelspace.models.dxml.hierarchy import read_hierarchy
from labelspace.tagger import Tagger
from tests.planted import planted_corpus

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus()


def small(**parameters) -> DXML:
    quick = {"dim": 16, "hidden": (32,), "random_state": 0, "n_threads": 1}
    return models.make("dxml", **quick | parameters)


@pytest.mark.parametrize("loss", ["smooth-l1", "contrastive", "triplet", "softmax"])
def test_every_loss_learns_without_help_of_the_labels(corpus, loss):
    model = small(loss=loss, label_weight=0.0, n_epochs=40).fit(*corpus)
    assert model.score(*planted_corpus(100, seed=1)) > 0.85
    assert model.history_["loss"][-1] < model.history_["loss"][0]


@pytest.mark.parametrize("targets", ["deepwalk", "svd", "random", "neighbors"])
def test_targets_may_come_from_anywhere(corpus, targets):
    model = small(targets=targets).fit(*corpus)
    assert model.score(*planted_corpus(100, seed=1)) > 0.9


def test_an_untrained_network_would_fail(corpus):
    barely = small(n_epochs=1, learning_rate=1e-9, label_votes=0.0, n_neighbors=5).fit(*corpus)
    trained = small(label_votes=0.0, n_neighbors=5).fit(*corpus)
    test = planted_corpus(100, seed=1)
    assert trained.score(*test) > barely.score(*test) + 0.02


def test_the_papers_preset_is_the_paper(corpus):
    model = small(preset="paper", n_epochs=120).fit(*corpus)
    chosen = model.settings_
    assert (chosen.loss, chosen.rule, chosen.learning_rate) == ("smooth-l1", "momentum", 0.015)
    assert (chosen.n_probes, chosen.label_votes, chosen.edges) == (1, 0.0, "binary")
    top = model.predict_topk(corpus[0], k=3)
    assert np.array_equal(top.scores, np.rint(top.scores)), "votes are counted"
    assert model.score(*corpus) > 0.8


def test_the_number_of_neighbours_is_chosen_on_rows_held_out():
    X, Y = planted_corpus(600)
    model = small(n_learners=1, n_epochs=4).fit(X, Y)
    assert model.settings_.is_told_of_votes
    assert model.Y_.shape[0] == 600
    assert model.learners_[0].rows.n_keys == 600, "rows held out vote all the same"
    given = small(n_learners=1, n_epochs=4, n_neighbors=7).fit(X, Y)
    assert given.settings_.n_neighbors == 7
    assert given.score(*planted_corpus(100, seed=1)) > 0.9


def test_more_clusters_searched_find_what_an_exact_search_finds(corpus):
    X, Y = corpus
    model = small(n_clusters=20, n_probes=1, storage="float32", n_neighbors=10).fit(X, Y)
    learner = model.learners_[0]
    Z = learner.encoder.encode(model.rows_.encode(X))
    keys = learner.rows.vectors(np.arange(300))
    right = np.argsort(-Z @ keys.T, axis=1)[:, :10]
    shares = []
    for n_probes in (1, 20):
        learner.rows.n_probes = n_probes
        found = learner.rows.search(Z, 10).ids
        shares.append(np.mean([np.isin(a, b).mean() for a, b in zip(right, found, strict=True)]))
    assert shares[0] < shares[1]
    assert shares[1] > 0.99


def test_it_learns_new_rows_and_labels_without_losing_old_ones(corpus):
    X, Y = corpus
    old = np.flatnonzero(Y[:, 10:].sum(axis=1).A1 == 0)
    new = np.setdiff1d(np.arange(300), old)
    model = small().fit(X[old], Y[old][:, :10])
    model.partial_fit(X[new], Y[new])
    X_test, Y_test = planted_corpus(200, seed=1)
    assert model.score(X_test, Y_test) > 0.9
    assert model.learners_[0].labels.n_keys == 12


def test_rows_to_learn_from_may_come_later(corpus):
    X, Y = corpus
    nothing = csr_matrix((5, X.shape[1]), dtype=np.float32)
    model = small().fit(nothing, csr_matrix(Y[:5]))
    assert len(model.predict_topk(X[:3], k=2)) == 3
    model.partial_fit(X, Y)
    assert model.learners_[0].rows.n_keys == 300


class TestHierarchy:
    def test_labels_of_one_parent_come_together(self, corpus):
        graph = np.zeros((14, 14))
        graph[:6, 12] = graph[12, :6] = graph[6:12, 13] = graph[13, 6:12] = 1
        model = small(hierarchy=csr_matrix(graph), label_weight=0.0).fit(*corpus)
        vectors = model.learners_[0].labels.vectors(np.arange(12))[:, :-1]
        cosines = vectors @ vectors.T
        assert cosines[:6, :6].mean() > cosines[:6, 6:].mean() + 0.3

    def test_a_file_names_labels_as_the_corpus_does(self, tmp_path):
        X, Y = planted_corpus(60)
        path = tmp_path / "tree.tsv"
        path.write_text("even\tlabel 0\neven\tlabel 2\nodd\tlabel 1\n", encoding="utf-8")
        lists = [[f"label {label}" for label in row.indices] for row in Y]
        model = small(hierarchy=str(path), n_epochs=2).fit(X, lists)
        names = list(model.classes_)
        graph = model._label_graph(csr_matrix((1, 12)))
        one, other = names.index("label 0"), names.index("label 2")
        assert (graph @ graph)[one, other] == 1
        assert graph.shape[0] == 14

    def test_a_tagger_passes_the_names_on(self, tmp_path):
        path = tmp_path / "tree.tsv"
        path.write_text("colour\tred\ncolour\tgreen\n", encoding="utf-8")
        tagger = Tagger("dxml", hierarchy=str(path), n_epochs=2, dim=8, hidden=(8,))
        texts = ["a red ball", "a green ball", "a red car", "a green car"]
        tagger.fit(texts, [["red"], ["green"], ["red"], ["green"]])
        assert tagger.estimator_.classes_.tolist() == ["green", "red"]
        path.write_text("shape\tround\n", encoding="utf-8")
        with pytest.raises(DataError, match="line 1: 'shape' is neither"):
            tagger.fit(texts, [["red"], ["green"], ["red"], ["green"]])

    def test_the_command_line_passes_the_names_on(self, tmp_path):
        path = tmp_path / "tree.tsv"
        path.write_text("colour\tred\ncolour\tgreen\n", encoding="utf-8")
        corpus = Corpus(*planted_corpus(40, n_labels=3), label_names=["red", "green", "round"])
        settings = parse_parameters([f"hierarchy={path}", "n_epochs=2", "dim=8", "hidden=[8]"])
        tagger, _ = train(corpus, "dxml", settings)
        assert tagger.estimator_._label_graph(csr_matrix((1, 3))).shape == (4, 4)

    def test_a_matrix_of_another_size_is_refused(self, corpus):
        with pytest.raises(DataError, match="12 labels"):
            small(hierarchy=csr_matrix((5, 5))).fit(*corpus)

    def test_the_same_file_read_by_hand_gives_the_same_model(self, corpus, tmp_path):
        path = tmp_path / "tree.tsv"
        path.write_text("0\t1\n0\t2\n3\t4\n", encoding="utf-8")
        one = small(hierarchy=str(path)).fit(*corpus).predict_topk(corpus[0], k=3)
        by_hand = small(hierarchy=read_hierarchy(path, 12)).fit(*corpus)
        assert np.array_equal(by_hand.predict_topk(corpus[0], k=3).labels, one.labels)
