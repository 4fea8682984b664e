from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random

from labelspace.models.leml.squared_loss import alternate, label_directions, solve_labels, solve_map


@pytest.fixture
def problem() -> tuple[csr_matrix, csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.normal(size=(80, 12)) * (rng.random((80, 12)) < 0.6), dtype=np.float32)
    Y = csr_matrix(rng.random((80, 7)) < 0.3, dtype=np.float32)
    return X, Y, rng.normal(size=(7, 4)).astype(np.float32)


def objective(X, Y, W, H, penalty: float, S=0.0) -> float:
    off = Y.toarray() - X.toarray() @ (W @ H.T + S)
    return 0.5 * np.square(off).sum() + 0.5 * penalty * (np.square(W).sum() + np.square(H).sum())


def test_map_is_that_of_the_normal_equations(problem) -> None:
    """vec(W) solves (HᵀH ⊗ XᵀX + λI) vec(W) = vec(XᵀYH)."""
    X, Y, H = problem
    dense = X.toarray().astype(np.float64)
    normal = np.kron(H.T @ H, dense.T @ dense) + 0.7 * np.eye(48)
    closed = np.linalg.solve(normal, (dense.T @ Y.toarray() @ H).ravel(order="F"))
    W = solve_map(X, Y, H, penalty=0.7, n_steps=60)
    assert np.allclose(W.ravel(order="F"), closed, atol=1e-4)


def test_map_leaves_directions_alone_that_no_label_has(problem) -> None:
    X, Y, H = problem
    flat = H.copy()
    flat[:, 3] = 0.0
    W = solve_map(X, Y, flat, penalty=0.7, n_steps=60)
    assert np.allclose(W[:, 3], 0.0, atol=1e-6)
    assert np.allclose(W[:, :3], solve_map(X, Y, flat[:, :3], penalty=0.7, n_steps=60), atol=1e-4)


def test_labels_are_those_of_the_normal_equations_beside_a_sparse_part(problem) -> None:
    X, Y, _ = problem
    Z = np.random.default_rng(1).normal(size=(80, 4)).astype(np.float32)
    S = csr_matrix(random(12, 7, density=0.2, random_state=0), dtype=np.float32)
    rest = Y.toarray() - X.toarray() @ S.toarray()
    closed = np.linalg.solve(Z.T @ Z + 0.7 * np.eye(4), Z.T @ rest).T
    assert np.allclose(solve_labels(X, Z, Y, penalty=0.7, sparse=S), closed, atol=1e-4)


@pytest.mark.parametrize("with_sparse", [False, True])
def test_every_round_goes_down(problem, with_sparse: bool) -> None:
    X, Y, H = problem
    S = csr_matrix(random(12, 7, density=0.2, random_state=0), dtype=np.float32)
    found = []
    for n_rounds in (1, 2, 4, 8):
        W, labels = alternate(
            *(X, Y, H),
            penalty=0.7,
            n_rounds=n_rounds,
            n_steps=40,
            sparse=S if with_sparse else None,
        )
        found.append(objective(X, Y, W, labels, 0.7, S.toarray() if with_sparse else 0.0))
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0]


def test_with_full_rank_it_comes_to_the_ridge_regression_of_the_trace_norm(problem) -> None:
    """At the minimum ‖W‖² = ‖H‖², and both are the trace norm of WHᵀ."""
    X, Y, _ = problem
    W, H = alternate(X, Y, label_directions(Y, 7, seed=0), penalty=0.7, n_rounds=200, n_steps=40)
    trace = np.linalg.svd(W @ H.T, compute_uv=False).sum()
    assert np.square(W).sum() == pytest.approx(trace, rel=0.02)
    assert np.square(H).sum() == pytest.approx(trace, rel=0.02)


def test_directions_are_the_right_singular_vectors(problem) -> None:
    _, Y, _ = problem
    right = np.linalg.svd(Y.toarray())[2][:3]
    found = label_directions(Y, 3, seed=0)
    assert np.allclose(np.abs(right @ found), np.eye(3), atol=1e-3)
