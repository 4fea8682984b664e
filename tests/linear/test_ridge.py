from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.linear.ridge import ridge


def test_it_is_the_closed_form():
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.standard_normal((60, 9)), dtype=np.float32)
    T = rng.standard_normal((60, 300)).astype(np.float32)
    W, mean = ridge(X, T, penalty=2.0, n_steps=9, n_threads=2)
    dense = X.toarray().astype(np.float64)
    expected = np.linalg.solve(dense.T @ dense + 2.0 * np.eye(9), dense.T @ (T - T.mean(axis=0)))
    assert np.allclose(W, expected, atol=1e-4)
    assert np.allclose(mean, T.mean(axis=0), atol=1e-6)


def test_rows_without_features_and_targets_that_are_met_do_no_harm():
    X = csr_matrix((4, 3), dtype=np.float32)
    W, mean = ridge(X, np.ones((4, 2), dtype=np.float32))
    assert not W.any()
    assert mean.tolist() == [1.0, 1.0]
