"""LabelSpace beyond what every estimator is checked for: both halves, reasons, learning on."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import labelspace
from labelspace import metrics
from labelspace.data.corpus import Corpus
from labelspace.data.samples.synthetic import SyntheticCorpus
from labelspace.models import LabelSpace
from tests.planted import planted_corpus

N_OLD_LABELS = 10


@pytest.fixture(scope="module")
def corpus() -> tuple[csr_matrix, csr_matrix]:
    return planted_corpus()


@pytest.fixture(scope="module")
def fitted(corpus: tuple[csr_matrix, csr_matrix]) -> LabelSpace:
    return LabelSpace(random_state=0, n_threads=1).fit(*corpus)


@pytest.fixture
def model(fitted: LabelSpace) -> LabelSpace:
    return copy.deepcopy(fitted)


@pytest.fixture(scope="module")
def texts() -> tuple[Corpus, Corpus]:
    """Rows to learn from and to test on, with labels from frequent to rare."""
    made = SyntheticCorpus(
        2500, n_features=1500, n_labels=300, n_test=500, labels_per_row=3, features_per_row=20
    )
    return made.sample(), made.sample(split="test")


@pytest.fixture(scope="module")
def learned(texts: tuple[Corpus, Corpus]) -> LabelSpace:
    return LabelSpace(random_state=0).fit(texts[0].X, texts[0].Y)


def halves(
    corpus: tuple[csr_matrix, csr_matrix],
) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]:
    """Split into rows with old labels only and rows with at least one new label."""
    X, Y = corpus
    is_new = Y[:, N_OLD_LABELS:].sum(axis=1).A1 > 0
    return X[~is_new], Y[~is_new][:, :N_OLD_LABELS], X[is_new], Y[is_new]


def test_reasons_are_rows_that_have_the_label_and_features_of_the_row(
    model: LabelSpace, corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    X, Y = corpus
    for row, explanations in enumerate(model.explain(X[:10], k=1, n_reasons=6)):
        (why,) = explanations
        weights = [reason.weight for reason in why.reasons]
        assert weights == sorted(weights, reverse=True)
        assert {reason.kind for reason in why.reasons} == {"example", "feature"}
        for reason in why.reasons:
            if reason.kind == "example":
                assert Y[reason.id, why.label] == 1
            else:
                assert X[row, reason.id] != 0
                assert model.classifiers_.inverted[reason.id, why.label] > 0


def test_all_reasons_of_both_kinds_add_up_to_one(
    model: LabelSpace, corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    (why,) = model.explain(corpus[0][:1], k=1, n_reasons=10_000)[0]
    for kind in ("example", "feature"):
        of_kind = [reason.weight for reason in why.reasons if reason.kind == kind]
        assert sum(of_kind) == pytest.approx(0.5)


def test_a_row_without_features_has_labels_but_no_reasons(model: LabelSpace) -> None:
    nothing = csr_matrix((1, model.n_features_in_), dtype=np.float32)
    assert [why.reasons for why in model.explain(nothing, k=2)[0]] == [[], []]


def test_learning_on_is_the_same_for_the_same_seed_and_after_loading(
    corpus: tuple[csr_matrix, csr_matrix], tmp_path: Path
) -> None:
    X_old, Y_old, X_new, Y_new = halves(corpus)
    one = LabelSpace(random_state=0, n_threads=1).fit(X_old, Y_old)
    one.save(tmp_path / "model")
    other = labelspace.load(tmp_path / "model")
    for model in (one, other):
        model.partial_fit(X_new, Y_new)
    expected, got = one.predict_topk(corpus[0], 5), other.predict_topk(corpus[0], 5)
    assert np.array_equal(got.labels, expected.labels)
    assert np.array_equal(got.scores, expected.scores)


def test_one_row_at_a_time_teaches_a_new_label(corpus: tuple[csr_matrix, csr_matrix]) -> None:
    X_old, Y_old, X_new, Y_new = halves(corpus)
    model = LabelSpace(random_state=0).fit(X_old, Y_old)
    before = model.score(X_old, Y_old)
    for row in range(12):
        model.partial_fit(X_new[row], Y_new[row])
    found = model.predict_topk(X_new[12:], k=3).labels
    assert np.mean((found >= N_OLD_LABELS).any(axis=1)) > 0.6
    assert model.score(X_old, Y_old) > before - 0.03


def test_rows_without_labels_or_features_can_be_learned(
    model: LabelSpace, corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    X, Y = corpus
    expected = model.predict_topk(X, 3)
    model.partial_fit(csr_matrix((2, X.shape[1])), csr_matrix((2, Y.shape[1])))
    model.partial_fit(X[:1], csr_matrix((1, Y.shape[1] + 3)))
    got = model.predict_topk(X, 3)
    assert np.mean(got.labels == expected.labels) > 0.95
    assert model.n_labels_ == Y.shape[1] + 3


def pairs_corpus(n_rows: int, seed: int) -> tuple[csr_matrix, csr_matrix]:
    """Return rows of two words among noise; only both words together tell the label."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(6, size=(2, n_rows))
    X = np.zeros((n_rows, 212), dtype=np.float32)
    X[np.arange(n_rows), first] = 1.0
    X[np.arange(n_rows), 6 + second] = 1.0
    for row in range(n_rows):
        X[row, 12 + rng.choice(200, size=8, replace=False)] = 0.25
    Y = np.zeros((n_rows, 12), dtype=np.float32)
    Y[np.arange(n_rows), (3 * first + 7 * second) % 12] = 1.0
    return csr_matrix(X), csr_matrix(Y)


def without_classifiers(model: LabelSpace) -> LabelSpace:
    muted = copy.deepcopy(model)
    index = muted.classifiers_
    index.inverted.data = np.zeros_like(index.inverted.data)
    index.offsets = np.full_like(index.offsets, -1.0)
    return muted


def without_votes(model: LabelSpace) -> LabelSpace:
    muted = copy.deepcopy(model)
    muted.Y_ = csr_matrix(muted.Y_.shape, dtype=np.int8)
    return muted


def test_votes_find_what_classifiers_cannot() -> None:
    X, Y = pairs_corpus(1500, seed=0)
    X_test, Y_test = pairs_corpus(300, seed=1)
    model = LabelSpace(random_state=0).fit(X, Y)
    assert model.score(X_test, Y_test) > 0.9
    assert without_votes(model).score(X_test, Y_test) < 0.6


def test_classifiers_rank_better_than_votes_alone(learned: LabelSpace, texts) -> None:
    _, test = texts
    score = learned.score(test.X, test.Y)
    assert score > 0.7
    assert without_classifiers(learned).score(test.X, test.Y) < score - 0.05


def test_probabilities_come_true() -> None:
    made = SyntheticCorpus(
        4000, n_features=1500, n_labels=300, n_test=1000, labels_per_row=3, features_per_row=20
    )
    train, test = made.sample(), made.sample(split="test")
    model = LabelSpace(random_state=0).fit(train.X, train.Y)
    assert metrics.calibration_error(test.Y, model.predict_topk(test.X, 5)) < 6.0
    assert model.calibration_.error < 6.0
    assert model.calibration_.n_rows == 1000


def test_rare_labels_come_first_with_propensity(learned: LabelSpace, texts) -> None:
    train, test = texts

    def psp(model: LabelSpace) -> float:
        top = model.predict_topk(test.X, 1)
        counts = {"label_counts": model.label_counts_, "n_examples": model.n_examples_}
        return metrics.evaluate(test.Y, top, ks=(1,), **counts)["PSP@1"]

    other = LabelSpace(random_state=0, propensity=True).fit(train.X, train.Y)
    assert psp(other) > psp(learned) + 1.0


def test_features_that_are_counts_are_weighted_by_idf_unless_told() -> None:
    X, Y = planted_corpus(60)
    counts = X.copy()
    counts.data = np.ceil(counts.data)
    assert LabelSpace(random_state=0).fit(counts, Y).rows_.idf
    assert not LabelSpace(random_state=0).fit(X, Y).rows_.idf
    assert not LabelSpace(random_state=0, idf=False).fit(counts, Y).rows_.idf


def test_several_learners_vote_together() -> None:
    X, Y = planted_corpus(200)
    model = LabelSpace(random_state=0, n_learners=2).fit(X, Y)
    assert len(model.learners_) == 2
    model.partial_fit(X[:3], Y[:3])
    (why,) = model.explain(X[:1], k=1, n_reasons=50)[0]
    ids = [reason.id for reason in why.reasons if reason.kind == "example"]
    assert len(ids) == len(set(ids)), "a row that two learners found is one reason"


def test_rows_without_any_feature_get_the_most_common_label() -> None:
    X, Y = planted_corpus(30)
    no_features = LabelSpace(random_state=0).fit(csr_matrix(X.shape, dtype=np.float32), Y)
    most_common = int(np.argmax(Y.sum(axis=0).A1))
    assert np.all(no_features.predict_topk(X, 1).labels == most_common)
