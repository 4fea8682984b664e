"""What votes count, which labels win, who is named as having voted, and how weights are chosen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.search.result import SearchResult
from labelspace.topk import topk_dense
from labelspace.voting import Votes, choose_votes, count_votes

Y = csr_matrix([[1, 1, 0], [0, 1, 0], [0, 0, 1]])
ROWS = SearchResult(np.array([[0, 1, -1]]), np.array([[0.9, 0.5, -np.inf]], dtype=np.float32))
LABELS = SearchResult(np.array([[2, 0]]), np.array([[0.4, 0.3]], dtype=np.float32))


def test_nearer_rows_count_more() -> None:
    votes = Votes.weighted(ROWS, SearchResult.none(1, 0), gamma=10.0, label_votes=1.0)
    assert votes.row_weights[0, 0] / votes.row_weights[0, 1] == pytest.approx(np.exp(4.0), rel=1e-4)
    assert votes.row_weights[0, 2] == 0.0
    assert votes.row_weights.sum() == pytest.approx(1.0)


def test_labels_have_their_share() -> None:
    votes = Votes.weighted(ROWS, LABELS, gamma=10.0, label_votes=0.25)
    assert votes.row_weights.sum() == pytest.approx(0.8)
    assert votes.label_weights.sum() == pytest.approx(0.2)


def test_counts_are_whole_numbers_and_labels_are_silent() -> None:
    top = Votes.counted(ROWS).top(Y, k=3)
    assert top.labels[0].tolist() == [1, 0, -1]
    assert top.scores[0, :2].tolist() == [2.0, 1.0]


def test_nobody_votes_on_a_query_that_lies_nowhere() -> None:
    nowhere = SearchResult(np.array([[0, 1]]), np.zeros((1, 2), dtype=np.float32))
    votes = Votes.weighted(nowhere, LABELS, gamma=10.0, label_votes=1.0)
    assert votes.top(Y, k=1).labels.tolist() == [[-1]]


def test_by_distance_every_learner_has_the_same_say() -> None:
    near = SearchResult(np.array([[0, 1]]), np.array([[-0.1, -0.6]], dtype=np.float32))
    far = SearchResult(np.array([[-1, 2]]), np.array([[-np.inf, -90.0]], dtype=np.float32))
    votes = Votes.by_distance([near, far], [LABELS, LABELS], 2.0, 1.0, 0.2)
    assert votes.row_weights[0, :2].sum() == pytest.approx(0.4)
    assert votes.row_weights[0, 0] / votes.row_weights[0, 1] == pytest.approx(np.e, rel=1e-4)
    assert votes.row_weights[0, 2:].tolist() == pytest.approx([0.0, 0.4])
    assert votes.label_weights.sum() == pytest.approx(0.2)


@pytest.mark.parametrize("k", [1, 5, 40])
def test_votes_are_counted_as_the_sparse_product_counts_them(k: int) -> None:
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


def test_rows_alone_are_counted_too() -> None:
    top = count_votes(np.array([[0, 1]]), np.ones((1, 2), dtype=np.float32), Y, 2)
    assert top.labels.tolist() == [[1, 0]]
    assert top.scores.tolist() == [[2.0, 1.0]]


def test_nothing_is_counted_where_nobody_asks() -> None:
    none = np.zeros((0, 3))
    top = count_votes(none.astype(np.int64), none.astype(np.float32), csr_matrix((2, 2)), 2)
    assert top.labels.shape == (0, 2)


def test_row_that_several_learners_find_is_named_once() -> None:
    twice = SearchResult(np.array([[0, 0]]), np.array([[0.9, 0.8]], dtype=np.float32))
    votes = Votes.weighted(twice, LABELS, gamma=10.0, label_votes=1.0)
    top = votes.top(Y, k=3)
    (explanations,) = votes.explain(Y, top, n_reasons=5)
    for explanation in explanations:
        total = sum(reason.weight for reason in explanation.reasons)
        assert total == pytest.approx(explanation.score, rel=1e-5)
    named = {one.label: [reason.kind for reason in one.reasons] for one in explanations}
    assert sorted(named[0]) == ["example", "label"]
    assert named[1] == ["example"]
    assert named[2] == ["label"]


@pytest.mark.parametrize(("right", "expected"), [(0, 0.0), (2, 2.0)])
def test_labels_are_heard_where_they_are_right(right: int, expected: float) -> None:
    rows = SearchResult(np.array([[0, 1]]), np.array([[0.9, 0.6]], dtype=np.float32))
    labels = SearchResult(np.array([[2, 1]]), np.array([[0.8, 0.1]], dtype=np.float32))
    each = csr_matrix(np.eye(3))
    chosen = choose_votes(rows, labels, each, each[[right]], label_votes=[0.0, 2.0])
    assert chosen.label_votes == expected


def test_flat_votes_win_where_the_many_are_right() -> None:
    rows = SearchResult(np.array([[0, 1, 1]]), np.array([[0.9, 0.85, 0.85]], dtype=np.float32))
    each = csr_matrix(np.eye(3))
    chosen = choose_votes(rows, SearchResult.none(1, 0), each, each[[1]], gammas=[20.0, 10.0])
    assert chosen.sharpness == 10.0


def test_of_equally_precise_weights_the_one_that_finds_rare_labels_wins() -> None:
    frequent = csr_matrix(np.array([[1, 1, 0]] * 50 + [[0, 0, 1]]))
    rows = SearchResult(np.array([[0]]), np.array([[0.9]], dtype=np.float32))
    rare = SearchResult(np.array([[2]]), np.array([[0.9]], dtype=np.float32))
    truth = csr_matrix([[1, 0, 1]])
    chosen = choose_votes(rows, rare, frequent, truth, label_votes=[0.1, 2.0])
    assert chosen.label_votes == 2.0
