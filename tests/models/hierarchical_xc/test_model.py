"""What is special about HierarchicalXC."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import labelspace
from labelspace import metrics
from labelspace.errors import UsageError
from labelspace.models import HierarchicalXC
from labelspace.models.hierarchical_xc import model as model_file
from labelspace.models.hierarchical_xc.platt import Platt
from labelspace.topk import NO_LABEL
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def corpus():
    X, Y = planted_corpus(600)
    return X[:400], Y[:400], X[400:], Y[400:]


def chance_corpus(n_rows: int) -> tuple[csr_matrix, csr_matrix]:
    """Return rows whose features make labels likely, not certain."""
    rng = np.random.default_rng(0)
    X = csr_matrix((rng.random((n_rows, 40)) < 0.15).astype(np.float32))
    chance = 0.05 + 0.75 * X.toarray()[:, :30]
    return X, csr_matrix((rng.random(chance.shape) < chance).astype(np.float32))


def precision(model, X, Y) -> float:
    return metrics.evaluate(csr_matrix(Y), model.predict_topk(X, 3), ks=(3,))["P@3"]


@pytest.mark.parametrize("likeness", ["iou", "cooccurrence"])
@pytest.mark.parametrize("balanced", [True, False])
def test_it_learns_what_rows_out_of_order_cannot_teach(corpus, likeness, balanced):
    X, Y, X_test, Y_test = corpus
    model = HierarchicalXC(likeness=likeness, balanced=balanced, random_state=0)
    learned = precision(model.fit(X, Y), X_test, Y_test)
    mixed_up = precision(
        model.fit(X, Y[np.random.default_rng(0).permutation(len(Y.indptr) - 1)]), X_test, Y_test
    )
    attainable = 100 * np.minimum(np.diff(csr_matrix(Y_test).indptr), 3).mean() / 3
    assert learned > 0.9 * attainable
    assert mixed_up < 0.6 * attainable


@pytest.mark.parametrize("projection", ["svd", "random"])
def test_a_projection_loses_some_but_learns(corpus, projection):
    X, Y, X_test, Y_test = corpus
    model = HierarchicalXC(projection=projection, dim=24, random_state=0).fit(X, Y)
    assert model.encoder_.dim <= 24
    assert model.score(X_test, Y_test) > 0.7


def test_an_auto_encoder_may_code_the_rows(corpus, tmp_path):
    pytest.importorskip("torch")
    X, Y, X_test, Y_test = corpus
    model = HierarchicalXC(projection="autoencoder", dim=24, random_state=0).fit(X, Y)
    assert model.score(X_test, Y_test) > 0.7
    model.save(tmp_path / "model")
    again = labelspace.load(tmp_path / "model").predict_topk(X_test, 3)
    np.testing.assert_array_equal(again.labels, model.predict_topk(X_test, 3).labels)


@pytest.mark.parametrize("projection", ["svd", "autoencoder"])
def test_codes_keep_their_length_if_rows_do(corpus, projection):
    if projection == "autoencoder":
        pytest.importorskip("torch")
    X, Y, X_test, _ = corpus
    for normalize in (True, False):
        told = {"normalize": normalize}
        model = HierarchicalXC(projection=projection, dim=8, settings=told, random_state=0)
        seen = model.fit(X[:50], Y[:50])._encode(X_test).toarray()
        lengths = np.linalg.norm(seen, axis=1)
        assert (np.ptp(lengths) < 1e-5) == normalize


def test_an_auto_encoder_does_not_look_at_labels(corpus):
    pytest.importorskip("torch")
    X, Y, X_test, _ = corpus
    one, other = (
        HierarchicalXC(projection="autoencoder", dim=8, random_state=0).fit(X[:50], labels)
        for labels in (Y[:50], Y[50:100])
    )
    np.testing.assert_array_equal(one.encoder_.encode(X_test), other.encoder_.encode(X_test))


def test_nodes_that_decide_find_some_labels_for_some_rows(corpus):
    X, Y, X_test, _ = corpus
    weighed, decided = (
        HierarchicalXC(settings={"decide": decide}, random_state=0).fit(X, Y)
        for decide in (False, True)
    )
    assert not np.any(weighed.predict_topk(X_test, 12).labels == NO_LABEL)
    found = decided.predict_topk(X_test, 12)
    n_found = np.sum(found.labels != NO_LABEL, axis=1)
    assert np.unique(n_found).size > 2
    assert n_found.max() < 12
    # Nothing speaks for any label of a row without features.
    nothing = csr_matrix((1, X.shape[1]), dtype=np.float32)
    assert np.all(decided.predict_topk(nothing, 12).labels == NO_LABEL)
    assert decided.count_visited(X_test, 12).mean() < weighed.count_visited(X_test, 12).mean()


def test_scores_are_probabilities_that_can_be_trusted(corpus):
    X, Y, X_test, Y_test = corpus
    top = HierarchicalXC(random_state=0).fit(X, Y).predict_topk(X_test, 12)
    assert np.all((top.scores > 0) & (top.scores <= 1))
    right = csr_matrix(Y_test).toarray()[np.arange(len(top))[:, np.newaxis], top.labels]
    assert top.scores.mean() == pytest.approx(right.mean(), abs=0.08)


def test_visits_are_counted(corpus):
    X, Y, X_test, _ = corpus
    model = HierarchicalXC(random_state=0).fit(X, Y)
    for_one, for_all = model.count_visited(X_test, k=1), model.count_visited(X_test, k=12)
    assert for_one.mean() < 12
    assert np.all(for_all == model.tree_.n_nodes - 1)


def test_words_of_a_label_speak_for_it(corpus):
    X, Y, X_test, _ = corpus
    model = HierarchicalXC(random_state=0).fit(X, Y)
    for row in model.explain(X_test[:20], k=1, n_reasons=1):
        assert row[0].reasons[0].id // 4 == row[0].label
    with pytest.raises(UsageError, match="projection='none'"):
        HierarchicalXC(projection="svd", dim=8, random_state=0).fit(X, Y).explain(X_test[:1])


@pytest.mark.parametrize(
    ("n_rows", "C"), [(400, 24.0), (600, 3.0)], ids=["too few to tell", "enough"]
)
def test_labels_that_come_by_chance_want_a_small_C(n_rows, C):
    X, Y = chance_corpus(n_rows)
    assert HierarchicalXC(random_state=0, n_threads=1).fit(X, Y).C_ == C


def test_one_label():
    model = HierarchicalXC().fit([[1.0], [2.0]], np.ones((2, 1)))
    assert model.predict_topk([[1.0]], 1).labels.tolist() == [[0]]


def test_ten_rows():
    X = np.eye(10)
    Y = np.eye(10) + np.eye(10, k=1)
    assert HierarchicalXC(random_state=0).fit(X, Y).score(X, Y) == 1.0


def test_few_of_many_labels_are_looked_at():
    n_labels, n_rows = 30_000, 6_000
    random = np.random.default_rng(0)
    first = random.integers(0, n_labels, n_rows)
    labels = np.sort((first[:, np.newaxis] + np.arange(3)) % n_labels, axis=1)
    Y = csr_matrix(
        (np.ones(labels.size, np.float32), labels.ravel(), np.arange(0, labels.size + 1, 3)),
        shape=(n_rows, n_labels),
    )
    # A row has a feature for each thousand, hundred and so on of its first label.
    features = first[:, np.newaxis] // 10 ** np.arange(5) % 10 + 10 * np.arange(5)
    X = csr_matrix(
        (np.ones(features.size, np.float32), features.ravel(), np.arange(0, features.size + 1, 5)),
        shape=(n_rows, 50),
    )
    model = HierarchicalXC(C=16.0, max_iter=5, random_state=0).fit(X, Y)
    assert model.tree_.depth < 64
    assert model.count_visited(X[:100], k=5).mean() < 0.05 * model.tree_.n_nodes


@pytest.mark.parametrize(("n_labels", "n_levels"), [(50, 7), (25_000, 3)])
def test_leaves_are_wide_where_labels_are_many(n_labels, n_levels):
    rng = np.random.default_rng(0)
    X = csr_matrix(np.eye(50, dtype=np.float32))
    labels = np.sort(rng.choice(n_labels, size=50, replace=False))
    Y = csr_matrix((np.ones(50), (np.arange(50), labels)), (50, n_labels))
    model = HierarchicalXC(C=24.0, random_state=0, n_threads=1).fit(X, Y)
    assert model.tree_.depth <= n_levels
    assert model.tree_.n_children.max() == (2 if n_labels == 50 else 32)


def test_probabilities_are_set_right_by_rows_held_out():
    """Labels that are there by chance, and too few rows: nodes alone say too little."""
    X, Y = chance_corpus(2400)
    model = HierarchicalXC(C=0.05, random_state=0, n_threads=1).fit(X[:1200], Y[:1200])
    top = model.predict_topk(X[1200:], k=5)
    told = metrics.calibration_error(Y[1200:], top)
    model.platt_ = Platt()
    assert np.array_equal(model.predict_topk(X[1200:], k=5).labels, top.labels)
    assert told < 0.6 * metrics.calibration_error(Y[1200:], model.predict_topk(X[1200:], k=5))


def test_a_larger_corpus_goes_a_share_of_the_way_to_what_was_learned(monkeypatch):
    # a = 1 + s(a₀ − 1), b = s·b₀, s = min(1, 5,000 / n), here with 150 in place of the 5,000
    assert model_file.N_ROWS == 5_000
    monkeypatch.setattr(model_file, "N_ROWS", 150)
    monkeypatch.setattr(model_file, "learn_platt", lambda top, Y: Platt(slope=3.0, shift=-0.8))
    X, Y = chance_corpus(600)
    for n_rows, a, b in ((100, 3.0, -0.8), (600, 1.5, -0.2)):
        platt = HierarchicalXC(C=3.0, random_state=0).fit(X[:n_rows], Y[:n_rows]).platt_
        assert (platt.slope, platt.shift) == pytest.approx((a, b))


def test_the_auto_encoder_alone_needs_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    HierarchicalXC()._validate_params()
    with pytest.raises(UsageError, match=r"labelspace\[deep\]"):
        HierarchicalXC(projection="autoencoder")._validate_params()
