from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.sleec.sparse_regression import sparse_regression, without_smallest


@pytest.fixture
def problem() -> tuple[csr_matrix, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8)).astype(np.float32)
    return csr_matrix(X), (X @ rng.normal(size=(8, 3))).astype(np.float32)


def test_without_l1_it_is_ridge_regression_in_closed_form(problem) -> None:
    X, Z = problem
    dense = X.toarray()
    closed = np.linalg.solve(dense.T @ dense + np.eye(8) / (2 * 0.3), dense.T @ Z)
    W = sparse_regression(X, Z, C=0.3, l1=0.0, rho=1e-6, n_rounds=2)
    assert np.allclose(W, closed, atol=1e-4)


def test_l1_draws_images_to_zero(problem) -> None:
    """Rounds of the ADMM come to the minimum of ½‖Z − XW‖² + λ‖XW‖₁ + ‖W‖²/(4C)."""
    X, Z = problem
    W = sparse_regression(X, Z, C=10.0, l1=0.8, rho=1.0, n_rounds=200)

    def objective(W: np.ndarray) -> float:
        images = X @ W
        return (
            0.5 * np.square(Z - images).sum() + 0.8 * np.abs(images).sum() + np.square(W).sum() / 40
        )

    rng = np.random.default_rng(1)
    lowest = objective(W)
    for _ in range(200):
        assert objective(W + rng.normal(scale=0.02, size=W.shape)) > lowest - 1e-3
    assert lowest < objective(sparse_regression(X, Z, C=10.0, l1=0.0, rho=1.0, n_rounds=1))


def test_smallest_values_become_zero_in_all_or_in_each_column() -> None:
    values = np.arange(1, 21, dtype=np.float32).reshape(10, 2) * [1.0, -100.0]
    values = values.astype(np.float32)
    assert np.count_nonzero(without_smallest(values, 0.25) == 0) == 5
    assert np.array_equal(
        np.count_nonzero(without_smallest(values, 0.3, axis=0) == 0, axis=0), [3, 3]
    )
    assert without_smallest(values, 0.0) is values
