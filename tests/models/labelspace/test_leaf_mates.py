"""Rows that share leaves: who they are, what their votes count, and how they learn on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import load
from labelspace.models import LabelSpace
from labelspace.models.labelspace.leaf_mates import MOST_MATES, LeafMates, grow_leaf_mates
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.search.result import SearchResult
from tests.planted import planted_corpus

X, Y = planted_corpus(200)


def grown(n_row_trees: int = 3) -> LeafMates:
    settings = LabelSpaceSettings(n_row_trees=n_row_trees)
    mates = grow_leaf_mates(X, Y, Y, settings, seed=0, n_threads=1)
    assert mates is not None
    return mates


def test_no_trees_are_grown_where_none_are_asked_for() -> None:
    settings = LabelSpaceSettings(n_row_trees=0)
    assert grow_leaf_mates(X, Y, Y, settings, seed=0, n_threads=1) is None


def test_a_training_row_is_found_in_its_own_leaf_of_every_tree() -> None:
    ids, weights = grown().find(X)
    own = ids == np.arange(X.shape[0])[:, np.newaxis]
    assert own.sum(axis=1).tolist() == [3] * X.shape[0]
    assert np.allclose(weights.sum(axis=1), 1.0)
    assert not weights[ids < 0].any()


def test_those_in_one_leaf_have_the_same_labels_more_often_than_others() -> None:
    ids, weights = grown().find(X)
    alike = np.asarray((Y @ Y.T).todense()) > 0
    near = np.take_along_axis(alike, np.maximum(ids, 0), axis=1)[weights > 0].mean()
    assert near > 2 * alike.mean()


def test_votes_of_trees_are_a_share_of_all_and_never_of_a_rows_own_group() -> None:
    mates = grown()
    n = X.shape[0]
    found = SearchResult(np.zeros((n, 1), np.int64), np.ones((n, 1), np.float32))
    weights = np.ones((n, 1), dtype=np.float32)
    rows, groups = np.arange(n), np.arange(n) // 2
    both, counts = mates.beside(X, found, weights, rows, groups)
    assert np.allclose(counts.sum(axis=1), 1.0)
    assert np.allclose(counts[:, 1:].sum(axis=1), 0.15 / 1.15)
    kin = groups[both.ids[:, 1:]] == groups[:, np.newaxis]
    assert not counts[:, 1:][kin].any()


def test_nobody_votes_on_a_row_that_lies_nowhere() -> None:
    nowhere = csr_matrix((1, X.shape[1]), dtype=np.float32)
    found = SearchResult(np.zeros((1, 1), np.int64), np.zeros((1, 1), np.float32))
    _, counts = grown().beside(nowhere, found, np.zeros((1, 1), dtype=np.float32))
    assert not counts.any()


def test_rows_that_come_later_are_found_and_crowded_leaves_are_cut() -> None:
    mates = grown(1)
    before = mates.ids
    mates.add(csr_matrix(X[:1]), np.array([999]))
    assert 999 in mates.find(X[:1])[0]
    assert 999 not in before
    for number in range(2 * MOST_MATES):
        mates.add(csr_matrix(X[:1]), np.array([1000 + number]))
    assert mates.find(X[:1])[0].shape[1] == MOST_MATES


def test_a_model_keeps_its_trees(tmp_path: Path) -> None:

    model = LabelSpace(random_state=0, n_learners=1, dim=8, effort="best").fit(X, Y)
    assert model.mates_ is not None
    assert model.mates_.forest.n_trees == 20
    model.save(tmp_path / "model")
    again = load(tmp_path / "model").predict_topk(X, 3)
    assert np.array_equal(again.scores, model.predict_topk(X, 3).scores)
