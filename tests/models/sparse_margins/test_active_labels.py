"""Classifiers of all labels together: steps are projections, and the answer is the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack

from labelspace.models.sparse_margins._active_labels_kernels import join_best
from labelspace.models.sparse_margins._row_margins_kernels import balanced, separated
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


def test_a_step_to_a_threshold_ends_at_the_minimum_of_the_dual() -> None:
    random = np.random.default_rng(0)
    least = 0.6
    met = set()
    for _ in range(30):
        own, others = random.normal(0.2, 1.0, size=3), random.normal(0.6, 1.0, size=4)
        wanted = np.concatenate((own, others))
        # A threshold of at least ``least``: own α may have the larger sum, at that price.
        nearest = minimize(
            lambda both, wanted=wanted: (
                0.5 * np.square(both - wanted).sum() - least * (both[:3].sum() - both[3:].sum())
            ),
            np.full(7, 0.1),
            bounds=[(0, None)] * 7,
            constraints=[{"type": "ineq", "fun": lambda both: both[:3].sum() - both[3:].sum()}],
            options={"ftol": 1e-12, "maxiter": 500},
        )
        level = separated(own, others, least)
        met.add(level > least)
        assert np.allclose(np.concatenate((own, others)), nearest.x, atol=1e-3)
    assert met == {False, True}


def best_thresholds(scores: np.ndarray, mine: np.ndarray) -> np.ndarray:
    """The t ≥ 1 of each row at which its loss is least, by bisection of the slope."""
    low, high = np.ones((len(scores), 1)), np.full((len(scores), 1), 50.0)
    for _ in range(60):
        t = 0.5 * (low + high)
        own = np.where(mine, np.maximum(0, 1 + t - scores), 0).sum(axis=1, keepdims=True)
        others = np.where(mine, 0, np.maximum(0, 1 + scores - t)).sum(axis=1, keepdims=True)
        low, high = np.where(own < others, t, low), np.where(own < others, high, t)
    return low


def objective(loss: str, W: np.ndarray, C: float, shrink: float) -> float:
    """The primal; the constant comes last, and is not shrunk."""
    scores = np.asarray(hstack([X, csr_matrix(np.ones((X.shape[0], 1)))]) @ W.T)
    mine = Y.toarray() > 0
    if loss == "threshold":
        t = best_thresholds(scores, mine)
        missing = np.where(mine, 1 + t - scores, 1 + scores - t)
        per_row = np.square(np.maximum(0, missing)).sum(axis=1)
    else:
        hardest = np.where(mine, -np.inf, scores).max(axis=1, keepdims=True)
        missing = np.where(mine, np.maximum(0, 1 + hardest - scores), 0)
        per_row = missing.sum(axis=1) if loss == "each" else missing.max(axis=1)
    return 0.5 * np.square(W).sum() + shrink * np.abs(W[:, :-1]).sum() + C * per_row.sum()


EXACT = {"C": 0.5, "shrink": 0.1, "tol": 1e-6, "max_searches": 200, "max_passes": 10}


@pytest.mark.parametrize("loss", ["threshold", "each", "worst"])
def test_no_way_leads_down_from_the_answer(loss: str) -> None:
    weights, biases, _ = train_together(X, Y, loss=loss, **EXACT)
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


def proximal_descent(allowed: np.ndarray, C: float, shrink: float) -> np.ndarray:
    """The answer with a threshold, by proximal steps on all weights that are allowed."""
    rows = np.asarray(hstack([X, csr_matrix(np.ones((X.shape[0], 1)))]).todense())
    mine = Y.toarray() > 0
    step = 1.0 / (1.0 + 2.0 * C * np.linalg.norm(rows, 2) ** 2)
    W = np.zeros(allowed.shape)
    ahead, momentum = W, 1.0
    for _ in range(3000):
        scores = rows @ ahead.T
        t = best_thresholds(scores, mine)
        miss = np.where(mine, -np.maximum(0, 1 + t - scores), np.maximum(0, 1 + scores - t))
        down = ahead - step * (ahead + 2.0 * C * miss.T @ rows)
        penalty = np.full(allowed.shape, step * shrink)
        penalty[:, -1] = 0.0
        new = np.where(allowed, np.sign(down) * np.maximum(np.abs(down) - penalty, 0), 0.0)
        grown = 0.5 * (1 + np.sqrt(1 + 4 * momentum**2))
        ahead, W, momentum = new + (momentum - 1) / grown * (new - W), new, grown
    return W


@pytest.mark.parametrize("own_features", [False, True])
def test_the_answer_is_that_of_proximal_steps_on_all_labels(own_features: bool) -> None:
    weights, biases, _ = train_together(X, Y, own_features=own_features, **EXACT)
    allowed = np.ones((8, X.shape[1] + 1), dtype=bool)
    if own_features:
        allowed[:, :-1] = (Y.T @ X).toarray() > 0
        assert not allowed.all()
    known = proximal_descent(allowed, 0.5, 0.1)
    assert np.allclose(np.column_stack((weights.toarray(), biases)), known, atol=5e-3)


def test_passes_without_a_penalty_settle_the_weights_that_are_left() -> None:
    first = train_together(X, Y, **{**EXACT, "shrink": 1.5})
    both = train_together(X, Y, n_post_passes=2000, **{**EXACT, "shrink": 1.5})
    assert np.all((first.weights.toarray() != 0) | (both.weights.toarray() == 0))
    assert both.weights.nnz < Y.shape[1] * X.shape[1] / 4
    found = np.column_stack((both.weights.toarray(), both.biases))
    before = np.column_stack((first.weights.toarray(), first.biases))
    reached = objective("threshold", found, 0.5, 0.0)
    assert reached < 0.9 * objective("threshold", before, 0.5, 0.0)
    random = np.random.default_rng(0)
    for _ in range(50):
        way = 0.03 * random.normal(size=found.shape) * (found != 0)
        assert objective("threshold", found + way, 0.5, 0.0) >= reached - 1e-2


def test_the_labels_that_score_highest_join_if_they_are_above_the_bar() -> None:
    scores = np.array([0.9, 0.1, 0.5, -0.2, 0.7, 0.6, 0.3], dtype=np.float32)
    others = np.array([4, -1, -1, -1, -1], dtype=np.int32)
    alphas = np.array([0.4, 9, 9, 9, 9], dtype=np.float32)
    own = np.array([0], dtype=np.int32)
    assert join_best(scores.copy(), own, others, alphas, 1, 2, 0.2) == 3
    assert others[:3].tolist() == [4, 5, 2]
    assert alphas[:3].tolist() == [np.float32(0.4), 0.0, 0.0]
    assert join_best(scores.copy(), own, others, alphas, 3, 9, 0.2) == 4
    assert others[3] == 6


def test_the_same_for_a_seed() -> None:
    one, again, other = (train_together(X, Y, max_searches=2, seed=s) for s in (5, 5, 6))
    assert (one.weights != again.weights).nnz == 0
    assert np.array_equal(one.biases, again.biases)
    assert (one.weights != other.weights).nnz > 0


@pytest.mark.parametrize("loss", ["threshold", "each"])
def test_labels_that_join_one_by_one_end_where_all_at_once_do(loss: str) -> None:
    few = train_together(X, Y, loss=loss, n_joining=1, **EXACT)
    many = train_together(X, Y, loss=loss, n_joining=8, **EXACT)
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
