"""The join of votes and margins: logistic regression as others do it, and what it teaches."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from labelspace.linear.logistic_regression import logistic_regression
from labelspace.models.labelspace.candidates import Candidates
from labelspace.models.labelspace.stacking import (
    Stacker,
    learn_stacker,
    unseen_probabilities,
)


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


def candidates(n_rows: int, seed: int) -> tuple[Candidates, csr_matrix, np.ndarray]:
    """Return five candidates a row, of which margins tell the truth and votes tell nothing."""
    rng = np.random.default_rng(seed)
    labels = np.tile(np.arange(5), (n_rows, 1))
    margins = rng.uniform(-2, 2, size=(n_rows, 5)).astype(np.float32)
    shares = rng.uniform(0, 1, size=(n_rows, 5)).astype(np.float32)
    true = expit(4.0 * margins - 1.0)
    Y = csr_matrix((rng.random((n_rows, 5)) < true).astype(np.float32))
    return Candidates(labels, margins, shares, np.zeros_like(shares)), Y, true


COUNTS = np.full(5, 50)


def test_it_learns_whom_to_trust() -> None:
    evidence, Y, _ = candidates(3000, seed=0)
    unseen, _, true = candidates(500, seed=1)
    usual = np.abs(Stacker().probabilities(unseen, COUNTS) - true).mean()
    learned = np.abs(learn_stacker(evidence, Y, COUNTS).probabilities(unseen, COUNTS) - true).mean()
    assert learned < 0.03 < usual


def test_no_row_judges_itself() -> None:
    evidence, Y, true = candidates(40, seed=0)
    before = unseen_probabilities(evidence, Y, COUNTS)
    assert before.shape == true.shape
    turned = Y.toarray()
    turned[0] = 1.0 - turned[0]
    after = unseen_probabilities(evidence, csr_matrix(turned), COUNTS)
    assert np.array_equal(after[::2], before[::2]), "what a half teaches reached the half itself"
    assert not np.array_equal(after[1::2], before[1::2])


@pytest.mark.parametrize("n_rows", [0, 1])
def test_too_few_rows_give_usual_weights_or_nearly(n_rows: int) -> None:
    evidence, Y, _ = candidates(n_rows, seed=0)
    probabilities = unseen_probabilities(evidence, Y, COUNTS)
    assert probabilities.shape == (n_rows, 5)
    assert np.all((probabilities >= 0) & (probabilities <= 1))
