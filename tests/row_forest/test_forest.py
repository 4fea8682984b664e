"""Trees of rows: what a split wants, what leaves hold, where rows fall."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.row_forest import _split_kernels, _tree_kernels
from labelspace.row_forest.forest import Growth, RowForest, best_dcg, grow_trees
from tests.planted import planted_corpus

ROWS_AND_LABELS = planted_corpus(200)


def total_ndcg(Y: csr_matrix, sides: np.ndarray, gains: np.ndarray) -> float:
    """The sum over rows of the nDCG of the ranking that is best for the row's side."""
    dense, total = Y.toarray() * gains / best_dcg(Y, gains)[:, None], 0.0
    for side in (0, 1):
        worth = np.sort(dense[sides == side].sum(axis=0))[::-1]
        total += float((worth / np.log2(np.arange(worth.size) + 2)).sum())
    return total


def sides_after(Y: csr_matrix, gains: np.ndarray, seed: int) -> np.ndarray:
    discounts = 1 / np.log2(np.arange(Y.shape[1]) + 2.0)
    return _split_kernels.sides_by_rankings(
        *(np.arange(Y.shape[0]), Y.indptr.astype(np.int64), Y.indices, gains),
        *(1 / best_dcg(Y, gains), discounts, np.zeros((2, Y.shape[1])), np.uint64(seed)),
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_sides_rank_better_than_at_random_and_no_row_wants_to_change(weighted: bool) -> None:
    _, Y = ROWS_AND_LABELS
    gains = np.linspace(1, 4, Y.shape[1]) if weighted else np.ones(Y.shape[1])
    random = np.random.default_rng(0)
    by_chance = [total_ndcg(Y, random.integers(2, size=200), gains) for _ in range(20)]
    for seed in (3, 4, 5):
        sides = sides_after(Y, gains, seed)
        assert 0 < sides.sum() < 200
        reached = total_ndcg(Y, sides, gains)
        assert reached > max(by_chance) + 5
        for row in range(0, 200, 7):
            changed = sides.copy()
            changed[row] = 1 - changed[row]
            # The others' rankings would follow: all but a hair is lost.
            assert total_ndcg(Y, changed, gains) <= reached + 1e-3


def test_the_objective_rises_with_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    _, Y = ROWS_AND_LABELS
    gains = np.ones(Y.shape[1])
    reached = []
    for turns in range(1, 6):
        monkeypatch.setattr(_split_kernels, "MOST_TURNS", turns)
        plain = _split_kernels.sides_by_rankings.py_func
        discounts = 1 / np.log2(np.arange(Y.shape[1]) + 2.0)
        sides = plain(
            *(np.arange(200), Y.indptr.astype(np.int64), Y.indices, gains),
            *(1 / best_dcg(Y, gains), discounts, np.zeros((2, Y.shape[1])), np.uint64(3)),
        )
        reached.append(total_ndcg(Y, sides, gains))
    assert all(later >= before - 1e-9 for before, later in pairwise(reached))
    assert reached[-1] > reached[0]


def test_gains_count_as_they_are_without_ndcg(monkeypatch: pytest.MonkeyPatch) -> None:
    """Splits are then those of rows whose best DCG is taken for 1."""
    X, Y = ROWS_AND_LABELS
    (plain,) = grow_trees(X, Y, Growth(C=5.0, ndcg=False), [1])
    (divided,) = grow_trees(X, Y, Growth(C=5.0), [1])
    ones = "labelspace.row_forest.forest.best_dcg", lambda Y, gains: np.ones(Y.shape[0])
    monkeypatch.setattr(*ones)
    (expected,) = grow_trees(X, Y, Growth(C=5.0), [1])
    assert np.array_equal(plain.rows, expected.rows)
    assert not np.array_equal(plain.rows, divided.rows)


def test_leaves_have_the_shares_of_their_rows_labels() -> None:
    X, Y = ROWS_AND_LABELS
    gains = np.linspace(1, 2, Y.shape[1])
    (tree,) = grow_trees(X, Y, Growth(C=5.0, leaf_labels=4), [1], gains=gains)
    leaves = np.flatnonzero(tree.first_child == 0)
    assert leaves.size > 5
    assert np.array_equal(np.sort(tree.rows), np.arange(200))
    for leaf in leaves:
        rows = tree.rows[tree.starts[leaf] : tree.ends[leaf]]
        shares = (Y[rows].toarray() * gains).mean(axis=0)
        held = slice(tree.leaf_ptr[leaf], tree.leaf_ptr[leaf + 1])
        best = np.sort(shares)[::-1][:4]
        assert np.allclose(tree.shares[held], best[best > 0], rtol=1e-5)
        assert np.allclose(tree.shares[held], shares[tree.labels[held]], rtol=1e-5)


@pytest.mark.parametrize("split", ["rankings", "means"])
def test_training_rows_fall_into_the_leaf_that_they_grew(split: str) -> None:
    X, Y = ROWS_AND_LABELS
    trees = grow_trees(X, Y, Growth(split, C=5.0), [1, 2, 3])
    forest = RowForest(trees, X.shape[1], Y.shape[1])
    leaves = forest.leaves(X)
    for at, (tree, root) in enumerate(zip(trees, forest.roots, strict=True)):
        for leaf in np.flatnonzero(tree.first_child == 0):
            rows = tree.rows[tree.starts[leaf] : tree.ends[leaf]]
            assert np.all(leaves[rows, at] == leaf + root)


def test_scores_are_means_over_trees_of_the_leaves_shares() -> None:
    X, Y = ROWS_AND_LABELS
    forest = RowForest(grow_trees(X, Y, Growth(C=5.0), [1, 2, 3]), X.shape[1], Y.shape[1])
    expected = np.zeros(Y.shape)
    for row, leaves in enumerate(forest.leaves(X)):
        for leaf in leaves:
            held = slice(forest.leaf_ptr[leaf], forest.leaf_ptr[leaf + 1])
            expected[row, forest.labels[held]] += forest.shares[held] / 3
    top = forest.rank(X, 3)
    assert np.allclose(top.scores, -np.sort(-expected, axis=1)[:, :3], atol=1e-6, rtol=1e-5)


def test_means_split_two_clouds() -> None:
    random = np.random.default_rng(0)
    X = csr_matrix(
        np.abs(random.normal(0, 0.05, (100, 4))) + np.repeat([[1, 0, 0, 0], [0, 0, 0, 1]], 50, 0)
    )
    X = X.astype(np.float32)
    Y = csr_matrix(np.repeat(np.eye(2), 50, 0))
    (tree,) = grow_trees(X, Y, Growth("means", leaf_size=50), [7], row_weights=np.ones(100))
    assert len(tree.first_child) == 3
    sides = [set(tree.rows[tree.starts[node] : tree.ends[node]]) for node in (1, 2)]
    assert sorted(map(min, sides)) == [0, 50]
    assert {len(side) for side in sides} == {50}


def test_the_same_trees_on_any_number_of_threads() -> None:
    X, Y = ROWS_AND_LABELS
    grown = [grow_trees(X, Y, Growth(C=5.0), [1, 2, 3], n_threads=n) for n in (1, 3)]
    for one, other in zip(*grown, strict=True):
        for part, same in zip(one, other, strict=True):
            assert np.array_equal(part, same)


def test_answers_do_not_depend_on_who_is_asked_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = ROWS_AND_LABELS
    forest = RowForest(grow_trees(X, Y, Growth(C=5.0), [1, 2]), X.shape[1], Y.shape[1])
    together = forest.leaves(X)
    assert np.array_equal(together[17], forest.leaves(X[17])[0])
    monkeypatch.setattr(threads, "current", lambda: 3)
    assert np.array_equal(together, forest.leaves(X))


def test_a_hyperplane_learned_from_some_rows_still_sends_all() -> None:
    X, Y = ROWS_AND_LABELS
    (tree,) = grow_trees(X, Y, Growth(C=5.0, split_rows=40), [1])
    assert len(tree.first_child) > 5
    assert tree.ends[0] == 200
    assert _tree_kernels.MOST_LEVELS >= 100
