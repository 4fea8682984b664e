"""Classifiers that learn from a sample of the negatives: the right answer where it is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from labelspace.linear.sampled_hinge import train_sampled_hinge

ALL = 1_000_000  # negatives to draw: more than there are
EXACT = {"fewest": ALL, "tol": 1e-4, "max_passes": 2000, "more_passes": 2000}


def problem(n_rows: int, n_features: int = 20, n_labels: int = 4, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.4)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    scores = X @ rng.normal(size=(n_features, n_labels)) + 0.3 * rng.normal(size=(n_rows, n_labels))
    Y = scores > np.quantile(scores, np.linspace(0.6, 0.95, n_labels), axis=0).diagonal()
    return csr_matrix(X, dtype=np.float32), csr_matrix(Y, dtype=np.float32)


def nothing_hard(Y: csr_matrix) -> csr_matrix:
    return csr_matrix(Y.shape, dtype=np.float32)


def liblinear(X: csr_matrix, y: np.ndarray, C: float, weights: np.ndarray | None = None):
    """Return weights and bias as liblinear finds them, with the constant as a feature."""
    constant = np.hstack([X.toarray(), np.ones((X.shape[0], 1))])
    model = LinearSVC(C=C, fit_intercept=False, dual=False, tol=1e-8, max_iter=10_000)
    return model.fit(constant, y, sample_weight=weights).coef_[0]


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_with_all_negatives_the_answer_is_that_of_liblinear(C: float) -> None:
    X, Y = problem(150)
    (weights, biases), _ = train_sampled_hinge(X, Y, nothing_hard(Y), C=C, **EXACT)
    for label in range(Y.shape[1]):
        expected = liblinear(X, Y[:, [label]].toarray().ravel(), C)
        found = np.append(weights[[label]].toarray(), biases[label])
        np.testing.assert_allclose(found, expected, atol=2e-3)


def test_honest_classifiers_have_not_seen_the_rows_held_out() -> None:
    X, Y = problem(150)
    held_out = np.arange(150) % 3 == 0
    every, honest = train_sampled_hinge(X, Y, nothing_hard(Y), held_out=held_out, **EXACT)
    for label in range(Y.shape[1]):
        y = Y[:, [label]].toarray().ravel()
        for (weights, biases), rows in ((every, slice(None)), (honest, ~held_out)):
            found = np.append(weights[[label]].toarray(), biases[label])
            np.testing.assert_allclose(found, liblinear(X[rows], y[rows], 1.0), atol=2e-3)


def test_drawn_negatives_stand_for_all() -> None:
    X, Y = problem(3000, n_labels=2)
    exact = liblinear(X, Y[:, [1]].toarray().ravel(), 0.1)
    drawn = {"fewest": 400, "per_positive": 0.0, "tol": 1e-3, "max_passes": 500}
    found = []
    for seed in range(8):
        (weights, biases), _ = train_sampled_hinge(
            X, Y, nothing_hard(Y), labels=np.array([1]), C=0.1, seed=seed, **drawn
        )
        found.append(np.append(weights[[1]].toarray(), biases[1]))
    np.testing.assert_allclose(np.mean(found, axis=0), exact, atol=0.15)


def test_hard_negatives_are_always_learned_from_and_positives_never_as_negatives() -> None:
    # Row 7 alone of all rows without the label looks like those that have it.
    X = np.zeros((5000, 3), dtype=np.float32)
    X[:, 0] = 1.0
    X[:7] = [0.0, 1.0, 0.0]
    X[7] = [0.0, 0.8, 0.6]
    Y = csr_matrix((np.arange(5000) < 7).astype(np.float32)[:, np.newaxis])
    hard = csr_matrix((np.arange(5000) < 8).astype(np.float32)[:, np.newaxis])
    options = {"fewest": 5, "per_positive": 0.0, "C": 10.0, "tol": 1e-3, "max_passes": 1000}
    (weights, biases), _ = train_sampled_hinge(csr_matrix(X), Y, hard, **options)
    scores = X[[0, 7, 8]] @ weights.toarray()[0] + biases[0]
    assert scores[0] > 0.8
    assert scores[1] < -0.5
    (weights, biases), _ = train_sampled_hinge(csr_matrix(X), Y, nothing_hard(Y), **options)
    assert X[7] @ weights.toarray()[0] + biases[0] > 0.0, "the row was drawn: choose another seed"


def test_labels_without_rows_or_not_asked_for_have_no_weights() -> None:
    X, Y = problem(100)
    Y = csr_matrix(Y.toarray() * [1, 1, 0, 1])
    (weights, biases), _ = train_sampled_hinge(X, Y, nothing_hard(Y), labels=np.array([3, 2, 0]))
    counts = np.diff(weights.indptr)
    assert counts[1] == counts[2] == 0
    assert counts[0] > 0
    assert counts[3] > 0
    assert biases[1] == biases[2] == -1.0


def test_threads_and_other_labels_do_not_change_an_answer() -> None:
    X, Y = problem(400, n_labels=9)
    hard = csr_matrix(problem(400, n_labels=9, seed=1)[1])
    (one, biases), _ = train_sampled_hinge(X, Y, hard, fewest=20, n_threads=1, seed=5)
    (other, _), _ = train_sampled_hinge(X, Y, hard, fewest=20, n_threads=3, seed=5)
    assert (one != other).nnz == 0
    (alone, bias), _ = train_sampled_hinge(X, Y, hard, fewest=20, labels=np.array([4]), seed=5)
    assert (alone[[4]] != one[[4]]).nnz == 0
    assert bias[4] == biases[4]


def test_small_weights_are_cut() -> None:
    X, Y = problem(200)
    (all_weights, _), _ = train_sampled_hinge(X, Y, nothing_hard(Y))
    (cut, _), _ = train_sampled_hinge(X, Y, nothing_hard(Y), min_weight=0.3)
    assert 0 < cut.nnz < all_weights.nnz
    assert np.abs(cut.data).min() >= 0.3
