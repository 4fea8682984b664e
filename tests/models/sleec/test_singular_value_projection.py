from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.sleec.singular_value_projection import neighbor_products, project


def label_sets(n_rows: int = 120, n_labels: int = 10, seed: int = 0) -> csr_matrix:
    rng = np.random.default_rng(seed)
    Y = np.zeros((n_rows, n_labels), dtype=np.float32)
    for row in Y:
        row[rng.choice(n_labels, size=rng.integers(1, 4), replace=False)] = 1.0
    return csr_matrix(Y)


def test_products_are_cosines_of_the_nearest_label_sets_and_of_the_row_itself() -> None:
    Y = label_sets()
    dense = Y.toarray()
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    cosines = dense @ dense.T
    found = neighbor_products(Y, 15).toarray()
    assert np.allclose(found[found > 0], cosines[found > 0], atol=1e-6)
    assert np.allclose(np.diag(found), 1.0)
    for row, one in zip(cosines, found, strict=True):
        # No row that was left out is nearer than one that was taken.
        assert row[one == 0].max() <= one[one > 0].min() + 1e-6


def test_rows_that_share_nothing_are_taken_with_products_of_zero() -> None:
    found = neighbor_products(csr_matrix(np.eye(50, dtype=np.float32)), 8, seed=3)
    assert np.all(np.diff(found.indptr) > 3)
    assert found.sum() == pytest.approx(50.0)


def test_all_entries_of_a_matrix_of_low_rank_are_recovered() -> None:
    F = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    Z, _ = project(csr_matrix(F @ F.T), dim=3, max_steps=50)
    assert np.allclose(Z @ Z.T, F @ F.T, atol=0.02)


def test_steps_recover_entries_that_singular_vectors_miss() -> None:
    """Half of the entries of a planted matrix: the SVD takes the others for zero."""
    rng = np.random.default_rng(1)
    F = rng.normal(size=(150, 4)).astype(np.float32)
    M = F @ F.T
    seen = np.triu(rng.random(M.shape) < 0.5)
    seen |= seen.T
    entries = csr_matrix(np.where(seen, M, 0.0).astype(np.float32))
    start, _ = project(entries, dim=4, max_steps=0)
    Z, errors = project(entries, dim=4, max_steps=200)
    hidden = ~seen
    off = {name: np.abs((z @ z.T - M)[hidden]).mean() for name, z in (("svd", start), ("svp", Z))}
    assert errors[-1] < 0.2 * errors[0]
    assert off["svp"] < 0.3 * off["svd"]


def test_a_step_goes_down_the_gradient_of_the_entries_that_count() -> None:
    """The first half step against finite differences of ½ Σ (u_i·v_j − m_ij)²."""
    from labelspace.models.sleec.singular_value_projection import _half_step

    rng = np.random.default_rng(2)
    U, V = (rng.normal(size=(6, 2)).astype(np.float32) for _ in range(2))
    M = csr_matrix(rng.normal(size=(6, 6)) * (rng.random((6, 6)) < 0.4), dtype=np.float32)
    counts = M.toarray() != 0

    def loss(moved: np.ndarray) -> float:
        return 0.5 * float(np.square((moved @ V.T - M.toarray())[counts]).sum())

    moved, error = _half_step(M, U, V, np.float32(1.0))
    assert error == pytest.approx(np.sqrt(2.0 * loss(U) / M.nnz), rel=1e-5)
    for at in np.ndindex(U.shape):
        ahead, behind = U.astype(np.float64), U.astype(np.float64)
        ahead[at] += 1e-4
        behind[at] -= 1e-4
        slope = (loss(ahead) - loss(behind)) / 2e-4
        assert U[at] - moved[at] == pytest.approx(slope, abs=1e-3)
