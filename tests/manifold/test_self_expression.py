"""Points expressed by their neighbours, against general solvers and the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from labelspace.manifold.self_expression import SelfExpression, express


def directions_and_costs(points: np.ndarray, penalty: float) -> tuple[np.ndarray, np.ndarray]:
    """Return unit directions (d, n - 1) from the first point, and λq."""
    differences = points[1:] - points[0]
    lengths = np.linalg.norm(differences, axis=1)
    return (differences / lengths[:, None]).T, penalty * lengths / lengths.sum()


@pytest.mark.parametrize("n_features", [1, 2, 3, 8])
@pytest.mark.parametrize("penalty", [0.1, 1.0, 10.0])
def test_no_general_solver_finds_a_lower_objective(n_features: int, penalty: float) -> None:
    points = np.random.default_rng(n_features).standard_normal((9, n_features))
    solved = express(points, points[:1], n_candidates=9, penalty=penalty)
    assert solved.coefficients[0, 0] == 1.0, "a point that is there is expressed by itself"
    solved = express(points[1:], points[:1], n_candidates=8, penalty=penalty)
    c = np.zeros(8)
    c[solved.candidates[0]] = solved.coefficients[0]
    Y, costs = directions_and_costs(points, penalty)

    def objective(halves: np.ndarray) -> float:
        c = halves[:8] - halves[8:]
        return float(costs @ (halves[:8] + halves[8:]) + 0.5 * np.sum((Y @ c) ** 2))

    found = minimize(
        objective,
        np.concatenate((np.full(8, 1 / 8), np.zeros(8))),
        method="SLSQP",
        bounds=[(0, None)] * 16,
        constraints={"type": "eq", "fun": lambda halves: np.sum(halves[:8] - halves[8:]) - 1},
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    ours = objective(np.concatenate((np.maximum(c, 0), np.maximum(-c, 0))))
    assert c.sum() == pytest.approx(1.0, abs=1e-12)
    assert ours == pytest.approx(found.fun, abs=1e-7)
    assert ours <= found.fun + 1e-9


@pytest.mark.parametrize("penalty", [0.01, 1.0, 100.0])
def test_optimality_conditions_hold(penalty: float) -> None:
    points = np.random.default_rng(0).standard_normal((61, 12))
    solved = express(points[1:], points[:1], n_candidates=60, penalty=penalty)
    c = np.zeros(60)
    c[solved.candidates[0]] = solved.coefficients[0]
    Y, costs = directions_and_costs(points, penalty)
    gradient = Y.T @ (Y @ c)
    # With μ the price of the constraint: g + λq·sign(c) = μ where c ≠ 0, |g − μ| ≤ λq elsewhere.
    prices = (gradient + costs * np.sign(c))[c != 0]
    assert np.ptp(prices) < 1e-7
    assert np.all(np.abs(gradient - prices.mean())[c == 0] <= costs[c == 0] + 1e-7)


def test_a_point_between_two_others_is_their_mean() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.9, 3.0], [1.2, -4.0]])
    solved = express(points, n_candidates=4)
    row = solved.as_csr(solved.coefficients, 5)[1].toarray().ravel()
    assert row == pytest.approx([0.5, 0.0, 0.5, 0.0, 0.0])


def test_coefficients_do_not_depend_on_scale_and_place() -> None:
    points = np.random.default_rng(1).standard_normal((80, 4))
    turn = np.linalg.qr(np.random.default_rng(2).standard_normal((4, 4)))[0]
    one = express(points, n_candidates=15)
    other = express(1000.0 * points @ turn + 7.0, n_candidates=15)
    assert np.array_equal(one.candidates, other.candidates)
    assert one.coefficients == pytest.approx(other.coefficients, abs=1e-5)


def test_too_few_steps_are_told() -> None:
    points = np.random.default_rng(0).standard_normal((40, 5))
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        express(points, penalty=0.1, max_iter=2)


def test_an_edge_weighs_its_coefficient_by_the_distance() -> None:
    # |c_j| / ‖y_j − y‖, divided by their sum
    solved = SelfExpression(
        candidates=np.array([[1, 2, 3]]),
        distances=np.array([[0.5, 2.0, 4.0]]),
        coefficients=np.array([[0.6, -0.4, 0.8]]),
        n_iter=1,
    )
    # 1.2, 0.2 and 0.2
    assert solved.edges()[0] == pytest.approx([0.75, 0.125, 0.125])


def test_a_point_that_is_there_has_one_edge() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert express(points, points[:1], n_candidates=3).edges().tolist() == [[1.0, 0.0, 0.0]]
