"""Logistic regression that is drawn towards a start, against scikit-learn's and its own loss."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from labelspace.linear.logistic_regression import logistic_regression


def sample(n: int = 500, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = np.column_stack((np.ones(n), rng.normal(size=(n, 3))))
    return A, rng.random(n) < expit(A @ [-1.0, 2.0, -0.5, 0.0])


def test_without_a_pull_it_is_plain_logistic_regression() -> None:
    A, y = sample()
    expected = LogisticRegression(C=1e10, fit_intercept=False, tol=1e-10).fit(A, y).coef_[0]
    np.testing.assert_allclose(logistic_regression(A, y, np.zeros(4), 0.0), expected, atol=1e-4)


def test_at_the_answer_no_step_makes_the_loss_smaller() -> None:
    A, y = sample(60)
    start = np.array([0.0, 1.0, 1.0, 1.0])
    pull = 20.0 * (A.var(axis=0) + 1e-3) * 0.25

    def loss(w: np.ndarray) -> float:
        missed = np.logaddexp(0.0, np.where(y, -1.0, 1.0) * (A @ w)).sum()
        return missed + 0.5 * (pull * (w - start) ** 2).sum()

    w = logistic_regression(A, y, start, 20.0)
    for at in range(4):
        step = 1e-4 * np.eye(4)[at]
        assert abs(loss(w + step) - loss(w - step)) / 2e-4 < 1e-2


def test_a_start_that_newton_would_leave_for_infinity_is_no_trouble() -> None:
    A, y = sample()
    far = np.array([40.0, -60.0, 30.0, 10.0])
    np.testing.assert_allclose(
        logistic_regression(A, y, far, 1e-9),
        logistic_regression(A, y, np.zeros(4), 1e-9),
        atol=1e-3,
    )


def test_many_pseudo_rows_keep_the_start() -> None:
    A, y = sample()
    start = np.array([0.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose(logistic_regression(A, y, start, 1e9)[1:], start[1:], atol=1e-3)


def test_weights_are_the_same_on_any_number_of_threads() -> None:
    A, y = sample(20_000)
    A = np.column_stack([A] * 6)
    learned = []
    for n_threads in (1, 2, 3):
        with threadpool_limits(n_threads):
            learned.append(logistic_regression(A, y, np.zeros(24), 20.0).tobytes())
    assert len(set(learned)) == 1
