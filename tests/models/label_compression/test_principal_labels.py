from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models import CPLST, PLST
from labelspace.models.label_compression.principal_labels import principal_directions
from tests.planted import planted_corpus


@pytest.fixture
def problem() -> tuple[csr_matrix, csr_matrix]:
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.normal(size=(100, 15)) * (rng.random((100, 15)) < 0.5), dtype=np.float32)
    Y = csr_matrix(rng.random((100, 12)) < np.linspace(0.05, 0.6, 12), dtype=np.float32)
    return X, Y


def test_plst_has_the_right_singular_vectors_of_dense_numpy(problem) -> None:
    _, Y = problem
    dense = Y.toarray() - Y.toarray().mean(axis=0)
    right = np.linalg.svd(dense)[2][:4]
    found = principal_directions(Y, 4, n_turns=60)
    assert np.allclose(np.abs(right @ found), np.eye(4), atol=1e-3)


def test_cplst_has_the_eigenvectors_of_dense_numpy(problem) -> None:
    X, Y = problem
    dense, labels = X.toarray().astype(np.float64), Y.toarray() - Y.toarray().mean(axis=0)
    hat = dense @ np.linalg.solve(dense.T @ dense + 0.5 * np.eye(15), dense.T)
    vectors = np.linalg.eigh(labels.T @ hat @ labels)[1][:, ::-1][:, :4]
    found = principal_directions(Y, 4, X=X, penalty=0.5, n_turns=60)
    assert np.allclose(np.abs(vectors.T @ found), np.eye(4), atol=1e-3)


def test_cplst_prefers_labels_that_can_be_predicted() -> None:
    """Labels 0 to 2 are frequent noise, 3 to 5 follow from the features."""
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.random((400, 3)) < 0.3, dtype=np.float32)
    noise = rng.random((400, 3)) < 0.5
    Y = csr_matrix(np.hstack([noise, X.toarray() > 0]), dtype=np.float32)
    blind, seeing = principal_directions(Y, 3), principal_directions(Y, 3, X=X, penalty=0.1)
    assert np.square(blind[:3]).sum() > 2.0
    assert np.square(seeing[3:]).sum() > 2.5


@pytest.mark.parametrize("kind", [PLST, CPLST])
def test_all_directions_are_ridge_regression(kind) -> None:
    X, Y = planted_corpus()
    model = kind(dim=12, penalty=0.3, random_state=0).fit(X, Y)
    Z, mean = model.rows_.encode(X).toarray(), Y.toarray().mean(axis=0)
    W = np.linalg.solve(Z.T @ Z + 0.3 * np.eye(Z.shape[1]), Z.T @ (Y.toarray() - mean))
    scores = Z @ W + mean
    top = model.predict_topk(X, k=12)
    assert np.allclose(np.take_along_axis(scores, top.labels, axis=1), top.scores, atol=1e-3)


@pytest.mark.parametrize("kind", [PLST, CPLST])
def test_new_rows_are_ranked_right_but_not_with_one_direction(kind) -> None:
    new = planted_corpus(100, seed=1)
    assert kind(random_state=0).fit(*planted_corpus()).score(*new) > 0.9
    assert kind(dim=1, random_state=0).fit(*planted_corpus()).score(*new) < 0.5
