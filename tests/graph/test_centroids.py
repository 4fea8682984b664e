from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, random_array

from labelspace.graph import centroids
from labelspace.graph.centroids import label_centroids, largest


def test_only_the_largest_entries_are_kept_block_by_block(monkeypatch):
    monkeypatch.setattr(centroids, "_BLOCK", 7)
    left = csr_matrix(random_array((30, 20), density=0.3, rng=np.random.default_rng(0)))
    cut = largest(left, csr_matrix(left.T), 4).toarray()
    whole = (left @ left.T).toarray()
    np.fill_diagonal(whole, 0)
    expected = np.where(whole >= np.sort(whole, axis=1)[:, [-4]], whole, 0)
    np.testing.assert_allclose(cut, expected, rtol=1e-6)


def test_centroids_are_unit_vectors_in_the_middle_of_rows():
    X = csr_matrix([[1.0, 0.0, 0.1], [0.0, 1.0, 0.1], [0.0, 0.0, 1.0]], dtype=np.float32)
    Y = csr_matrix([[1, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.float32)
    found = label_centroids(X, Y, 2).toarray()
    np.testing.assert_allclose(found, [[0.5**0.5, 0.5**0.5, 0], [0, 0, 1], [0, 0, 0]], rtol=1e-6)
    means = label_centroids(X, Y, 2, unit=False).toarray()
    np.testing.assert_allclose(means, [[0.5, 0.5, 0], [0, 0, 1], [0, 0, 0]], rtol=1e-6)
