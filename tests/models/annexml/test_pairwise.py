from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.graph.label_knn import LabelGraph, label_knn
from labelspace.models.annexml import _pair_kernels as kernels
from labelspace.models.annexml.pairwise import train_pairs
from labelspace.models.annexml.settings import AnnexMLSettings
from labelspace.spaces import sphere
from tests.planted import planted_corpus

GAMMA = 10.0


def loss(cosines: np.ndarray) -> float:
    # Σ_{p ∈ P} −log e^{γ cos(z_i, z_p)} / ( e^{γ cos(z_i, z_p)} + Σ_{n ∈ Q} e^{γ cos(z_i, z_n)} )
    own, others = np.split(np.exp(GAMMA * cosines), 2)
    return float(-np.log(own / (own + others.sum())).sum())


def test_a_pair_counts_by_the_slope_of_the_loss() -> None:
    cosines = np.array([0.9, 0.4, 0.7, -0.2])
    weights = np.empty(4, dtype=np.float32)
    kernels.pair_weights(cosines.astype(np.float32), np.float32(GAMMA), weights)
    for place in range(4):
        step = np.zeros(4)
        step[place] = 1e-6
        slope = (loss(cosines + step) - loss(cosines - step)) / 2e-6
        assert weights[place] == pytest.approx(-slope, rel=1e-3)


def test_each_pair_takes_a_step_of_its_own_on_the_features_of_both_rows() -> None:
    # One neighbour, one other row, a feature each: V += η g / √(1 + g²), twice for the row itself.
    X = csr_matrix(np.eye(3, dtype=np.float32))
    V = np.array([[1.0, 0.2], [0.5, 0.5], [-0.3, 1.0]], dtype=np.float32)
    before = V.astype(np.float64)
    unit = before / np.linalg.norm(before, axis=1, keepdims=True)
    norms = np.linalg.norm(before, axis=1)
    cosines = unit[1:] @ unit[0]
    t = np.exp(-GAMMA * (cosines[0] - cosines[1]))
    weights = np.array([GAMMA * t / (1 + t), -GAMMA * t / (1 + t)])
    expected, squares = before.copy(), np.ones((3, 2))
    for other in (1, 2):
        cosine, weight = cosines[other - 1], weights[other - 1]
        for first, second in ((0, other), (other, 0)):
            gradient = weight * (unit[second] - cosine * unit[first]) / norms[first]
            squares[first] += gradient**2
            expected[first] += 0.1 * gradient / np.sqrt(squares[first])
    kernels.pair_epoch(
        X.indptr,
        X.indices,
        X.data,
        np.array([[1], [-1], [-1]], dtype=np.int32),
        np.array([0]),
        np.array([[2]]),
        np.float32(GAMMA),
        np.float32(0.1),
        V,
        np.ones_like(V),
    )
    assert pytest.approx(expected, abs=1e-5) == V


@pytest.mark.parametrize(("neighbors", "same"), [([1, 2, 1], True), ([1, 2, 2], False)])
def test_fewer_neighbours_than_asked_for_are_taken_in_turn(
    neighbors: list[int], same: bool
) -> None:
    X = csr_matrix(np.eye(6, dtype=np.float32))
    start = np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)
    learned = []
    for of_row in ([1, 2, -1], neighbors):
        V = start.copy()
        graph = np.full((6, 3), -1, dtype=np.int32)
        graph[0] = of_row
        rates = np.float32(GAMMA), np.float32(0.1)
        drawn = np.array([0]), np.array([[3, 4, 5]])
        kernels.pair_epoch(X.indptr, X.indices, X.data, graph, *drawn, *rates, V, np.ones_like(V))
        learned.append(V)
    assert np.allclose(*learned, atol=1e-6) == same


def test_rows_without_neighbours_are_drawn_to_stand_against_others() -> None:
    # Rows 0 and 1 are neighbours; row 2 has none, but features and a label; row 3 has no label.
    X = csr_matrix(np.eye(4, dtype=np.float32))
    Y = csr_matrix(np.array([[1, 0], [1, 0], [0, 1], [0, 0]]))
    graph = label_knn(Y, 1, similarity="overlap")
    settings = AnnexMLSettings(dim=3, gamma=10.0, learning_rate=0.1, n_epochs=0)
    start, learned = (
        train_pairs(X, Y, graph, replace(settings, n_epochs=n), seed=0) for n in (0, 9)
    )
    moved = np.abs(learned - start).max(axis=1) > 1e-3
    assert moved.tolist() == [True, True, True, False]


def test_rows_with_the_same_labels_come_near() -> None:
    X, Y = planted_corpus()
    graph = label_knn(Y, 10, similarity="overlap")
    settings = AnnexMLSettings(dim=16, gamma=10.0, learning_rate=0.1, n_epochs=5)
    Z = sphere.keys(np.asarray(X @ train_pairs(X, Y, graph, settings, seed=0), dtype=np.float32))
    near = np.mean([Z[i] @ Z[graph.neighbors[i]].T for i in range(300)])
    assert near > np.mean(Z @ Z.T) + 0.4


def test_nothing_to_learn_from_gives_a_map_all_the_same() -> None:
    graph = LabelGraph(np.full((2, 3), -1, dtype=np.int32), np.zeros((2, 3), dtype=np.float32))
    X = csr_matrix(np.array([[1.0, 0.0], [1.0, 0.0]], dtype=np.float32))
    V = train_pairs(X, csr_matrix((2, 1)), graph, AnnexMLSettings(dim=4), seed=0)
    assert V.shape == (2, 4)
    assert not V[1].any()
