"""Classifiers of all labels together: steps are projections, and the answer is the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack

from labelspace.models.sparse_margins._active_labels_kernels import balanced
from labelspace.models.sparse_margins.active_labels import train_together
from tests.planted import planted_corpus

X, Y = planted_corpus(80, n_labels=8)


@pytest.mark.parametrize("shared", [False, True])
def test_a_step_ends_at_the_nearest_point_that_is_allowed(shared: bool) -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        own, others = random.normal(0.5, 1.0, size=3), random.normal(0.3, 1.0, size=4)
        wanted = np.concatenate((own, others))
        rules = [{"type": "eq", "fun": lambda both: both[:3].sum() - both[3:].sum()}]
        if shared:
            rules.append({"type": "ineq", "fun": lambda both: 0.8 - both[:3].sum()})
        nearest = minimize(
            lambda both, wanted=wanted: np.square(both - wanted).sum(),
            np.full(7, 0.1),
            bounds=[(0, 0.8)] * 3 + [(0, None)] * 4,
            constraints=rules,
            options={"ftol": 1e-12},
        )
        balanced(own, others, 0.8, shared)
        assert np.allclose(np.concatenate((own, others)), nearest.x, atol=1e-4)


def objective(loss: str, W: np.ndarray, C: float, shrink: float) -> float:
    """The primal; the constant comes last, and is not shrunk."""
    scores = np.asarray(hstack([X, csr_matrix(np.ones((X.shape[0], 1)))]) @ W.T)
    mine = Y.toarray() > 0
    hardest = np.where(mine, -np.inf, scores).max(axis=1, keepdims=True)
    missing = np.where(mine, np.maximum(0, 1 + hardest - scores), 0)
    per_row = missing.sum(axis=1) if loss == "each" else missing.max(axis=1)
    return 0.5 * np.square(W).sum() + shrink * np.abs(W[:, :-1]).sum() + C * per_row.sum()


@pytest.mark.parametrize("loss", ["each", "worst"])
def test_no_way_leads_down_from_the_answer(loss: str) -> None:
    exact = {"C": 0.5, "shrink": 0.1, "tol": 1e-6, "max_searches": 200, "max_passes": 10}
    weights, biases, _ = train_together(X, Y, loss=loss, **exact)
    found = np.column_stack((weights.toarray(), biases))
    reached = objective(loss, found, 0.5, 0.1)
    assert reached < objective(loss, np.zeros_like(found), 0.5, 0.1)
    random = np.random.default_rng(0)
    for scale in (0.3, 0.03):
        for _ in range(50):
            way = random.normal(size=found.shape) * (random.random(found.shape) < 0.1)
            assert objective(loss, found + scale * way, 0.5, 0.1) >= reached - 1e-3
    for factor in (0.97, 1.03):
        assert objective(loss, factor * found, 0.5, 0.1) >= reached - 1e-3


def test_labels_that_join_one_by_one_end_where_all_at_once_do() -> None:
    exact = {"C": 0.5, "shrink": 0.1, "tol": 1e-6, "max_searches": 200, "max_passes": 10}
    few = train_together(X, Y, n_joining=1, **exact)
    many = train_together(X, Y, n_joining=8, **exact)
    scores = [X @ part.weights.T.toarray() + part.biases for part in (few, many)]
    assert np.allclose(*scores, atol=0.02)


def test_a_label_without_rows_stands_below_all_others() -> None:
    Y_more = csr_matrix(hstack([Y, csr_matrix((Y.shape[0], 1))]))
    weights, biases, _ = train_together(X, Y_more, C=1.0)
    scores = X @ weights.T.toarray() + biases
    assert weights[8].nnz == 0
    assert np.all(scores[:, 8] < scores[:, :8].max(axis=1))


def test_rows_without_labels_or_with_all_of_them_teach_nothing() -> None:
    Y_odd = csr_matrix(np.array([[0.0] * 8, [1.0] * 8], dtype=np.float32))
    weights, biases, _ = train_together(X[:2], Y_odd)
    assert weights.nnz == 0
    assert np.all(biases == 0)
