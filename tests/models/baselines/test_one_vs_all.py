"""What is particular to OneVsAll; the checks of every estimator are in test_estimators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

import labelspace
from labelspace import metrics
from labelspace.data import read_corpus
from labelspace.models import OneVsAll
from tests.planted import planted_corpus


def test_finds_the_planted_labels() -> None:
    X, Y = planted_corpus(n_examples=800)
    model = OneVsAll(random_state=0).fit(X[:600], Y[:600])
    assert model.score(X[600:], Y[600:]) > 0.99


def test_scores_are_weights_times_unit_rows_plus_intercept() -> None:
    X, Y = planted_corpus()
    model = OneVsAll(random_state=0, min_weight=0.1).fit(X, Y)
    unit = X.toarray() / np.linalg.norm(X.toarray(), axis=1, keepdims=True)
    scores = unit @ model.coef_.toarray().T + model.intercept_
    top = model.predict_topk(X, k=3)
    np.testing.assert_allclose(top.scores, -np.sort(-scores, axis=1)[:, :3], atol=1e-5)
    assert np.abs(model.coef_.data).min() >= 0.1


def test_scale_of_a_row_does_not_matter_unless_asked_for() -> None:
    X, Y = planted_corpus()
    scaled = csr_matrix(X * 7.0)
    model = OneVsAll(random_state=0).fit(X, Y)
    same = model.predict_topk(X), model.predict_topk(scaled)
    np.testing.assert_allclose(same[0].scores, same[1].scores, atol=1e-5)
    plain = OneVsAll(random_state=0, normalize=False).fit(X, Y)
    assert not np.allclose(plain.predict_topk(X).scores, plain.predict_topk(scaled).scores)


def test_reasons_are_the_label_s_own_words_largest_first() -> None:
    X, Y = planted_corpus()
    model = OneVsAll(random_state=0).fit(X, Y)
    (best,) = model.explain(X[:1], k=1, n_reasons=4)[0]
    assert {reason.id // 4 for reason in best.reasons} == {best.label}
    weights = [reason.weight for reason in best.reasons]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_all_reasons_and_the_intercept_add_up_to_the_score() -> None:
    X, Y = planted_corpus()
    model = OneVsAll(random_state=0, min_weight=0.0).fit(X, Y)
    z = X[:1].toarray()[0] / np.linalg.norm(X[:1].toarray())
    (best,) = model.explain(X[:1], k=1, n_reasons=1000)[0]
    weights = model.coef_[[best.label]].toarray()[0]
    assert sum(reason.weight for reason in best.reasons) == pytest.approx(
        np.clip(z * weights, 0, None).sum(), abs=1e-5
    )
    assert best.score == pytest.approx(z @ weights + model.intercept_[best.label], abs=1e-5)


def test_auto_fits_closely_where_labels_follow_from_the_features() -> None:
    X, Y = planted_corpus(n_examples=1500)
    model = OneVsAll(random_state=0).fit(X, Y)
    assert model.C_ == 1.0


def test_auto_does_not_try_on_a_handful_of_rows() -> None:
    X, Y = planted_corpus(n_examples=100)
    assert OneVsAll().fit(X, Y).C_ == 1.0
    assert OneVsAll(C=0.7).fit(X, Y).C_ == 0.7


def test_saved_model_gives_the_same_answer(tmp_path: Path) -> None:
    X, Y = planted_corpus()
    model = OneVsAll(random_state=0, idf=True).fit(X, Y)
    model.save(tmp_path / "model")
    loaded = labelspace.load(tmp_path / "model")
    before, after = model.predict_topk(X), loaded.predict_topk(X)
    np.testing.assert_array_equal(before.labels, after.labels)
    np.testing.assert_array_equal(before.scores, after.scores)


def test_hundred_thousand_labels_on_a_thousand_rows() -> None:
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.random((1000, 300)) * (rng.random((1000, 300)) < 0.1), dtype=np.float32)
    owners = rng.integers(0, 1000, size=100_000)
    Y = csr_matrix((np.ones(100_000), (owners, np.arange(100_000))), shape=(1000, 100_000))
    model = OneVsAll(random_state=0, C=1.0).fit(X, Y)
    best = model.predict_topk(X, k=1).labels[:, 0]
    has_label = np.isin(np.arange(1000), owners)
    assert np.mean(owners[best[has_label]] == np.flatnonzero(has_label)) > 0.95


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:.*rows without labels")
@pytest.mark.parametrize(
    ("corpus", "expected"),
    [("bibtex", (63.38, 39.23, 28.68)), ("delicious", (66.31, 60.02, 55.35))],
)
def test_level_with_binary_relevance_on_real_corpora(
    corpora: Path, corpus: str, expected: tuple[float, float, float]
) -> None:
    train, test = (read_corpus(corpora / corpus / f"{part}.txt.xz") for part in ("train", "test"))
    model = OneVsAll(random_state=0).fit(train.X, train.Y)
    assert model.C_ == 0.3, "people's free tags are noisy"
    found = metrics.evaluate(test.Y, model.predict_topk(test.X, k=5))
    for k, least in zip((1, 3, 5), expected, strict=True):
        assert found[f"P@{k}"] > least - 0.1


@pytest.mark.data
def test_as_good_as_published_on_a_random_split_of_bibtex(corpora: Path) -> None:
    parts = [read_corpus(corpora / "bibtex" / f"{part}.txt.xz") for part in ("train", "test")]
    X, Y = (vstack([getattr(part, name) for part in parts], format="csr") for name in "XY")
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(X.shape[0])
        train, test = order[:4880], order[4880:]
        model = OneVsAll(random_state=0).fit(X[train], Y[train])
        quality = metrics.evaluate(Y[test], model.predict_topk(X[test], k=5))
        found.append([quality[f"P@{k}"] for k in (1, 3, 5)])
    assert (np.mean(found, axis=0) > np.array([62.62, 39.09, 28.79]) - 0.7).all()
