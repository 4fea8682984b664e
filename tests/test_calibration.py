"""Thresholds named by their goal, and how far probabilities are off."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import metrics
from labelspace.calibration import Calibration, checked_threshold
from labelspace.errors import UsageError
from labelspace.models import LabelSpace, OneVsAll
from labelspace.topk import TopK, topk_dense
from tests.planted import planted_corpus


def drawn(n_rows: int = 2000, n_labels: int = 6, seed: int = 0) -> tuple[TopK, csr_matrix]:
    """Return probabilities of all labels, and labels that were drawn by them."""
    rng = np.random.default_rng(seed)
    probabilities = rng.random((n_rows, n_labels)) ** 2
    Y = csr_matrix((rng.random((n_rows, n_labels)) < probabilities).astype(np.float32))
    return topk_dense(probabilities, n_labels), Y


def at(top: TopK, Y: csr_matrix, threshold: float) -> tuple[float, float, float]:
    """Return precision, recall and F1 of a threshold, counted afresh."""
    given = top.to_csr(Y.shape[1], threshold=threshold)
    right = given.multiply(Y).nnz
    precision, recall = right / max(given.nnz, 1), right / Y.nnz
    return precision, recall, metrics.f1(Y, given)["micro-F1"]


def test_true_probabilities_have_hardly_any_error_and_bent_ones_have_some() -> None:
    top, Y = drawn()
    bent = TopK(top.labels, np.sqrt(top.scores))
    assert metrics.calibration_error(Y, top) < 2.0
    # √p − p is 1/6 in the mean over p = u², u uniform.
    assert metrics.calibration_error(Y, bent) == pytest.approx(100 / 6, abs=2.0)


def test_calibration_error_of_certain_labels() -> None:
    sure = TopK(np.array([[0], [1]]), np.ones((2, 1), dtype=np.float32))
    assert metrics.calibration_error(csr_matrix([[1, 0], [0, 1]]), sure) == 0.0
    assert metrics.calibration_error(csr_matrix([[0, 1], [1, 0]]), sure) == 100.0
    assert metrics.calibration_error(csr_matrix((2, 2)), TopK.empty(2, 3)) == 0.0


def test_operating_points_are_what_counting_says() -> None:
    top, Y = drawn()
    measured = Calibration(top, top, Y)
    assert np.all(np.diff(measured.thresholds) < 0)
    for point in range(0, len(measured.thresholds), 20):
        precision, recall, _ = at(top, Y, measured.thresholds[point])
        assert measured.precisions[point] == pytest.approx(precision)
        assert measured.recalls[point] == pytest.approx(recall)


def test_f1_is_the_best_of_all_thresholds() -> None:
    top, Y = drawn()
    chosen = at(top, Y, Calibration(top, top, Y).threshold_for("f1"))[2]
    assert chosen >= max(at(top, Y, one)[2] for one in np.linspace(0, 1, 101)) - 0.3


def test_wanted_precision_is_reached_with_as_many_labels_as_can_be() -> None:
    top, Y = drawn()
    measured = Calibration(top, top, Y)
    strict = measured.threshold_for("precision=0.9")
    loose = measured.threshold_for("precision=0.6")
    assert loose < strict
    assert at(top, Y, strict)[0] >= 0.9
    assert at(top, Y, loose)[0] >= 0.6
    assert at(top, Y, loose - 0.1)[0] < 0.6
    # New rows of the same kind have it too.
    assert at(*drawn(seed=1), strict)[0] == pytest.approx(0.9, abs=0.03)


def test_wanted_recall_is_reached_with_as_few_labels_as_can_be() -> None:
    top, Y = drawn()
    measured = Calibration(top, top, Y)
    most, some = (measured.threshold_for(goal) for goal in ("recall=0.8", "recall=0.5"))
    assert most < some
    assert at(top, Y, most)[1] >= 0.8
    assert at(top, Y, some)[1] >= 0.5
    assert at(top, Y, some + 0.05)[1] < 0.5
    assert at(*drawn(seed=1), most)[1] == pytest.approx(0.8, abs=0.03)


def test_labels_of_equal_score_are_given_together() -> None:
    scores = np.array([[0.9, 0.5, 0.5, 0.5]] * 5, dtype=np.float32)
    Y = csr_matrix([[1, 1, 0, 0]] * 5)
    measured = Calibration(topk_dense(scores, 4), topk_dense(scores, 4), Y)
    assert set(measured.thresholds.tolist()) <= {np.float32(0.9), np.float32(0.5)}


def test_what_cannot_be_reached_is_said() -> None:
    top, Y = drawn()
    with pytest.raises(UsageError, match="the highest was"):
        Calibration(top, top, csr_matrix(Y.shape)).threshold_for("precision=0.5")
    nothing = TopK.empty(0, 3)
    with pytest.raises(UsageError, match="there were none"):
        Calibration(nothing, nothing, csr_matrix((0, 6))).threshold_for("f1")


@pytest.mark.parametrize("wrong", ["F1", "best", "precision", "precision=x", "recall=", ""])
def test_a_threshold_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError, match=r"precision=0\.9"):
        checked_threshold(wrong)


def test_numbers_may_be_text() -> None:
    assert checked_threshold("0.5") == 0.5
    assert checked_threshold("-1e-3") == -0.001
    assert checked_threshold(0.5) == 0.5
    assert checked_threshold(None) is None


def test_estimators_predict_by_goal() -> None:
    X, Y = planted_corpus(600)
    X_test, Y_test = planted_corpus(200, seed=1)
    model = LabelSpace(random_state=0, threshold="f1").fit(X, Y)
    by_goal = model.predict(X_test)
    assert metrics.f1(Y_test, by_goal)["micro-F1"] > 95.0
    _, least = model.limits()
    assert least is not None
    top = model.predict_topk(X_test, 12)
    assert (by_goal != top.to_csr(12, threshold=least)).nnz == 0
    assert model.predict(X_test, k=1).sum(axis=1).max() == 1
    assert model.predict(X_test, k=2, threshold=0.0).sum(axis=1).max() == 2
    assert model.predict(X_test, threshold="precision=0.5").nnz >= by_goal.nnz


def test_scores_that_rare_labels_raise_have_thresholds_too() -> None:
    X, Y = planted_corpus(600)
    model = LabelSpace(random_state=0, propensity=True).fit(X, Y)
    assert metrics.f1(Y, model.predict(X, threshold="f1"))["micro-F1"] > 90.0


def test_a_method_that_does_not_measure_its_scores_says_so_before_it_learns() -> None:
    X, Y = planted_corpus(50)
    with pytest.raises(UsageError, match="OneVsAll"):
        OneVsAll(threshold="f1").fit(X, Y)
    with pytest.raises(UsageError, match="OneVsAll"):
        OneVsAll().fit(X, Y).predict(X, threshold="precision=0.9")
    with pytest.raises(UsageError, match="give a number"):
        LabelSpace(threshold="best").fit(X, Y)
