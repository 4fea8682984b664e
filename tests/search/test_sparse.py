"""Exact search among sparse vectors, against sorting all scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.search.sparse import SparseIndex


def by_sorting(scores: np.ndarray, k: int) -> np.ndarray:
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def sparse(rng: np.random.Generator, n: int, d: int) -> csr_matrix:
    # Halves: sums are exact in float32, so that ties are ties.
    dense = rng.integers(-3, 4, size=(n, d)) * (rng.random((n, d)) < 0.3) / 2
    return csr_matrix(dense, dtype=np.float32)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.integers(0, 9), st.integers(1, 12), st.integers(0, 10**6))
def test_finds_what_sorting_finds_ties_to_the_smaller_id(n_keys, n_rows, k, seed) -> None:
    rng = np.random.default_rng(seed)
    keys, X = sparse(rng, n_keys, 15), sparse(rng, n_rows, 15)
    offsets = (rng.integers(-2, 3, size=n_keys) / 2).astype(np.float32)
    found = SparseIndex(keys, offsets).search(X, k)
    scores = (X @ keys.T).toarray() + offsets
    expected = by_sorting(scores, k)
    np.testing.assert_array_equal(found.labels, expected)
    np.testing.assert_array_equal(found.scores, np.take_along_axis(scores, expected, axis=1))


def test_answer_is_as_wide_as_there_are_keys() -> None:
    keys = csr_matrix(np.eye(3, dtype=np.float32))
    assert SparseIndex(keys).search(keys, 10).labels.shape == (3, 3)


def test_row_without_features_gets_the_largest_offsets() -> None:
    keys = csr_matrix(np.eye(3, dtype=np.float32))
    index = SparseIndex(keys, np.array([-1.0, 2.0, 0.5], dtype=np.float32))
    assert index.search(csr_matrix((1, 3), dtype=np.float32), 2).labels.tolist() == [[1, 2]]


@pytest.mark.parametrize("n_rows", [1, 7, 1000])
def test_number_of_threads_does_not_matter(n_rows: int) -> None:
    rng = np.random.default_rng(0)
    keys, X = sparse(rng, 200, 30), sparse(rng, n_rows, 30)
    index = SparseIndex(keys)
    with threads.limit(3):
        usual = index.search(X, 5)
    with threads.limit(1):
        single = index.search(X, 5)
    np.testing.assert_array_equal(usual.labels, single.labels)
    np.testing.assert_array_equal(usual.scores, single.scores)


def test_keys_come_back_as_they_were() -> None:
    keys = sparse(np.random.default_rng(1), 20, 10)
    assert abs(SparseIndex(keys).keys - keys).nnz == 0


def test_long_lists_follow_keys_that_are_replaced() -> None:
    rng = np.random.default_rng(0)
    keys = np.where(rng.random((30, 6)) < [0.9, 0.8, 0.7, 0.01, 0.0, 0.5], 1.0, 0.0)
    index = SparseIndex(csr_matrix(keys, dtype=np.float32))
    for _ in range(2):
        places, rows = index.long_lists(-0.0)
        for feature in range(6):
            whole = index.keys[:, [feature]].toarray().ravel()
            if places[feature] >= 0:
                assert rows[places[feature]].tolist() == whole.tolist()
        assert places[0] >= 0 > places[4]
        index.put(np.array([2, 30]), csr_matrix(np.full((2, 6), 3.0)), np.zeros(2))
