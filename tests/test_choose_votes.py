"""Weights of votes are chosen by what they answer."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.search.result import SearchResult
from labelspace.voting import choose_votes

Y = csr_matrix(np.eye(3))
ROWS = SearchResult(np.array([[0, 1]]), np.array([[0.9, 0.6]], dtype=np.float32))
LABELS = SearchResult(np.array([[2, 1]]), np.array([[0.8, 0.1]], dtype=np.float32))


def test_labels_are_silent_where_they_are_wrong() -> None:
    *_, weight = choose_votes(ROWS, LABELS, Y, Y[[0]], label_votes=[0.0, 2.0])
    assert weight == 0.0


def test_labels_are_heard_where_they_are_right() -> None:
    *_, weight = choose_votes(ROWS, LABELS, Y, Y[[2]], label_votes=[0.0, 2.0])
    assert weight == 2.0


def test_flat_votes_win_where_the_many_are_right() -> None:
    rows = SearchResult(np.array([[0, 1, 1]]), np.array([[0.9, 0.85, 0.85]], dtype=np.float32))
    none = SearchResult.none(1, 0)
    right = Y[[1]]
    assert choose_votes(rows, none, csr_matrix(Y), right, gammas=[20.0, 10.0])[0] == 10.0


def test_of_equally_precise_weights_the_one_that_finds_rare_labels_wins() -> None:
    frequent = csr_matrix(np.array([[1, 1, 0]] * 50 + [[0, 0, 1]]))
    rows = SearchResult(np.array([[0]]), np.array([[0.9]], dtype=np.float32))
    rare = SearchResult(np.array([[2]]), np.array([[0.9]], dtype=np.float32))
    truth = csr_matrix([[1, 0, 1]])
    *_, weight = choose_votes(rows, rare, frequent, truth, label_votes=[0.1, 2.0])
    assert weight == 2.0
