"""Top-k answers against sorting, ties included."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from labelspace.topk import TopK, topk_csr, topk_dense


def by_sorting(row: np.ndarray, k: int) -> list[int]:
    return sorted(range(len(row)), key=lambda label: (-row[label], label))[:k]


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12), st.integers(1, 15))
@settings(deadline=None)
def test_largest_first_and_ties_by_the_smaller_label(row: list[int], k: int) -> None:
    scores = np.array([row], dtype=np.float32)
    top = topk_dense(scores, k)
    expected = by_sorting(scores[0], k)
    assert top.labels[0, : len(expected)].tolist() == expected
    assert np.all(top.labels[0, len(expected) :] == -1)
    assert top.scores[0, : len(expected)].tolist() == [row[label] for label in expected]
    stored = csr_matrix(scores + 10)
    assert np.array_equal(topk_csr(stored, k).labels, top.labels)


def test_entries_that_are_not_stored_never_win() -> None:
    top = topk_csr(csr_matrix([[0.0, -5.0, 0.0]]), k=2)
    assert top.labels.tolist() == [[1, -1]]
    assert top.scores[0, 0] == -5.0
    assert top.scores[0, 1] == -np.inf


def test_order_of_stored_entries_does_not_matter() -> None:
    one = csr_matrix((np.array([1.0, 1.0, 2.0]), np.array([2, 0, 1]), np.array([0, 3])), (1, 3))
    assert topk_csr(one, k=3).labels.tolist() == [[1, 0, 2]]


def test_to_csr_keeps_labels_above_the_threshold() -> None:
    top = TopK(np.array([[2, 0], [1, -1]]), np.array([[0.9, 0.2], [0.4, -np.inf]], np.float32))
    assert top.to_csr(3).toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
    assert top.to_csr(3, threshold=0.4).toarray().tolist() == [[0, 0, 1], [0, 1, 0]]


def test_stack_and_first() -> None:
    top = topk_dense(np.eye(3, dtype=np.float32), k=2)
    stacked = TopK.stack([top, top])
    assert len(stacked) == 6
    assert stacked.first(1).k == 1
