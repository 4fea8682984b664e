"""Classifiers that learn on, against the same minimum found by a general solver."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from labelspace.linear.incremental import learn_on
from labelspace.search.sparse import SparseIndex


def rows(n: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).random((n, 6)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_an_old_label_moves_to_the_minimum_near_its_start_and_keeps_its_bias() -> None:
    X, n_before, C = rows(20, 0), 7, 2.0
    y = np.where(np.random.default_rng(1).random(20) < 0.5, 1.0, -1.0)
    start, bias = np.linspace(-0.5, 0.5, 6).astype(np.float32), np.float32(-0.3)

    def loss(w: np.ndarray) -> float:
        missed = np.maximum(0.0, 1.0 - y * (X @ w + bias))
        return 0.5 * np.sum((w - start) ** 2) + C / (1 + 0.1 * n_before) * np.sum(missed**2)

    weights, biases = learn_on(
        csr_matrix(X),
        csr_matrix((y > 0).astype(np.float32)[:, np.newaxis]),
        csr_matrix((20, 1)),
        np.array([0]),
        np.array([n_before]),
        SparseIndex(csr_matrix(start[np.newaxis]), np.array([bias])),
        csr_matrix(rows(30, 2)),
        C=C,
        n_examples=50,
        inertia=0.1,
        n_passes=200,
    )
    np.testing.assert_allclose(weights.toarray()[0], minimize(loss, np.zeros(6)).x, atol=2e-3)
    assert biases[0] == bias


def test_a_new_label_is_told_apart_from_old_rows_that_were_kept() -> None:
    X, kept, C = rows(3, 0), rows(10, 2), 1.0
    weights, biases = learn_on(
        csr_matrix(X),
        csr_matrix(np.ones((3, 1), dtype=np.float32)),
        csr_matrix((3, 1)),
        np.array([0]),
        np.array([0]),
        SparseIndex(csr_matrix((0, 6), dtype=np.float32)),
        csr_matrix(kept),
        C=C,
        n_examples=100,
        n_passes=500,
    )

    def loss(wb: np.ndarray) -> float:
        margins = np.concatenate((X @ wb[:6] + wb[6], -(kept @ wb[:6] + wb[6])))
        counts = np.concatenate((np.ones(3), np.full(10, 10.0)))
        length = np.sum(wb[:6] ** 2) + (wb[6] + 1.0) ** 2
        return 0.5 * length + C * np.sum(counts * np.maximum(0.0, 1.0 - margins) ** 2)

    expected = minimize(loss, np.zeros(7)).x
    np.testing.assert_allclose(weights.toarray()[0], expected[:6], atol=5e-3)
    np.testing.assert_allclose(biases[0], expected[6], atol=5e-3)


def test_labels_that_rows_do_not_touch_are_left_alone_and_small_weights_are_cut() -> None:
    X = csr_matrix(rows(4, 0))
    index = SparseIndex(csr_matrix(np.eye(6, dtype=np.float32)), np.arange(6, dtype=np.float32))
    before = index.keys.toarray()
    Y = csr_matrix((np.ones(4, dtype=np.float32), (np.arange(4), [2] * 4)), shape=(4, 6))
    learned = learn_on(
        X, Y, csr_matrix((4, 6)), np.array([2]), np.array([5]), index, X[:0],
        n_examples=9, min_weight=0.05,
    )  # fmt: skip
    index.put(np.array([2]), *learned)
    others = [0, 1, 3, 4, 5]
    assert np.array_equal(index.keys.toarray()[others], before[others])
    assert np.array_equal(index.offsets[others], np.array(others))
    assert np.abs(learned.weights.data).min() >= 0.05
