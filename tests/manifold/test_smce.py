"""SMCE on shapes whose clusters, dimensions and coordinates are known."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelspace
from labelspace.manifold import SMCE


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


def test_as_printed_a_point_chooses_among_all_others() -> None:
    # Elhamifar and Vidal (2011), section 2.1: Ȳ_i has all points but y_i; section 4: λ = 10.
    X, truth = two_knots()
    some = np.concatenate((np.flatnonzero(truth == 0)[::2], np.flatnonzero(truth == 1)[::2]))
    printed = SMCE(2, preset="paper", random_state=0).fit(X[some])
    told = SMCE(2, n_candidates=len(some) - 1, penalty=10.0, random_state=0).fit(X[some])
    assert printed.sorted_coefficients_.shape == (2, len(some) - 1)
    assert (printed.coefficients_ != told.coefficients_).nnz == 0
    assert SMCE(2, random_state=0).fit(X).sorted_coefficients_.shape == (2, 50)


def test_as_printed_curves_are_told_apart() -> None:
    curves = np.concatenate((wave(), wave() + np.array([0.0, 0.0, 1.0])))
    found = SMCE(2, preset="paper", random_state=0).fit(curves)
    assert adjusted_rand_score(np.repeat([0, 1], 150), found.labels_) == 1.0
    # q is a share of all distances: where points are many, a larger λ says "near".
    X, truth = two_knots()
    near = SMCE(2, preset="paper", penalty=100.0, random_state=0).fit(X)
    assert adjusted_rand_score(truth, near.labels_) == 1.0
    assert near.intrinsic_dimension_.tolist() == [1, 1]


@pytest.mark.parametrize("wrong", [{"n_threads": 10**6}, {"max_iter": 10**30}])
def test_numbers_that_no_machine_could_follow_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SMCE(**wrong).fit(np.eye(4))
