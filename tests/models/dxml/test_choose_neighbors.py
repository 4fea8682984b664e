from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.dxml import choose_neighbors as module
from labelspace.models.dxml.choose_neighbors import choose_neighbors, nearest
from labelspace.models.dxml.settings import DXMLSettings
from labelspace.search.result import SearchResult

Y = csr_matrix(np.eye(2, dtype=np.float32)[[0, 1, 1, 0, 0, 0]])
NONE = SearchResult.none(1, 0)
COUNTED = DXMLSettings(voting="counts", label_votes=0.0)


def found(rows: list[int]) -> SearchResult:
    ids = np.array([rows])
    return SearchResult(ids, np.linspace(0.9, 0.8, len(rows), dtype=np.float32)[np.newaxis])


def labels_of(label: int) -> csr_matrix:
    return csr_matrix(np.eye(2, dtype=np.float32)[[label]])


@pytest.mark.parametrize(("label", "right"), [(0, 1), (1, 3)])
def test_the_number_that_answers_best_wins(monkeypatch, label, right):
    monkeypatch.setattr(module, "N_NEIGHBORS", (1, 3, 5))
    rows = found([0, 1, 2, 3, 4])
    assert choose_neighbors(COUNTED, rows, NONE, Y, labels_of(label)).n_neighbors == right


def test_weights_of_votes_are_chosen_too(monkeypatch):
    monkeypatch.setattr(module, "GAMMAS", (0.0, 100.0))
    told = DXMLSettings(n_neighbors=3, label_votes=0.0)
    chosen = choose_neighbors(told, found([0, 1, 2]), NONE, Y, labels_of(0))
    assert (chosen.n_neighbors, chosen.vote_gamma, chosen.label_votes) == (3, 100.0, 0.0)


def test_what_was_told_stays():
    told = DXMLSettings(n_neighbors=2, vote_gamma=3.0, label_votes=0.7)
    assert choose_neighbors(told, found([0, 1, 2]), NONE, Y, labels_of(1)) == told


def test_each_learner_gives_its_nearest():
    both = SearchResult(np.array([[1, 2, 3, 4, 5, 0]]), np.zeros((1, 6), dtype=np.float32))
    assert nearest(both, 2, n_learners=2).ids.tolist() == [[1, 2, 4, 5]]
    assert nearest(both, 9, n_learners=2).ids.tolist() == both.ids.tolist()
