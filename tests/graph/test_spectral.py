from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_matrix, diags

from labelspace.graph import spectral
from labelspace.graph.spectral import laplacian_eigenmaps, leading_eigenvectors
from tests.planted import grouped_affinity


def test_eigenmaps_are_those_of_the_dense_problem(monkeypatch):
    alike = grouped_affinity(3, 15)
    dense = alike.toarray()
    dense += spectral.BACKGROUND * dense.sum(axis=1).mean() / len(dense)
    degrees = np.diag(dense.sum(axis=1))
    # L v = λ D v, smallest first; the first is constant.
    values, expected = eigh(degrees - dense, degrees)
    for cut in (0, 1000):
        monkeypatch.setattr(spectral, "_DENSE", cut)
        V = laplacian_eigenmaps(alike, 2)
        np.testing.assert_allclose(V.T @ degrees @ V, np.eye(2), atol=1e-4)
        for axis in range(2):
            cosine = V[:, axis] @ degrees @ expected[:, axis + 1]
            assert abs(cosine) == pytest.approx(1.0, abs=1e-3)
    assert values[0] == pytest.approx(0.0, abs=1e-9)


def test_more_dimensions_than_labels_are_zero():
    V = laplacian_eigenmaps(csr_matrix(np.ones((4, 4)) - 0.5 * np.eye(4)), 6)
    assert V.shape == (4, 6)
    assert np.all(V[:, 3:] == 0)


def test_more_dimensions_than_many_labels_are_no_trouble(monkeypatch):
    monkeypatch.setattr(spectral, "_DENSE", 10)
    assert laplacian_eigenmaps(grouped_affinity(2, 10), 30).shape == (20, 30)


def path(n_nodes: int) -> csr_matrix:
    """A long thin graph, whose eigenvalues crowd below one."""
    ones = np.ones(n_nodes - 1)
    return csr_matrix(diags([ones, ones], [-1, 1]))


@pytest.mark.parametrize("max_restarts", [1, 10_000])
def test_crowded_eigenvalues_are_found_by_restarts_or_by_factors(monkeypatch, max_restarts):
    dense = leading_eigenvectors(path(300), 4)
    monkeypatch.setattr(spectral, "_DENSE", 0)
    sparse = leading_eigenvectors(path(300), 4, tol=1e-12, max_restarts=max_restarts)
    np.testing.assert_allclose(sparse.values, dense.values, atol=1e-10)
    cosines = np.abs(np.sum(sparse.vectors * dense.vectors, axis=0))
    np.testing.assert_allclose(cosines, 1.0, atol=1e-6)
    np.testing.assert_array_equal(sparse.degrees, dense.degrees)


def test_largest_eigenvalues_come_first():
    values = leading_eigenvectors(grouped_affinity(3, 15), 5).values
    assert values[0] == pytest.approx(1.0)
    assert np.all(np.diff(values) <= 0)
