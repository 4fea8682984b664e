"""Votes of neighbours, worked out by hand."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.search import votes
from labelspace.search.votes import vote

Y = csr_matrix([[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], dtype=np.float32)


def test_weights_of_neighbours_that_have_a_label_add_up() -> None:
    top = vote(np.array([[0, 1, 2]]), np.array([[0.5, 0.2, 0.3]], dtype=np.float32), Y, k=3)
    assert top.labels.tolist() == [[1, 0, 2]]
    np.testing.assert_allclose(top.scores, [[0.7, 0.5, 0.3]], rtol=1e-6)


def test_nobody_there_and_weight_zero_are_not_heard() -> None:
    neighbors = np.array([[-1, 2], [3, 3]])
    top = vote(neighbors, np.array([[0.9, 0.0], [1.0, 0.0]], dtype=np.float32), Y, k=2)
    assert top.labels.tolist() == [[-1, -1], [-1, -1]]
    assert np.isneginf(top.scores).all()


def test_blocks_of_rows_make_one_answer(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    neighbors, weights = rng.integers(0, 4, (25, 1)), rng.random((25, 1)).astype(np.float32)
    whole = vote(neighbors, weights, Y, k=2)
    monkeypatch.setattr(votes, "ROWS_AT_ONCE", 4)
    np.testing.assert_array_equal(vote(neighbors, weights, Y, k=2).labels, whole.labels)


def test_no_rows() -> None:
    top = vote(np.zeros((0, 3), dtype=np.int64), np.zeros((0, 3), dtype=np.float32), Y, k=2)
    assert top.labels.shape == (0, 2)
