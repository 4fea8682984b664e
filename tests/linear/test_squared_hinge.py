"""Classifiers with squared hinge loss: the right answer, and the same one every time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from labelspace.linear import squared_hinge
from labelspace.linear.squared_hinge import train_squared_hinge, train_with_held_out


def problem(n_rows: int, n_features: int, n_labels: int, seed: int = 0):
    """Sparse rows of length one whose labels follow from their features, but not quite."""
    rng = np.random.default_rng(seed)
    X = csr_matrix(random_array((n_rows, n_features), density=0.2, rng=rng, dtype=np.float32))
    X = csr_matrix(X.multiply(1.0 / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)), 1e-9)))
    scores = X @ rng.normal(size=(n_features, n_labels)) + 0.2 * rng.normal(size=(n_rows, n_labels))
    cuts = np.quantile(scores, np.linspace(0.5, 0.99, n_labels), axis=0).diagonal()
    return csr_matrix(X, dtype=np.float32), csr_matrix(scores > cuts, dtype=np.float32)


def reference(X: csr_matrix, y: np.ndarray, C: float) -> np.ndarray:
    """Return weights and bias as liblinear finds them, with the constant as a feature."""
    constant = np.hstack([X.toarray(), np.ones((X.shape[0], 1))])
    model = LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-8, max_iter=10_000)
    return model.fit(constant, y).coef_[0]


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("n_rows", [60, 900])
def test_weights_and_biases_are_those_of_liblinear(C: float, n_rows: int) -> None:
    X, Y = problem(n_rows, 30, 7)
    weights, biases, _ = train_squared_hinge(X, Y, C=C, tol=1e-4)
    for label in range(Y.shape[1]):
        expected = reference(X, Y[:, [label]].toarray().ravel(), C)
        found = np.append(weights[[label]].toarray(), biases[label])
        np.testing.assert_allclose(found, expected, atol=1e-3)


def test_gradient_over_all_rows_vanishes_although_training_saw_some_of_them() -> None:
    X, Y = problem(5000, 60, 4)
    weights, biases, _ = train_squared_hinge(X, Y, C=1.0, tol=1e-4)
    signs = 2.0 * Y.toarray() - 1.0
    margins = signs * (X @ weights.T.toarray() + biases)
    pull = -2.0 * signs * np.maximum(0.0, 1.0 - margins)
    gradient = weights.toarray() + (X.T @ pull).T
    # Thousands of rows pull on the bias; each may be wrong by tol.
    assert np.abs(gradient).max() < 0.01
    assert np.abs(biases + pull.sum(axis=0)).max() < 0.05


def test_default_tolerance_ranks_as_the_exact_answer_does() -> None:
    X, Y = problem(3000, 100, 5)
    exact, close = (train_squared_hinge(X, Y, tol=tol) for tol in (1e-4, 0.1))
    scores = [X @ model.weights.T.toarray() + model.biases for model in (exact, close)]
    assert np.abs(scores[0] - scores[1]).max() < 0.1


def test_the_answer_is_the_same_with_any_number_of_threads() -> None:
    X, Y = problem(400, 40, 150)
    one, three = (train_squared_hinge(X, Y, n_threads=n, seed=5) for n in (1, 3))
    np.testing.assert_array_equal(one.weights.toarray(), three.weights.toarray())
    np.testing.assert_array_equal(one.biases, three.biases)


def test_little_memory_means_fewer_labels_at_a_time_and_the_same_answer(monkeypatch) -> None:
    X, Y = problem(500, 40, 70)
    usual = train_squared_hinge(X, Y)
    monkeypatch.setattr(squared_hinge, "BYTES_PER_THREAD", 1)
    frugal = train_squared_hinge(X, Y)
    np.testing.assert_allclose(usual.weights.toarray(), frugal.weights.toarray(), atol=1e-5)


def test_memory_of_a_thread_stays_in_its_share() -> None:
    n_slots = squared_hinge._n_slots(n_features=10**6, n_rows=3_000_000)
    assert squared_hinge._n_slots(n_features=41, n_rows=500) == squared_hinge.MOST_SLOTS
    assert 1 <= n_slots < 12
    assert n_slots * 16 * 3_000_000 <= squared_hinge.BYTES_PER_THREAD


def test_label_that_no_row_has_gets_no_weights_and_says_no() -> None:
    X, Y = problem(100, 20, 3)
    Y = csr_matrix(Y.toarray() * [1, 0, 1], dtype=np.float32)
    weights, biases, _ = train_squared_hinge(X, Y)
    assert weights[[1]].nnz == 0
    assert biases[1] == -1.0


def test_no_label_has_a_row() -> None:
    X, _ = problem(20, 5, 1)
    weights, biases, _ = train_squared_hinge(X, csr_matrix((20, 3), dtype=np.float32))
    assert weights.shape == (3, 5)
    assert weights.nnz == 0
    assert biases.tolist() == [-1.0] * 3


def test_label_that_every_row_has_says_yes() -> None:
    X, _ = problem(300, 20, 1)
    weights, biases, _ = train_squared_hinge(X, csr_matrix(np.ones((300, 1), dtype=np.float32)))
    assert (X @ weights.T.toarray() + biases).min() > 0.8


def test_rows_without_features_teach_the_bias_only() -> None:
    X = csr_matrix((50, 4), dtype=np.float32)
    Y = csr_matrix((np.arange(50) < 10)[:, None], dtype=np.float32)
    weights, biases, _ = train_squared_hinge(X, Y, tol=1e-4)
    assert weights.nnz == 0
    # ½b² + 10 (1−b)² + 40 (1+b)² is least at b = −60/101.
    assert biases[0] == pytest.approx(-60 / 101, abs=1e-3)


def test_small_weights_are_cut_and_biases_are_not() -> None:
    X, Y = problem(300, 50, 6)
    whole = train_squared_hinge(X, Y)
    cut = train_squared_hinge(X, Y, min_weight=0.2)
    dense = whole.weights.toarray()
    np.testing.assert_array_equal(cut.weights.toarray(), np.where(abs(dense) < 0.2, 0, dense))
    np.testing.assert_array_equal(cut.biases, whole.biases)
    assert cut.weights.nnz < whole.weights.nnz


def test_labels_with_the_same_rows_are_one_problem() -> None:
    X, Y = problem(200, 20, 2)
    Y = csr_matrix(Y.toarray()[:, [0, 1, 0, 0]])
    problems, number = squared_hinge._distinct(Y.tocsc())
    assert len(problems) == 2
    assert number[0] == number[2] == number[3] != number[1]
    weights = train_squared_hinge(X, Y).weights.toarray()
    np.testing.assert_array_equal(weights[0], weights[2])


def test_too_few_passes_are_told_once_with_the_number_of_labels() -> None:
    X, Y = problem(300, 30, 4)
    with pytest.warns(ConvergenceWarning, match=r"4 classifiers .* max_iter=2 .* raise") as told:
        train_squared_hinge(X, Y, C=100.0, tol=1e-4, max_iter=2)
    assert len(told) == 1


def test_features_that_no_row_has_cost_nothing() -> None:
    X, Y = problem(200, 20, 3)
    wide = csr_matrix((X.data, X.indices * 50_000, X.indptr), shape=(200, 2**20))
    weights = train_squared_hinge(wide, Y).weights
    assert weights.shape == (3, 2**20)
    narrow = train_squared_hinge(X, Y).weights.toarray()
    np.testing.assert_allclose(
        weights.tocsc()[:, np.arange(20) * 50_000].toarray(), narrow, atol=1e-6
    )


def test_rows_held_out_are_unknown_to_the_second_classifiers() -> None:
    rng = np.random.default_rng(0)
    X = csr_matrix(random_array((300, 40), density=0.2, rng=rng, dtype=np.float32))
    Y = csr_matrix((rng.random((300, 6)) < 0.2) * 1.0)
    held_out = rng.random(300) < 0.3
    every, honest = train_with_held_out(X, Y, held_out, C=0.5, tol=1e-3)
    alone = train_squared_hinge(X[~held_out], csr_matrix(Y[~held_out]), C=0.5, tol=1e-3)
    together = train_squared_hinge(X, Y, C=0.5, tol=1e-3)
    assert abs(honest.weights - alone.weights).max() < 2e-3
    assert abs(every.weights - together.weights).max() < 2e-3
    assert abs(every.weights - honest.weights).max() > 0.1
