"""What votes count, and who is named as having voted."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.search.result import SearchResult
from labelspace.voting import Votes

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


def test_by_distance_every_learner_has_the_same_say() -> None:
    near = SearchResult(np.array([[0, 1]]), np.array([[-0.1, -0.6]], dtype=np.float32))
    far = SearchResult(np.array([[-1, 2]]), np.array([[-np.inf, -90.0]], dtype=np.float32))
    votes = Votes.by_distance([near, far], [LABELS, LABELS], 2.0, 1.0, 0.2)
    assert votes.row_weights[0, :2].sum() == pytest.approx(0.4)
    assert votes.row_weights[0, 0] / votes.row_weights[0, 1] == pytest.approx(np.e, rel=1e-4)
    assert votes.row_weights[0, 2:].tolist() == pytest.approx([0.0, 0.4])
    assert votes.label_weights.sum() == pytest.approx(0.2)
