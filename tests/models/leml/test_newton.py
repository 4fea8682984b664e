from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.leml import newton
from labelspace.models.leml.newton import (
    LOSSES,
    LowRankProblem,
    alternate_newton,
    conjugate_gradients,
)
from labelspace.models.leml.squared_loss import Factors

each_loss = pytest.mark.parametrize("loss", sorted(LOSSES))


def problem(loss: str) -> tuple[LowRankProblem, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.normal(size=(30, 5)))
    Y = csr_matrix(rng.random((30, 4)) < 0.4, dtype=np.float64)
    W, H = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    return LowRankProblem(X, Y, LOSSES[loss], 0.3), W, H


def slopes(value, at: np.ndarray) -> np.ndarray:
    """Finite differences of a function of a matrix."""
    found = np.empty_like(at)
    for place in np.ndindex(at.shape):
        ahead, behind = at.copy(), at.copy()
        ahead[place] += 1e-5
        behind[place] -= 1e-5
        found[place] = (value(ahead) - value(behind)) / 2e-5
    return found


@each_loss
def test_gradients_are_those_of_finite_differences(loss: str, monkeypatch) -> None:
    monkeypatch.setattr(newton, "_SCORES", 40)  # some rows at a time
    task, W, H = problem(loss)
    assert np.allclose(
        task.map_gradient(W, H), slopes(lambda w: task.objective(w, H), W), atol=1e-4
    )
    assert np.allclose(
        task.label_gradient(W, H), slopes(lambda h: task.objective(W, h), H), atol=1e-4
    )


@each_loss
def test_hessian_products_are_differences_of_gradients(loss: str) -> None:
    task, W, H = problem(loss)
    rng = np.random.default_rng(1)
    v, u = rng.normal(size=W.shape), rng.normal(size=H.shape)
    # Short enough that no pair crosses the hinge.
    ahead = task.map_gradient(W + 1e-7 * v, H) - task.map_gradient(W - 1e-7 * v, H)
    assert np.allclose(task.map_product(W, H, v), ahead / 2e-7, rtol=1e-3, atol=1e-3)
    ahead = task.label_gradient(W, H + 1e-7 * u) - task.label_gradient(W, H - 1e-7 * u)
    assert np.allclose(task.label_product(W, H, u), ahead / 2e-7, rtol=1e-3, atol=1e-3)


@each_loss
def test_rounds_go_down_to_where_gradients_vanish(loss: str) -> None:
    task, W, H = problem(loss)
    start = Factors(W.astype(np.float32), H.astype(np.float32))
    few, many = (
        alternate_newton(task.X, task.Y, start, loss=loss, penalty=0.3, n_rounds=n) for n in (1, 60)
    )
    assert task.objective(*many) < task.objective(*few) < task.objective(W, H)
    assert np.abs(task.map_gradient(*many)).max() < 0.1
    assert np.abs(task.label_gradient(*many)).max() < 0.1


def test_conjugate_gradients_solve_in_as_many_steps_as_there_are_unknowns() -> None:
    A = np.random.default_rng(0).normal(size=(6, 6))
    A = A @ A.T + np.eye(6)
    wanted = np.arange(6.0)
    assert np.allclose(A @ conjugate_gradients(lambda x: A @ x, wanted, n_steps=6), wanted)
