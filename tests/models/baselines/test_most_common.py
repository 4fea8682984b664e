"""The most frequent labels, counted by hand."""

from __future__ import annotations

from labelspace.models import MostCommon

ROWS = [[1.0], [2.0], [3.0], [4.0]]


def test_every_row_gets_the_most_frequent_labels_with_their_shares() -> None:
    top = MostCommon().fit(ROWS, [[2], [2, 0], [2, 1], [1]]).predict_topk([[5.0], [-1.0]], k=3)
    assert top.labels.tolist() == [[2, 1, 0]] * 2
    assert top.scores.tolist() == [[0.75, 0.5, 0.25]] * 2


def test_ties_go_to_the_smaller_label() -> None:
    assert MostCommon().fit(ROWS, [[1], [0], [2], [3]]).predict_topk(
        [[0.0]], k=4
    ).labels.tolist() == [[0, 1, 2, 3]]


def test_learning_on_counts_old_and_new_rows() -> None:
    model = MostCommon().fit(ROWS[:1], [["old"]]).partial_fit(ROWS[1:3], [["new"], ["new"]])
    top = model.predict_topk([[0.0]], k=2)
    assert model.classes_[top.labels].tolist() == [["new", "old"]]
