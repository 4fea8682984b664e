"""Which rows are held out, and which choice wins on them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.selection import best_choice, best_of, hold_out, ndcg, split_rows, summed_precision
from labelspace.topk import TopK, topk_dense


def test_the_first_of_the_best_choices_wins():
    tried: list[str] = []

    def figure(name: str) -> float:
        tried.append(name)
        return float(len(name))

    assert best_choice(["a", "bb", "cc", "d"], figure) == "bb"
    assert tried == ["a", "bb", "cc", "d"]


def test_a_choice_without_a_rival_is_not_tried():
    def never(choice: int) -> float:
        raise AssertionError

    assert best_choice([7], never) == 7


FIGURES = {"usual": 5.0, "best": 9.0, "equal": 9.0, "liked": 8.5}


@pytest.mark.parametrize(
    ("tolerance", "expected"), [(0.0, "best"), (0.4, "best"), (0.5, "liked"), (9.0, "liked")]
)
def test_of_choices_that_are_nearly_the_best_the_preferred_one_wins(
    tolerance: float, expected: str
) -> None:
    chosen = best_choice(
        list(FIGURES),
        FIGURES.__getitem__,
        nearly=lambda best: best - tolerance,
        preference=lambda name: float(name == "liked"),
    )
    assert chosen == expected


def test_figures_grow_with_what_is_right():
    truth = csr_matrix([[0, 1, 0, 0, 0]])
    first, second = (TopK(np.array([ids]), np.ones((1, 5))) for ids in ([1, 0, 2, 3, 4], range(5)))
    assert ndcg(truth, first) == 100.0 > ndcg(truth, second) > 0.0
    assert np.isclose(summed_precision(truth, first) - summed_precision(truth, second), 100.0)


def test_the_setting_that_ranks_rows_held_out_best_is_taken():
    X = csr_matrix(np.eye(2, dtype=np.float32)[np.arange(600) % 2])
    rows: list[tuple[int, int]] = []

    def answer(sign, X, Y, X_new, k):
        rows.append((X.shape[0], X_new.shape[0]))
        return topk_dense(sign * X_new.toarray(), k)

    trial = best_of((-1.0, 1.0), answer, X, X)
    assert trial.choice == 1.0
    assert np.array_equal(trial.top.to_csr(2).sum(axis=1), np.full((120, 1), 2))
    assert rows == [(480, 120), (480, 120)]
    assert best_of((-1.0, 1.0), answer, X[:400], X[:400]).choice == -1.0, "too few to tell"


def test_rows_held_out_are_in_order_and_decided_by_the_seed() -> None:
    rows = np.arange(100, 200)
    drawn = hold_out(rows, 20, seed=3)
    assert np.array_equal(drawn, np.unique(drawn))
    assert np.isin(drawn, rows).all()
    assert np.array_equal(drawn, hold_out(rows, 20, seed=3))
    assert not np.array_equal(drawn, hold_out(rows, 20, seed=4))


def test_rows_without_labels_are_neither_learned_from_nor_held_out():
    Y = csr_matrix([[1], [0], [1], [1], [1]])
    learned, held_out = split_rows(Y, 0.5, seed=3)
    assert learned.size == held_out.size == 2
    assert np.array_equal(np.union1d(learned, held_out), [0, 2, 3, 4])
    assert split_rows(Y, 0.0, seed=3)[1].size == 0
