from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.topk import topk_dense
from labelspace.voting import count_votes


@pytest.mark.parametrize("k", [1, 5, 40])
def test_counts_as_the_sparse_product(k: int) -> None:
    rng = np.random.default_rng(0)
    Y = csr_matrix((rng.random((50, 20)) < 0.2).astype(np.float32))
    rows = rng.integers(-1, 50, (30, 8))
    labels = rng.integers(-1, 20, (30, 4))
    # Quarters add up exactly, in any order.
    row_weights = rng.integers(0, 4, (30, 8)).astype(np.float32) / 4
    label_weights = rng.integers(0, 4, (30, 4)).astype(np.float32) / 4
    expected = np.zeros((30, 20), dtype=np.float32)
    for query in range(30):
        for row, weight in zip(rows[query], row_weights[query], strict=True):
            if row >= 0:
                expected[query] += weight * Y[row].toarray().ravel()
        for label, weight in zip(labels[query], label_weights[query], strict=True):
            if label >= 0:
                expected[query, label] += weight
    top = count_votes(rows, row_weights, Y, k, labels, label_weights)
    best = topk_dense(expected, min(k, 20))
    heard = best.scores > 0
    assert np.array_equal(top.scores[:, : best.k][heard], best.scores[heard])
    assert np.array_equal(top.labels[:, : best.k][heard], best.labels[heard])
    assert np.all(top.labels[:, : best.k][~heard] == -1)
    assert np.all(np.isneginf(top.scores[:, : best.k][~heard]))


def test_without_labels_of_their_own() -> None:
    Y = csr_matrix([[1, 0], [1, 1]])
    top = count_votes(np.array([[0, 1]]), np.ones((1, 2), dtype=np.float32), Y, 2)
    assert top.labels.tolist() == [[0, 1]]
    assert top.scores.tolist() == [[2.0, 1.0]]


def test_no_queries() -> None:
    none = np.zeros((0, 3))
    top = count_votes(none.astype(np.int64), none.astype(np.float32), csr_matrix((2, 2)), 2)
    assert top.labels.shape == (0, 2)
