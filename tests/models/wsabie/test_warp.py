from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.wsabie import _warp_kernels as kernels
from labelspace.models.wsabie.warp import WarpTraining, random_vectors, train_warp


def test_rank_weights_are_the_harmonic_numbers() -> None:
    assert np.allclose(kernels.harmonic(4), [0, 1, 1.5, 1.5 + 1 / 3, 1.5 + 1 / 3 + 0.25])


def test_sampled_rank_is_that_of_brute_force_on_average() -> None:
    """Draws until a violation are geometric: with v of n labels in violation, n/v on average."""
    rng = np.random.default_rng(0)
    z, V = rng.normal(size=8).astype(np.float32), rng.normal(size=(200, 8)).astype(np.float32)
    own = np.array([3, 50, 120])
    scores = V @ z
    wrong = np.setdiff1d(np.arange(200), own)
    for right in own:
        violating = wrong[scores[wrong] > scores[right] - 1.0]
        drawn, trials = zip(
            *(
                kernels.sample_violation(z, V, right, own, 0, 3, 10_000, np.uint64(seed))
                for seed in rng.integers(1, 1 << 62, size=4000)
            ),
            strict=True,
        )
        assert set(drawn) <= set(violating)
        assert np.mean(trials) == pytest.approx(wrong.size / violating.size, rel=0.1)


def test_nothing_is_found_where_nothing_violates() -> None:
    V = np.array([[5.0], [0.0], [-1.0]], dtype=np.float32)
    z, own = np.ones(1, dtype=np.float32), np.array([0])
    assert kernels.sample_violation(z, V, 0, own, 0, 1, 50, np.uint64(7)) == (-1, 50)
    # A row that has every label has no wrong one to be found.
    every = np.arange(3)
    assert kernels.sample_violation(z, V, 0, every, 0, 3, 50, np.uint64(7))[0] == -1


def test_a_step_is_the_gradient_of_the_weighted_margin() -> None:
    """One row, one right and one wrong label: rank 1, so that the loss is 1 + f_w − f_y."""
    rng = np.random.default_rng(1)
    X = csr_matrix(np.array([[0.6, 0.0, 0.8]], dtype=np.float32))
    Y = csr_matrix(np.array([[0.0, 1.0]], dtype=np.float32))
    W, V = (0.1 * rng.normal(size=(n, 4)) for n in (3, 2))
    W, V = W.astype(np.float32), V.astype(np.float32)

    def loss(W: np.ndarray, V: np.ndarray) -> float:
        scores = (X @ W) @ V.T
        return float(1.0 + scores[0, 0] - scores[0, 1])

    moved_w, moved_v, met = train_warp(X, Y, W, V, WarpTraining(1, 0.01, 100.0, False), seed=0)
    assert met[0] == pytest.approx(loss(W, V), rel=1e-5)
    for vectors, moved, at in ((W, moved_w, 0), (V, moved_v, 1)):
        for place in np.ndindex(vectors.shape):
            pair = [W.astype(np.float64), V.astype(np.float64)]
            pair[at][place] += 1e-4
            slope = (loss(*pair) - loss(W, V)) / 1e-4
            assert (vectors[place] - moved[place]) / 0.01 == pytest.approx(slope, abs=2e-3)


def test_a_step_is_weighted_by_the_rank_that_draws_tell() -> None:
    """One of four wrong labels violates the margin, by ½: it is drawn first, second or later."""
    X, W = csr_matrix(np.ones((1, 1), dtype=np.float32)), np.ones((1, 1), dtype=np.float32)
    Y = csr_matrix(np.array([[1.0, 0, 0, 0, 0]], dtype=np.float32))
    V = np.array([[2.0], [1.5], [0.0], [0.0], [0.0]], dtype=np.float32)
    training = WarpTraining(1, 0.01, 100.0, False)
    met = {round(float(train_warp(X, Y, W, V, training, seed)[2][0]), 4) for seed in range(80)}
    # L(4) after one draw, L(2) after two, L(1) after more
    ranked = {round(0.5 * cost, 4) for cost in (1 + 1 / 2 + 1 / 3 + 1 / 4, 1 + 1 / 2, 1)}
    assert met - {0.0} == ranked  # 0 where it was not drawn at all


def test_no_vector_is_longer_than_allowed() -> None:
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.random((50, 6)), dtype=np.float32)
    Y = csr_matrix(rng.random((50, 9)) < 0.3, dtype=np.float32)
    start = random_vectors(6, 5, rng), random_vectors(9, 5, rng)
    W, V, _ = train_warp(X, Y, *start, WarpTraining(5, 0.5, 1.5), seed=0)
    lengths = np.concatenate([np.linalg.norm(vectors, axis=1) for vectors in (W, V)])
    assert lengths.max() <= 1.5 + 1e-4
    assert lengths.max() > 1.4  # the limit was met at all
