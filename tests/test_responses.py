"""``decision_function`` and ``predict_proba``, as scikit-learn uses them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import average_precision_score, get_scorer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from labelspace import Tagger, responses
from labelspace.models import HierarchicalXC, LabelSpace, NearestNeighbors, OneVsAll
from tests.planted import planted_corpus

X, Y = planted_corpus(120, 6)
ONE = np.array([row.indices[0] for row in Y])


@pytest.mark.parametrize("kind", [LabelSpace, HierarchicalXC])
def test_probabilities_are_those_of_the_ranking(kind: type) -> None:
    model = kind(random_state=0).fit(X, Y)
    probabilities = model.predict_proba(X)
    assert probabilities.shape == Y.shape
    assert np.all((probabilities >= 0) & (probabilities <= 1))
    top = model.predict_topk(X, 6)
    rows, places = np.nonzero(top.labels >= 0)
    np.testing.assert_allclose(
        probabilities[rows, top.labels[rows, places]], top.scores[rows, places], rtol=1e-6
    )
    np.testing.assert_array_equal(model.decision_function(X), probabilities)


def test_only_methods_with_probabilities_have_them() -> None:
    assert not hasattr(OneVsAll(), "predict_proba")
    assert not hasattr(LabelSpace(propensity=True), "predict_proba")
    assert hasattr(LabelSpace(), "predict_proba")


def test_classes_have_probabilities_that_add_up() -> None:
    model = LabelSpace(random_state=0).fit(X, ONE)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))


def test_two_classes_have_one_decision() -> None:
    model = OneVsAll(random_state=0).fit(X, np.where(ONE > 2, "large", "small"))
    decisions = model.decision_function(X)
    assert decisions.shape == (120,)
    np.testing.assert_array_equal(model.classes_[(decisions > 0).astype(int)], model.predict(X))


def test_many_labels_have_a_sparse_matrix_of_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "FEW_LABELS", 5)
    monkeypatch.setattr(responses, "MOST_RANKED", 2)
    model = LabelSpace(random_state=0).fit(X, Y)
    found = model.predict_proba(X)
    assert isinstance(found, csr_matrix)
    assert found.shape == Y.shape
    assert np.diff(found.indptr).max() == 2
    best = model.predict_topk(X, 1)
    np.testing.assert_allclose(found[np.arange(120), best.labels[:, 0]].A1, best.scores[:, 0])


@pytest.mark.parametrize("name", ["average_precision", "roc_auc"])
def test_scorers_of_scikit_learn_rank_by_it(name: str) -> None:
    for model in (LabelSpace(random_state=0), OneVsAll(random_state=0)):
        scores = cross_val_score(
            make_pipeline(MaxAbsScaler(), model), X, Y.toarray(), scoring=name, cv=2
        )
        assert scores.min() > 0.9
    two = Y[:, :2].toarray()
    fitted = NearestNeighbors().fit(X, two)
    assert get_scorer("average_precision")(fitted, X, two) == pytest.approx(
        average_precision_score(two, fitted.decision_function(X))
    )


def test_a_tagger_answers_for_texts() -> None:
    texts = ["a red ball", "a green ball", "a red cube", "a green cube"] * 3
    labels = [["red", "round"], ["green", "round"], ["red"], ["green"]] * 3
    tagger = Tagger().fit(texts, labels)
    probabilities = tagger.predict_proba(["a red cube"])
    best = tagger.predict_topk(["a red cube"], 1)
    assert probabilities.shape == (1, 3)
    assert probabilities[0, best.labels[0, 0]] == pytest.approx(best.scores[0, 0])
    other = Tagger("knn").fit(texts, labels)
    assert other.decision_function(["a red cube"]).shape == (1, 3)
    assert not hasattr(other, "predict_proba")
    assert not hasattr(Tagger(), "predict_proba")


def test_classes_can_be_calibrated() -> None:
    calibrated = CalibratedClassifierCV(OneVsAll(random_state=0), cv=2).fit(X, ONE)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0, rtol=1e-6)
    assert np.mean(calibrated.predict(X) == ONE) > 0.5
