"""Rows as words: sequences are told from features, and both are read."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.xml_cnn.row_words import (
    WordsAndBags,
    are_sequences,
    bags_of,
    read_features,
    read_sequences,
)


@pytest.mark.parametrize(
    ("rows", "are"),
    [
        ([[3, 1, 0], [2, 0, 0], [0, 0, 0]], True),
        ([[3, 0, 1]], False),  # a gap
        ([[3, 1.5]], False),
        ([[-1, 2]], False),
        ([[0, 0]], False),  # nothing tells
        ([[2.0**25]], False),
    ],
)
def test_whole_numbers_without_gaps_are_sequences(rows: list[list[float]], are: bool) -> None:
    assert are_sequences(csr_matrix(rows)) is are


def test_words_beyond_the_limit_or_unknown_are_passed_over() -> None:
    X = csr_matrix(np.array([[7, 2, 9, 4], [5, 0, 0, 0], [0, 0, 0, 0]], dtype=np.float32))
    rows = read_sequences(X, 3).known(7)
    assert rows.ptr.tolist() == [0, 2, 3, 3]
    assert rows.words.tolist() == [6, 1, 4]


def test_rows_can_be_taken_in_any_order() -> None:
    X = csr_matrix(np.array([[7, 2, 9], [5, 0, 0], [0, 0, 0]], dtype=np.float32))
    taken = read_sequences(X, 3).of_rows(np.array([1, 2, 0]))
    assert taken.ptr.tolist() == [0, 1, 1, 4]
    assert taken.words.tolist() == [4, 6, 1, 8]


def test_of_many_features_the_largest_are_kept_in_their_order() -> None:
    X = csr_matrix(np.array([[0.1, 5.0, 0, -7.0, 1.0], [0, 0, 2.0, 0, 0]]))
    rows = read_features(X, 2)
    assert rows.words.tolist() == [1, 3, 2]
    assert np.square(rows.weights[:2]).mean() == pytest.approx(1.0)
    assert rows.weights[2] == pytest.approx(1.0)


def test_bags_count_words_whatever_their_order() -> None:
    X = csr_matrix(np.array([[2, 1, 2], [2, 2, 1], [0, 0, 0]], dtype=np.float32))
    bags = bags_of(read_sequences(X, 3), 4).toarray()
    expected = np.log([2.0, 3.0]) / np.linalg.norm(np.log([2.0, 3.0]))
    assert bags[0, :2] == pytest.approx(expected)
    assert np.array_equal(bags[0], bags[1])
    assert not bags[2].any()
    assert not bags[:, 2:].any()


def test_features_keep_their_signs_in_bags() -> None:
    bags = bags_of(read_features(csr_matrix([[2.0, 0.0, -2.0]]), 3), 3).toarray()
    assert bags[0] == pytest.approx([0.5**0.5, 0.0, -(0.5**0.5)])


def test_words_and_bags_are_taken_together() -> None:
    X = csr_matrix(np.array([[1, 2], [3, 0]], dtype=np.float32))
    words = read_sequences(X, 2)
    taken = WordsAndBags(words, bags_of(words, 3)).of_rows(np.array([1]))
    assert taken.words.words.tolist() == [2]
    assert taken.bags is not None
    assert taken.bags.toarray().tolist() == [[0.0, 0.0, 1.0]]
    assert WordsAndBags(words).of_rows(np.array([1])).bags is None
