from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import ElasticNet

from labelspace.models.leml.sparse_part import solve_sparse
from labelspace.models.leml.squared_loss import Factors


@pytest.fixture
def problem() -> tuple[csr_matrix, csr_matrix, Factors]:
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.random((60, 10)) * (rng.random((60, 10)) < 0.5), dtype=np.float32)
    Y = csr_matrix(rng.random((60, 5)) < 0.3, dtype=np.float32)
    W, H = (0.2 * rng.normal(size=(n, 3)) for n in (10, 5))
    return X, Y, Factors(W.astype(np.float32), H.astype(np.float32))


def residual(X: csr_matrix, Y: csr_matrix, factors: Factors) -> np.ndarray:
    return Y.toarray() - X.toarray() @ factors.W @ factors.H.T


def test_weights_are_those_of_an_elastic_net_on_what_the_factors_leave(problem) -> None:
    X, Y, factors = problem
    n = X.shape[0]
    found = solve_sparse(X, Y, factors, l1=0.3, penalty=0.5, n_weights=10, n_passes=500)
    # Its loss is divided by the rows, and its two prices are a sum and a share.
    other = ElasticNet(alpha=0.8 / n, l1_ratio=0.3 / 0.8, fit_intercept=False, tol=1e-6)
    other.fit(X.toarray(), residual(X, Y, factors))
    # A feature whose pull is too weak to begin with may still be wanted by the net.
    pulls = X.toarray().T @ residual(X, Y, factors)
    weak = (np.abs(pulls) <= 0.3) & (other.coef_.T != 0)
    free = ~weak.any(axis=0)
    assert free.sum() >= 3
    assert np.allclose(found.toarray()[:, free], other.coef_.T[:, free], atol=1e-3)


def test_no_weight_can_be_moved_to_something_better(problem) -> None:
    """At the minimum slopes are ν against the sign of a weight, and smaller where it is zero."""
    X, Y, factors = problem
    found = solve_sparse(X, Y, factors, l1=0.2, penalty=0.1, n_weights=10, n_passes=500).toarray()
    dense = X.toarray()
    slopes = dense.T @ (residual(X, Y, factors) - dense @ found) - 0.1 * found
    told = found != 0
    assert told.any()
    assert np.allclose(slopes[told], 0.2 * np.sign(found[told]), atol=2e-3)


def test_only_the_strongest_features_of_the_own_rows_get_weights(problem) -> None:
    X, Y, factors = problem
    few = solve_sparse(X, Y, factors, l1=0.0, penalty=0.1, n_weights=2)
    pulls = X.toarray().T @ residual(X, Y, factors)
    for label in range(Y.shape[1]):
        strongest = np.argsort(-np.abs(pulls[:, label]))[:2]
        assert set(few[:, label].nonzero()[0]) == set(strongest)
    rare = Y.tolil()
    rare[1:, 0] = 0.0
    rare[0, 0] = 1.0
    alone = solve_sparse(X, csr_matrix(rare), factors, l1=0.0, penalty=0.1, n_weights=10)
    assert set(alone[:, 0].nonzero()[0]) <= set(X[0].indices)


def test_labels_without_rows_get_none(problem) -> None:
    X, Y, factors = problem
    empty = csr_matrix(Y.shape, dtype=np.float32)
    assert solve_sparse(X, empty, factors, l1=0.1, penalty=0.1, n_weights=3).nnz == 0


def test_features_that_cancel_out_are_told_from_new_ones() -> None:
    """A feature with 1 in one row of the label and -1 in the next is there once."""
    X = csr_matrix(np.array([[1, 1], [-1, 1], [1, 1]], dtype=np.float32))
    Y = csr_matrix(np.ones((3, 1), dtype=np.float32))
    nothing = Factors(np.zeros((2, 1), np.float32), np.zeros((1, 1), np.float32))
    found = solve_sparse(X, Y, nothing, l1=0.0, penalty=1e-6, n_weights=5, n_passes=200)
    assert np.allclose(found.toarray().ravel(), [0.0, 1.0], atol=1e-3)
