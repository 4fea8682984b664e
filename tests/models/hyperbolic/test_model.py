"""What is special about Hyperbolic, its learners included; what every estimator must do is in
test_estimators.py.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack

import labelspace
from labelspace.models import Hyperbolic
from labelspace.models.hyperbolic import model as module
from labelspace.models.hyperbolic.metric_index import KINDS
from labelspace.spaces import poincare
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def corpus():
    return planted_corpus()


@pytest.fixture(scope="module")
def fitted(corpus) -> Hyperbolic:
    return Hyperbolic(random_state=0, n_learners=2).fit(*corpus)


@pytest.mark.parametrize("answer", ["both", "rows", "labels"])
def test_rows_and_labels_both_know_the_answer(fitted: Hyperbolic, answer: str) -> None:
    X, Y = planted_corpus(100, seed=1)
    before = fitted.settings_
    fitted.settings_ = replace(before, answer=answer)
    try:
        assert fitted.score(X, Y) > 0.9
        votes = fitted._votes(fitted.rows_.encode(X), 5)
    finally:
        fitted.settings_ = before
    assert (votes.rows.size > 0) == (answer != "labels")
    assert (votes.labels.size > 0) == (answer != "rows")


@pytest.mark.parametrize(
    "settings",
    [
        {"space": "sphere"},
        {"space": "euclidean"},
        {"optimizer": "adam", "learning_rate": 0.02, "n_epochs": 30},
        {"optimizer": "rsgd", "learning_rate": 0.05},
        {"n_hidden": 20},
    ],
    ids=str,
)
def test_variants_learn(corpus, settings: dict) -> None:
    X, Y = planted_corpus(100, seed=1)
    model = Hyperbolic(n_learners=1, dim=20, settings=settings, random_state=0).fit(*corpus)
    assert model.score(X, Y) > 0.85


def test_everything_lies_in_the_ball(fitted: Hyperbolic) -> None:
    for learner in fitted.learners_:
        for points in (learner.rows.points, learner.labels.points):
            assert np.linalg.norm(points.astype(np.float64), axis=1).max() < 1.0
            assert np.all(np.isfinite(poincare.distance(points, points[::-1])))


def test_number_of_threads_does_not_change_the_model(corpus) -> None:
    X, Y = corpus
    one, two = (
        Hyperbolic(random_state=0, n_learners=2, dim=5, n_threads=n).fit(X, Y) for n in (1, 2)
    )
    assert np.array_equal(one.label_vectors_, two.label_vectors_)
    assert np.array_equal(one.predict_topk(X).labels, two.predict_topk(X).labels)


def test_fewer_learners_can_be_asked(fitted: Hyperbolic, corpus) -> None:
    X, _ = corpus
    every = fitted.predict_topk(X)
    one = fitted.set_params(use_learners=1).predict_topk(X)
    fitted.set_params(use_learners=None)
    assert not np.array_equal(every.scores, one.scores)
    assert np.all((one.scores > 0) & (one.scores <= 1 + 1e-5))


def test_paper_preset_counts_votes(corpus) -> None:
    model = Hyperbolic(preset="paper", n_learners=2, n_epochs=30, random_state=0).fit(*corpus)
    top = model.predict_topk(corpus[0], k=3)
    assert np.all(top.scores == np.rint(top.scores))
    assert top.scores.max() <= 2 * 10
    assert model.score(*corpus) > 0.85


@pytest.mark.parametrize(("preset", "held_out"), [("paper", [0, 10, 1500]), ("best", [0, 0, 1000])])
def test_a_twentieth_of_the_rows_is_held_out(preset: str, held_out: list[int]) -> None:
    counts = []
    for n in (199, 200, 30_000):
        X = Y = csr_matrix(np.ones((n, 1), dtype=np.float32))
        model = Hyperbolic(preset=preset)
        model.settings_ = model._resolved(X, Y)
        counts.append(model._held_out(X, Y, seed=0).size)
    assert counts == held_out


def test_the_paper_learns_among_noise_and_stays_off_the_edge() -> None:
    """Each label has four words of 48; a row has 40 of 600 others, as heavy as its own."""

    def noisy(n_rows: int, seed: int) -> tuple[csr_matrix, csr_matrix]:
        rng = np.random.default_rng(seed)
        X, Y = planted_corpus(n_rows, seed=seed)
        words = np.zeros((n_rows, 600), dtype=np.float32)
        for row in words:
            row[rng.choice(600, size=40, replace=False)] = rng.uniform(0.5, 1.0, size=40)
        return csr_matrix(hstack([X, words])), Y

    def trained(**given: float) -> Hyperbolic:
        model = Hyperbolic(preset="paper", n_learners=1, random_state=0, n_threads=1, **given)
        return model.fit(*noisy(1200, 0))

    asked = noisy(300, 1)
    model = trained()
    norms = np.linalg.norm(model.learners_[0].rows.points.astype(np.float64), axis=1)
    assert np.mean(norms > 0.999) < 0.01
    assert model.score(*asked) > trained(learning_rate=1e-12).score(*asked) + 0.2


def test_a_map_is_there_in_two_dimensions_only(corpus, tmp_path: Path) -> None:
    X, Y = corpus
    flat = Hyperbolic(dim=2, n_learners=1, random_state=0).fit(X, Y)
    assert flat.label_map_.shape == (Y.shape[1], 2)
    assert np.linalg.norm(flat.label_map_, axis=1).max() < 1.0
    apart = poincare.distance(flat.label_vectors_[0], flat.label_vectors_[1:])
    assert np.allclose(poincare.distance(flat.label_map_[0], flat.label_map_[1:]), apart, atol=1e-3)
    assert not hasattr(Hyperbolic(n_learners=1).fit(X, Y), "label_map_")
    assert not hasattr(Hyperbolic(n_learners=1, dim=2, space="sphere").fit(X, Y), "label_map_")
    flat.save(tmp_path / "model")
    assert np.array_equal(labelspace.load(tmp_path / "model").label_map_, flat.label_map_)


def test_frequent_labels_lie_nearer_to_the_middle() -> None:
    """A tree: every row has the root, half of them each branch, few of them each leaf."""
    rng = np.random.default_rng(0)
    leaves = rng.integers(8, size=600)
    Y = np.zeros((600, 11), dtype=np.float32)
    Y[:, 0] = 1
    Y[np.arange(600), 1 + leaves // 4] = 1
    Y[np.arange(600), 3 + leaves] = 1
    X = np.eye(8, dtype=np.float32)[leaves] + 0.1 * rng.random((600, 8), dtype=np.float32)
    model = Hyperbolic(dim=2, n_learners=1, random_state=0, n_epochs=30).fit(X, Y)
    norms = np.linalg.norm(model.label_map_, axis=1)
    assert norms[0] < norms[1:3].min()
    assert norms[1:3].mean() < norms[3:].mean()


def test_reasons_are_rows_and_the_label_itself(fitted: Hyperbolic, corpus) -> None:
    X, Y = corpus
    for explanation in fitted.explain(X[:1], k=1, n_reasons=50)[0]:
        kinds = {reason.kind for reason in explanation.reasons}
        assert kinds == {"example", "label"}
        for reason in explanation.reasons:
            if reason.kind == "example":
                assert Y[reason.id, explanation.label] == 1


def test_a_row_without_features_gets_frequent_labels(fitted: Hyperbolic, corpus) -> None:
    X, Y = corpus
    top = fitted.predict_topk(csr_matrix((1, X.shape[1]), dtype=np.float32), k=2)
    counts = np.asarray(Y.sum(axis=0)).ravel()
    assert counts[top.labels[0]].tolist() == sorted(counts)[:-3:-1]


def test_weights_of_votes_that_are_not_given_are_chosen(corpus, monkeypatch) -> None:
    tried = []

    def choose(weights, cast, Y, truth):
        tried.append(weights)
        assert cast(weights[0]).top(Y, 5).k == 5
        return weights[-1]

    monkeypatch.setattr(module, "best_votes", choose)
    monkeypatch.setattr(module, "_ENOUGH_TO_CHOOSE", 10)
    few = {"min_held_out": 10}
    model = Hyperbolic(dim=4, n_learners=1, n_epochs=2, settings=few, random_state=0).fit(*corpus)
    assert model.settings_.vote_weights == (4.0 * model.settings_.alpha, 1.0)
    given = {"vote_alpha": 1.5, "label_votes": 0.0, "min_held_out": 10}
    model = Hyperbolic(dim=4, n_learners=1, n_epochs=2, settings=given, random_state=0)
    assert model.fit(*corpus).settings_.vote_weights == (1.5, 0.0)
    assert [len(weights) for weights in tried] == [20, 1]


@pytest.mark.parametrize("search", KINDS)
def test_new_rows_and_labels_are_learned(corpus, search: str, tmp_path: Path) -> None:
    X, Y = corpus
    last = Y[:, -1].toarray().ravel() > 0
    model = Hyperbolic(n_learners=1, dim=10, settings={"search": search}, random_state=0)
    model.fit(X[~last], Y[~last])
    before = model.predict_topk(X[last], k=1).labels
    assert not np.any(before == Y.shape[1] - 1)
    model.partial_fit(X[last], Y[last])
    assert np.mean(model.predict_topk(X[last], k=3).labels == Y.shape[1] - 1) > 0.3
    assert model.label_vectors_[-1].any()
    model.save(tmp_path / "model")
    again = labelspace.load(tmp_path / "model").predict_topk(X)
    assert np.array_equal(again.labels, model.predict_topk(X).labels)
