"""LabelSpace beyond what every estimator is checked for: reasons, learning on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import labelspace
from labelspace.models import LabelSpace
from tests.planted import planted_corpus

N_OLD_LABELS = 10


@pytest.fixture(scope="module")
def corpus() -> tuple[csr_matrix, csr_matrix]:
    return planted_corpus()


@pytest.fixture
def model(corpus: tuple[csr_matrix, csr_matrix]) -> LabelSpace:
    return LabelSpace(random_state=0, n_threads=1).fit(*corpus)


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
