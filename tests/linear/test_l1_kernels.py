"""The coordinate descent for L1 problems: derivatives, the proximal point, the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csc_matrix

from labelspace.linear import _l1_kernels as kernels

LOSSES = pytest.mark.parametrize("loss", [kernels.LOGISTIC, kernels.SQUARED_HINGE])


def problem(seed: int = 0) -> tuple[csc_matrix, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 8)) * (random.random((60, 8)) < 0.6)
    sides = np.where(X @ random.normal(size=8) + 0.5 * random.normal(size=60) > 0, 1.0, -1.0)
    return csc_matrix(X.astype(np.float32)), sides, random.uniform(0.2, 2.0, size=60)


def objective(
    X: csc_matrix, sides: np.ndarray, costs: np.ndarray, loss: int, weights: np.ndarray
) -> float:
    signed = sides * (X @ weights)
    each = np.logaddexp(0, -signed) if loss == kernels.LOGISTIC else np.maximum(1 - signed, 0) ** 2
    return float(np.abs(weights).sum() + costs @ each)


@LOSSES
def test_slopes_and_curves_are_those_of_finite_differences(loss: int) -> None:
    _, sides, costs = problem()
    margins = np.random.default_rng(1).normal(size=60)
    slopes, curves = np.empty(60), np.empty(60)
    kernels.derivatives(margins, sides, costs, loss, slopes, curves)
    step = 1e-4

    def each(moved: np.ndarray) -> np.ndarray:
        zero = np.zeros(1)
        return np.array(
            [
                kernels.value_at(zero, moved[at : at + 1], 1.0, sides[at:], costs[at:], loss)
                for at in range(60)
            ]
        )

    up, here, down = each(margins + step), each(margins), each(margins - step)
    smooth = np.abs(1 - sides * margins) > 10 * step
    assert np.allclose(slopes, (up - down) / (2 * step), atol=1e-4)
    assert np.allclose(curves[smooth], ((up - 2 * here + down) / step**2)[smooth], atol=1e-3)


@LOSSES
def test_finds_the_optimum(loss: int) -> None:
    X, sides, costs = problem()
    weights, n_steps = kernels.train_l1(
        X.indptr, X.indices, X.data, sides, costs, loss, 1e-8, 500, 100, 0, np.zeros(8)
    )

    def split(halves: np.ndarray) -> float:  # w = p − q with p, q ≥ 0 has no kink
        return objective(X, sides, costs, loss, halves[:8] - halves[8:]) + 1e-9 * halves.sum()

    best = minimize(split, np.full(16, 0.1), bounds=[(0, None)] * 16, method="L-BFGS-B")
    reached = objective(X, sides, costs, loss, weights)
    assert reached <= best.fun + 1e-3
    assert reached >= best.fun - 1e-2
    assert n_steps < 500


@LOSSES
def test_a_heavy_penalty_leaves_no_weight(loss: int) -> None:
    X, sides, costs = problem()
    weights, _ = kernels.train_l1(
        X.indptr, X.indices, X.data, sides, costs * 1e-4, loss, 0.01, 10, 10, 0, np.zeros(8)
    )
    assert not weights.any()


@LOSSES
def test_a_start_near_the_optimum_saves_steps_and_comes_to_the_same(loss: int) -> None:
    X, sides, costs = problem()
    told = X.indptr, X.indices, X.data, sides, costs, loss, 1e-8, 500, 100, 0
    cold, many = kernels.train_l1(*told, np.zeros(8))
    warm, few = kernels.train_l1(*told, cold + 0.01 * (cold != 0))
    assert np.allclose(warm, cold, atol=1e-4)
    assert few < many


def test_the_proximal_point_is_the_least_of_its_problem() -> None:
    for value in (-2.0, -0.3, 0.0, 0.2, 1.7):
        grid = np.linspace(-3, 3, 60_001)
        best = grid[np.argmin(0.5 * (grid - value) ** 2 + 0.5 * np.abs(grid))]
        assert kernels.shrunk(value, 0.5) == pytest.approx(best, abs=1e-3)
