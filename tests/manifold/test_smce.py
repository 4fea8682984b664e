"""SMCE on shapes whose clusters, dimensions and coordinates are known."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelspace
from labelspace.manifold import SMCE
from labelspace.manifold.self_expression import express
from labelspace.manifold.spectrum import component_eigenmaps, join_components


@parametrize_with_checks([SMCE(random_state=0)])
def test_scikit_learn_accepts_it(estimator: SMCE, check: partial) -> None:
    check(estimator)


def knot(n: int) -> np.ndarray:
    t = np.linspace(0, 2 * np.pi, n, endpoint=False)
    x, y = np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t)
    return np.column_stack((x, y, -np.sin(3 * t)))


def two_knots(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Return knots through each other, 0.2 apart where they are nearest."""
    return np.concatenate((knot(n), knot(n) + np.array([3.0, 0.0, 0.0]))), np.repeat([0, 1], n)


def wave(n: int = 150) -> np.ndarray:
    """Return points along a curve shaped like an S."""
    t = np.linspace(-1.4 * np.pi, 1.4 * np.pi, n)
    return np.column_stack((np.sin(t), np.sign(t) * (np.cos(t) - 1), 0.1 * t))


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


def test_knots_through_each_other_are_told_apart() -> None:
    X, truth = two_knots()
    model = SMCE(2, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    assert model.labels_[0] == 0
    assert model.intrinsic_dimension_.tolist() == [1, 1]
    graph = model.affinity_matrix_
    assert abs(graph - graph.T).max() == 0
    assert graph.nnz < 5 * len(X)
    assert np.asarray(model.coefficients_.sum(axis=1)).ravel() == pytest.approx(np.ones(len(X)))


def test_dimension_of_flat_pieces() -> None:
    rng = np.random.default_rng(0)
    line = np.column_stack((np.linspace(0, 1, 60), np.zeros((60, 4))))
    square = np.column_stack((rng.random((400, 2)), np.full((400, 3), 5.0)))
    cube = np.column_stack((rng.random((900, 3)), np.full((900, 2), -9.0)))
    model = SMCE(3, random_state=0).fit(np.concatenate((line, square, cube)))
    assert model.labels_.tolist() == [0] * 60 + [1] * 400 + [2] * 900
    assert model.intrinsic_dimension_.tolist() == [1, 2, 3]


def test_embedding_unrolls_a_wave() -> None:
    along = SMCE(1, n_components=1, n_candidates=20).fit_transform(wave()).ravel()
    assert abs(spearmanr(along, np.arange(150)).statistic) > 0.999


def test_embedding_of_a_circle_is_a_circle() -> None:
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    circle = np.column_stack((np.cos(angle), np.sin(angle), np.zeros(80)))
    embedding = SMCE(1, n_candidates=10).fit_transform(circle)
    assert np.linalg.norm(embedding, axis=1) == pytest.approx(np.full(80, np.sqrt(2)), rel=1e-6)


def test_long_curves_and_dense_answers_agree() -> None:
    """Beyond some hundred points eigenvectors are found by other means."""
    angle = np.linspace(0, np.pi, 700)
    curve = np.column_stack((np.cos(angle), np.sin(angle)))
    solved = express(curve, n_candidates=8)
    graph = solved.as_csr(solved.edges(), 700)
    graph = graph.maximum(graph.T).tocsr()
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    exact = np.linalg.eigh(graph.toarray() / np.sqrt(np.outer(degrees, degrees)))[1][:, -3:-1]
    exact = exact[:, ::-1] / np.sqrt(degrees)[:, None] * np.sqrt(degrees.sum())
    assert np.abs(component_eigenmaps(graph, 3)[:, 1:]) == pytest.approx(np.abs(exact), abs=1e-4)


def test_new_points_go_where_their_neighbours_are() -> None:
    X, truth = two_knots()
    model = SMCE(2, random_state=0).fit(X)
    between = (X[:-1] + X[1:])[truth[:-1] == truth[1:]] / 2
    expected = truth[:-1][truth[:-1] == truth[1:]]
    assert np.mean(model.predict(between) == expected) > 0.98
    flat = SMCE(1, n_components=1, n_candidates=20).fit(wave())
    new = flat.transform((wave()[:-1] + wave()[1:]) / 2).ravel()
    assert abs(spearmanr(new, np.arange(149)).statistic) > 0.999


def test_points_of_the_training_set_keep_their_place() -> None:
    X, _ = two_knots(100)
    model = SMCE(2, random_state=0).fit(X)
    assert np.array_equal(model.transform(X), model.embedding_)
    assert np.array_equal(model.predict(X), model.labels_)


def test_repeated_points_share_everything() -> None:
    X, _ = two_knots(100)
    repeated = np.concatenate((X, X[:50], X[:50]))
    model = SMCE(2, random_state=0).fit(repeated)
    alone = SMCE(2, random_state=0).fit(X)
    assert np.array_equal(model.labels_[:200], alone.labels_)
    assert np.array_equal(model.labels_[200:250], alone.labels_[:50])
    assert np.array_equal(model.embedding_[250:], alone.embedding_[:50])
    assert model.coefficients_[210].indices.tolist() == [10]
    assert (
        connected_components(model.affinity_matrix_)[0]
        == (connected_components(alone.affinity_matrix_)[0])
    )


def test_same_answer_on_any_number_of_threads() -> None:
    X, _ = two_knots(150)
    one = SMCE(2, random_state=0, n_threads=1).fit(X)
    two = clone(one).set_params(n_threads=2).fit(X)
    assert np.array_equal(one.embedding_, two.embedding_)
    assert (one.affinity_matrix_ != two.affinity_matrix_).nnz == 0


def test_pieces_far_apart_need_no_common_candidates() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.random((60, 2)) + np.array([at, 0]) for at in (0.0, 50.0, 500.0)])
    three = SMCE(3, n_candidates=10, random_state=0).fit(X)
    assert three.labels_.tolist() == [0] * 60 + [1] * 60 + [2] * 60
    one = SMCE(1, n_candidates=10).fit(X)
    assert np.all(np.isfinite(one.embedding_))
    # Nearest pieces are joined first: the middle one lies between the others.
    means = [one.embedding_[start : start + 60, 0].mean() for start in (0, 60, 120)]
    assert means[1] == sorted(means)[1]


def test_joined_pieces_are_one() -> None:
    points = np.random.default_rng(0).random((50, 2))
    solved = express(points, n_candidates=3)
    graph = solved.as_csr(solved.edges(), 50)
    graph = graph.maximum(graph.T).tocsr()
    known = solved.as_csr(solved.distances, 50)
    assert connected_components(join_components(graph, points, known))[0] == 1


def test_it_can_be_saved(tmp_path) -> None:
    X, _ = two_knots(60)
    model = SMCE(2, random_state=0).fit(X)
    model.save(tmp_path / "model")
    loaded = labelspace.load(tmp_path / "model")
    assert np.array_equal(loaded.predict(X + 0.01), model.predict(X + 0.01))
    assert loaded.get_params() == model.get_params()


@pytest.mark.parametrize("n_points", [2, 3, 5])
def test_few_points_are_enough(n_points: int) -> None:
    X = np.random.default_rng(0).standard_normal((n_points, 4))
    model = SMCE(2, n_components=3, random_state=0).fit(X)
    assert sorted(set(model.labels_.tolist())) == [0, 1]
    assert np.all(np.isfinite(model.embedding_))


def test_more_clusters_than_points_are_refused() -> None:
    with pytest.raises(ValueError, match="3 points cannot form 4 clusters"):
        SMCE(4).fit(np.eye(3))
