"""What is special about AnnexML, its learners included; what every estimator must do is in
test_estimators.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack, identity

import labelspace
from labelspace.models import AnnexML
from labelspace.models.annexml import model as annexml
from labelspace.models.annexml.learners import PartitionedLearner
from labelspace.search.exact import ExactIndex
from labelspace.search.result import SearchResult
from labelspace.voting import GAMMAS, LABEL_VOTES, VoteWeights
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus()


@pytest.fixture(scope="module")
def fitted(corpus) -> AnnexML:
    return AnnexML(random_state=0).fit(*corpus)


def test_number_of_threads_does_not_change_the_model(corpus) -> None:
    X, Y = corpus
    one, two = (AnnexML(random_state=0, n_threads=n).fit(X, Y) for n in (1, 2))
    for mine, other in zip(one.learners_, two.learners_, strict=True):
        assert np.array_equal(mine.encoder.weights, other.encoder.weights)
    assert np.array_equal(one.predict_topk(X).labels, two.predict_topk(X).labels)


def test_fewer_learners_can_be_asked(fitted: AnnexML, corpus) -> None:
    X, Y = planted_corpus(100, seed=1)
    model = AnnexML(random_state=0, use_learners=1).fit(*corpus)
    assert model.score(X, Y) > 0.9
    every = model.set_params(use_learners=None).predict_topk(X)
    assert np.array_equal(every.scores, fitted.predict_topk(X).scores)


def test_scores_are_shares_of_the_votes(fitted: AnnexML, corpus) -> None:
    scores = fitted.predict_topk(corpus[0], k=3).scores
    assert np.all((scores > 0) & (scores <= 1 + 1e-5))


def test_paper_preset_counts_votes(corpus) -> None:
    X, Y = corpus
    model = AnnexML(preset="paper", settings={"part_size": 100}, random_state=0).fit(X, Y)
    assert model.settings_.n_learners == len(model.learners_) == 15
    assert model.learners_[0].parts[0].encoder.dim == model.settings_.dim == 50
    assert all(isinstance(learner, PartitionedLearner) for learner in model.learners_)
    top = model.predict_topk(X, k=3)
    assert np.all(top.scores == np.rint(top.scores))
    assert top.scores.max() <= 15 * 10
    assert model.score(X, Y) > 0.9


@pytest.mark.parametrize(("search", "heard"), [("walk", [1, 1, 0]), ("exact", [1, 0, 0])])
def test_every_row_that_the_walk_finds_votes_however_far_it_is(
    corpus, search: str, heard: list[int], monkeypatch
) -> None:
    told = {"n_epochs": 1, "n_learners": 1, "search": search}
    model = AnnexML(preset="paper", settings=told, random_state=0).fit(*corpus)
    found = SearchResult(np.array([[0, 1, -1]]), np.array([[0.5, -0.2, -np.inf]], np.float32))
    monkeypatch.setattr(model, "_found", lambda X: (found, SearchResult.none(1, 0)))
    assert model._votes(corpus[0][:1], 1).row_weights.tolist() == [heard]


@pytest.mark.parametrize("partition", ["learned", "kmeans"])
@pytest.mark.parametrize("balanced", [True, False])
def test_parts_have_maps_of_their_own(corpus, partition: str, balanced: bool, tmp_path) -> None:
    X, Y = corpus
    settings = {"part_size": 100, "balanced": balanced, "label_weight": 0.0}
    model = AnnexML(partition=partition, settings=settings, random_state=0).fit(X, Y)
    sizes = [part.rows.n_keys for part in model.learners_[0].parts if part is not None]
    assert sum(sizes) == X.shape[0]
    if balanced:
        assert max(sizes) <= 110
    assert model.score(*planted_corpus(100, seed=1)) > 0.7
    model.save(tmp_path / "model")
    loaded = labelspace.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_topk(X).labels, model.predict_topk(X).labels)


@pytest.mark.parametrize("partition", ["none", "kmeans"])
def test_appended_rows_are_found_at_once(corpus, partition: str) -> None:
    X, Y = corpus
    settings = {"part_size": 100, "label_weight": 0.0}
    model = AnnexML(random_state=0, partition=partition, settings=settings).fit(X[:250], Y[:250])
    model.partial_fit(X[250:], Y[250:])
    voters = model._votes(model.rows_.encode(X[250:]), 5).rows
    found = [row in voters[row - 250] for row in range(250, 300)]
    assert np.mean(found) > 0.9


def test_learning_on_hardly_moves_old_rows(corpus) -> None:
    X, Y = corpus
    model = AnnexML(random_state=0).fit(X[:250], Y[:250])
    X_test, Y_test = planted_corpus(200, seed=1)
    before = model.score(X_test, Y_test)
    model.partial_fit(X[250:], Y[250:])
    assert model.score(X_test, Y_test) >= before - 0.02


def test_learning_on_gives_weights_to_new_features() -> None:
    X, Y = planted_corpus(200)
    X = X.tolil()
    X[:150, 0:4] = 0
    X = X.tocsr()
    X.eliminate_zeros()
    model = AnnexML(random_state=0).fit(X[:150], Y[:150])
    assert not model.learners_[0].encoder.to_float(np.arange(4)).any()
    model.partial_fit(X[150:], Y[150:])
    assert model.learners_[0].encoder.to_float(np.arange(4)).any(axis=1).all()


def test_weights_of_all_reasons_add_up_to_the_score(fitted: AnnexML, corpus) -> None:
    X, Y = corpus
    for row in fitted.explain(X[:10], k=2, n_reasons=1000):
        for explanation in row:
            total = sum(reason.weight for reason in explanation.reasons)
            assert total == pytest.approx(explanation.score, rel=1e-4)
            for reason in explanation.reasons:
                if reason.kind == "example":
                    assert Y[reason.id, explanation.label] == 1
                else:
                    assert reason.id == explanation.label


def test_row_without_known_features_gets_frequent_labels(fitted: AnnexML, corpus) -> None:
    X, Y = corpus
    top = fitted.predict_topk(csr_matrix((1, X.shape[1])), k=3)
    counts = Y.sum(axis=0).A1
    assert top.labels[0].tolist() == np.argsort(-counts, kind="stable")[:3].tolist()


def test_eight_bits_answer_as_floats_do(fitted: AnnexML, corpus) -> None:
    X, Y = planted_corpus(100, seed=1)
    floats = AnnexML(settings={"storage": "float32"}, random_state=0).fit(*corpus)
    assert floats.learners_[0].encoder.weights.dtype == np.float32
    assert abs(floats.score(X, Y) - fitted.score(X, Y)) <= 0.02
    agree = floats.predict_topk(X, 1).labels == fitted.predict_topk(X, 1).labels
    assert agree.mean() > 0.95


@pytest.fixture
def few_held_out(monkeypatch) -> None:
    monkeypatch.setattr(annexml, "_FEW", 100)
    monkeypatch.setattr(annexml, "_HELD_OUT", (30, 60))


def test_weights_of_votes_that_are_not_given_are_chosen(corpus, few_held_out, monkeypatch) -> None:
    asked = []

    def choose(rows, labels, Y, truth, gammas, label_votes):
        asked.append((truth.shape[0], list(gammas), list(label_votes)))
        assert not np.any(rows.products == 1.0), "a row voted on itself"
        return VoteWeights(12.5, 0.75)

    monkeypatch.setattr(annexml, "choose_votes", choose)
    model = AnnexML(random_state=0).fit(*corpus)
    assert model.settings_.vote_weights == (12.5, 0.75)
    AnnexML(random_state=0, settings={"vote_gamma": 7.0}).fit(*corpus)
    AnnexML(random_state=0, label_votes=2.0).fit(*corpus)
    AnnexML(random_state=0, label_votes=2.0, settings={"vote_gamma": 7.0}).fit(*corpus)
    every = list(GAMMAS), list(LABEL_VOTES)
    assert asked == [(30, *every), (30, [7.0], every[1]), (30, every[0], [2.0])]


def test_rows_held_out_vote_and_their_labels_have_a_point(corpus, few_held_out) -> None:
    X, Y = corpus
    # Every row has a label of its own, so those of rows held out are in no other row.
    own = csr_matrix(hstack([Y, identity(X.shape[0])], format="csr"))
    model = AnnexML(random_state=0).fit(X, own)
    for learner in model.learners_:
        assert learner.rows.n_keys == X.shape[0]
        assert learner.labels.n_keys == own.shape[1]


def test_every_search_gives_nearly_the_same_answers(fitted: AnnexML, corpus) -> None:
    X, _ = planted_corpus(100, seed=1)
    other = AnnexML(settings={"search": "exact"}, random_state=0).fit(*corpus)
    assert isinstance(other.learners_[0].rows, ExactIndex)
    assert (other.predict_topk(X, 1).labels == fitted.predict_topk(X, 1).labels).mean() > 0.9


def test_rows_all_alike() -> None:
    X = csr_matrix(np.ones((40, 3), dtype=np.float32))
    Y = [[row % 2] for row in range(40)]
    top = AnnexML(random_state=0).fit(X, Y).predict_topk(X, k=2)
    assert np.isfinite(top.scores).all()


@pytest.mark.data
def test_bibtex_is_learned_better_than_by_the_original_program(corpora: Path) -> None:
    from labelspace.data import read_corpus
    from labelspace.metrics import evaluate

    train = read_corpus(corpora / "bibtex" / "train.txt.xz")
    test = read_corpus(
        corpora / "bibtex" / "test.txt.xz", n_features=train.n_features, n_labels=train.n_labels
    )
    model = AnnexML(random_state=0).fit(train.X, train.Y)
    figures = evaluate(test.Y, model.predict_topk(test.X, 5))
    assert figures["P@1"] > 61.0
    assert figures["P@3"] > 37.0
    assert figures["P@5"] > 27.0
