from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.models.dxml.choose_neighbors import choose_neighbors, nearest
from labelspace.search.result import SearchResult

Y = csr_matrix(np.eye(2, dtype=np.float32)[[0, 1, 1, 0, 0, 0]])


def found(rows: list[int]) -> SearchResult:
    ids = np.array([rows])
    return SearchResult(ids, np.linspace(0.9, 0.8, len(rows), dtype=np.float32)[np.newaxis])


def test_the_number_that_answers_best_wins():
    rows, none = found([0, 1, 2, 3, 4]), SearchResult.none(1, 0)
    for truth, right in ((0, 1), (1, 3)):
        wanted = csr_matrix(np.eye(2, dtype=np.float32)[[truth]])
        choice = choose_neighbors(rows, none, Y, wanted, counted=True, n_neighbors=(5, 3, 1))
        assert choice.n_neighbors == right


def test_weights_of_votes_are_chosen_too():
    wanted = csr_matrix(np.eye(2, dtype=np.float32)[[0]])
    choice = choose_neighbors(
        found([0, 1, 2]), SearchResult.none(1, 0), Y, wanted, n_neighbors=(3,), gammas=(0.0, 100.0)
    )
    assert choice.gamma == 100.0


def test_each_learner_gives_its_nearest():
    both = SearchResult(np.array([[1, 2, 3, 4, 5, 0]]), np.zeros((1, 6), dtype=np.float32))
    assert nearest(both, 2, n_learners=2).ids.tolist() == [[1, 2, 4, 5]]
    assert nearest(both, 9, n_learners=2).ids.tolist() == both.ids.tolist()
