from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.encoders.unit_rows import UnitRows
from labelspace.graph.label_knn import label_knn
from labelspace.models.annexml import _partition_kernels as kernels
from labelspace.models.annexml.label_partition import balanced, learn_partition
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def corpus():
    X, Y = planted_corpus(600)
    return UnitRows().encode(X), Y


def agreement(parts: np.ndarray, neighbors: np.ndarray) -> float:
    """Share of neighbours that are in the part of their row."""
    there = neighbors >= 0
    return float((parts[:, np.newaxis] == parts[neighbors])[there].mean())


def test_learned_partition_keeps_neighbors_together(corpus) -> None:
    X, Y = corpus
    graph = label_knn(Y, 10)
    partition = learn_partition(X, graph, 3, seed=0, l1=0.1)
    parts = partition.assign(X)
    shares = np.bincount(parts, minlength=3) / parts.size
    by_chance = np.square(shares).sum()
    assert partition.n_parts == 3
    assert agreement(parts, graph.neighbors) > by_chance + 0.1


def test_l1_makes_weights_zero(corpus) -> None:
    X, Y = corpus
    graph = label_knn(Y, 10)
    few, many = (learn_partition(X, graph, 3, seed=0, l1=l1).weights.nnz for l1 in (6.0, 0.1))
    assert few < many


def test_learned_partition_is_decided_by_its_seed(corpus) -> None:
    X, Y = corpus
    graph = label_knn(Y, 10)
    one, two = (learn_partition(X, graph, 3, seed=4).assign(X) for _ in range(2))
    assert np.array_equal(one, two)


def test_balanced_parts_have_room_for_their_share_only() -> None:
    scores = np.random.default_rng(0).random((1000, 7)).astype(np.float32)
    scores[:, 0] += 0.5
    sizes = np.bincount(balanced(scores, slack=0.1), minlength=7)
    assert sizes.sum() == 1000
    assert sizes.max() <= np.ceil(1.1 * 1000 / 7)


def test_steps_pull_neighbours_in_and_then_drive_other_rows_out() -> None:
    # Of two neighbours only one is there, and is taken twice; then come the two other rows.
    # max Σ_j log σ(w_c·x_j) + Σ_n log σ(−w_c·x_n) − λ‖w‖₁, by FTRL-proximal: g = ∂/∂w, n ← n + g²,
    # z ← z + g + (√n_new − √n_old)/η w, w = 0 if |z| ≤ λ, else η (z − sign(z) λ) / √n
    rate, penalty = 0.1, 0.5
    X = csr_matrix(np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 1.0, 3.0]], dtype=np.float32))
    w = np.array([[0.4, -1.0], [0.3, 0.0], [0.0, 0.0]])
    z = np.where(w != 0, w / rate + np.sign(w) * penalty, 0.0)
    state = np.stack((w, z, np.ones_like(w)), axis=2).astype(np.float32)
    kernels.partition_epoch(
        X.indptr,
        X.indices,
        X.data,
        np.array([[1, -1], [-1, -1], [-1, -1]], dtype=np.int32),
        np.array([0]),  # of part 0, since 0.4 is more than -1
        np.array([[2, 0]]),
        np.array([0.99]),
        np.float32(rate),
        np.float32(penalty),
        state,
    )
    n = np.ones(3)
    w, z = w[:, 0].copy(), z[:, 0].copy()
    for row, inside in ((1, True), (1, True), (2, False), (0, False)):
        x = X[row].toarray().ravel().astype(float)
        chance = 1 / (1 + np.exp(-w @ x))
        for at in np.flatnonzero(x):
            g = ((1 - chance) if inside else -chance) * x[at]
            z[at] += g + (np.sqrt(n[at] + g**2) - np.sqrt(n[at])) / rate * w[at]
            n[at] += g**2
            pulled = rate * (z[at] - np.sign(z[at]) * penalty) / np.sqrt(n[at])
            w[at] = 0.0 if abs(z[at]) <= penalty else pulled
    assert state[:, 0, kernels.WEIGHT] == pytest.approx(w, abs=1e-5)
    assert state[:, 1, kernels.WEIGHT] == pytest.approx([-1.0, 0.0, 0.0])


def test_lots_decide_between_parts_that_fit_equally_well() -> None:
    scores = np.array([0.2, 0.5, -1.0, 0.5], dtype=np.float32)
    assert [kernels.best_part(scores, lot) for lot in (0.0, 0.49, 0.51, 0.99)] == [1, 1, 3, 3]
    assert kernels.best_part(np.array([0.0, 0.1, 0.0], dtype=np.float32), 0.99) == 1
