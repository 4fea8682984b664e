"""Projections keep what they promise to keep."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_matrix

from labelspace.models.hierarchical_xc.projection import projection


@pytest.fixture
def X():
    return csr_matrix(random_matrix(60, 40, 0.3, random_state=0, dtype=np.float32))


def test_svd_reconstructs_better_than_any_other_directions(X):
    def error(kind):
        V = np.linalg.qr(projection(X, 10, kind).to_float())[0]
        return np.linalg.norm(X.toarray() - X.toarray() @ V @ V.T)

    best = np.sqrt((np.linalg.svd(X.toarray(), compute_uv=False)[10:] ** 2).sum())
    assert error("svd") == pytest.approx(best, rel=0.02)
    assert error("random") > error("svd")


def test_random_directions_keep_inner_products(X):
    Z = projection(X, 4000, "random").encode(X)
    products = (X @ X.T).toarray()
    assert np.abs(Z @ Z.T - products).max() < 0.15 * products.max()


def test_few_features_give_few_dimensions(X):
    assert projection(X, 300).dim == 40
