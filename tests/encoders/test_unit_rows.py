"""Rows of length one, with and without weights for rare features."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer

from labelspace.encoders.unit_rows import UnitRows

X = csr_matrix([[1, 0, 2, 0], [0, 0, 0, 0], [1, 3, 0, 0], [1, 0, 0, 0]], dtype=np.float32)


def test_rows_have_length_one_and_empty_rows_stay_empty() -> None:
    Z = UnitRows().learn(X).encode(X)
    np.testing.assert_allclose(np.linalg.norm(Z.toarray(), axis=1), [1, 0, 1, 1], rtol=1e-6)


def test_idf_is_that_of_scikit_learn() -> None:
    Z = UnitRows(idf=True).learn(X).encode(X)
    np.testing.assert_allclose(
        Z.toarray(), TfidfTransformer().fit_transform(X).toarray(), rtol=1e-5
    )


def test_weights_come_from_the_rows_that_were_learned() -> None:
    rows = UnitRows(idf=True).learn(X)
    before = rows.encode(X[:1]).toarray()
    rows.encode(csr_matrix(np.ones((9, 4), dtype=np.float32)))
    np.testing.assert_array_equal(rows.encode(X[:1]).toarray(), before)


def test_the_caller_s_matrix_is_left_alone() -> None:
    given = X.copy()
    UnitRows(idf=True).learn(given).encode(given)
    np.testing.assert_array_equal(given.toarray(), X.toarray())


def test_without_norm_rows_keep_their_length() -> None:
    np.testing.assert_array_equal(UnitRows(norm=False).learn(X).encode(X).toarray(), X.toarray())


def test_huge_values_do_not_overflow() -> None:
    Z = UnitRows().learn(X).encode(csr_matrix([[3e30, 4e30, 0, 0]], dtype=np.float32))
    np.testing.assert_allclose(Z.toarray(), [[0.6, 0.8, 0, 0]], rtol=1e-6)


def test_tiny_rows_get_length_one_too() -> None:
    X = csr_matrix(np.array([[3e-40, 4e-40], [3.0, 4.0]], dtype=np.float32))
    assert np.allclose(UnitRows().encode(X).toarray(), [[0.6, 0.8], [0.6, 0.8]], atol=1e-4)
