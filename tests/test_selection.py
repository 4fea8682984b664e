from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.selection import best_choice, best_of, ndcg, split_rows, summed_precision
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


def test_rows_without_labels_are_neither_learned_from_nor_held_out():
    Y = csr_matrix([[1], [0], [1], [1], [1]])
    learned, held_out = split_rows(Y, 0.5, seed=3)
    assert learned.size == held_out.size == 2
    assert np.array_equal(np.union1d(learned, held_out), [0, 2, 3, 4])
    assert split_rows(Y, 0.0, seed=3)[1].size == 0
