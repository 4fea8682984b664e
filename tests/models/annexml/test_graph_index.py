"""What is special about the original program's search."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import labelspace
from labelspace.models import AnnexML
from labelspace.models.annexml import _graph_index_kernels as kernels
from labelspace.models.annexml.graph_index import GraphIndex, nearest_rows
from labelspace.search.exact import ExactIndex
from tests.planted import planted_corpus


def unit_vectors(n: int, dim: int = 8, seed: int = 0) -> np.ndarray:
    Z = np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def test_most_of_the_nearest_are_found_with_their_cosines() -> None:
    keys, queries = unit_vectors(1500), unit_vectors(100, seed=1)
    ids = np.arange(1500)[::-1] + 7
    exact, walked = (kind(keys, ids).search(queries, 10) for kind in (ExactIndex, GraphIndex))
    same = np.mean([len(set(one) & set(two)) for one, two in zip(exact.ids, walked.ids)])  # noqa: B905
    assert same > 9.5
    found = exact.ids == walked.ids
    assert walked.products[found] == pytest.approx(exact.products[found], abs=1e-5)
    assert np.all(np.diff(walked.products, axis=1) <= 0)


def test_a_walk_stays_where_it_begins_if_nothing_near_leads_on() -> None:
    # Two far groups, with edges inside each only: the tree leads to one, and no walk leads out.
    near, far = unit_vectors(60, 3), unit_vectors(60, 3, seed=1)
    near[:, 0], far[:, 0] = 5.0, -5.0
    keys = np.concatenate((near, far))
    keys = (keys / np.linalg.norm(keys, axis=1, keepdims=True)).astype(np.float32)
    edges = nearest_rows(keys, 50)
    assert np.all((edges < 60) == (np.arange(120) < 60)[:, np.newaxis])
    found = GraphIndex(keys).search(keys[:5], 60).ids
    assert np.all(found < 60)


def walked(distances: list[float], edges: list[list[int]], leaf: list[int], k: int) -> list[int]:
    """Walk from a leaf among points on a line to 0; -1 where there is no edge."""
    keys = np.sqrt(np.array(distances, dtype=np.float32))[:, np.newaxis]
    tree = np.zeros((1, 1), np.float32), np.array([-1]), np.array([[0, len(leaf)]]), np.array(leaf)
    graph = np.array(edges, dtype=np.int32)
    query = np.zeros((1, 1), dtype=np.float32)
    places, squares = kernels.walk(query, keys, *tree, graph, k, np.float32(1.0))
    found = places[0][places[0] >= 0]
    assert squares[0][: found.size] == pytest.approx(np.array(distances)[found], rel=1e-5)
    return found.tolist()


def test_a_row_that_is_the_new_worst_leads_nowhere_even_while_few_are_found() -> None:
    # From row 0 (4) to row 1 (5), the worst of two: row 2 behind it, the nearest, stays unknown.
    assert walked([4, 5, 1], [[1], [2], [1]], leaf=[0], k=3) == [0, 1]
    # Row 1 at 3 is not the worst, so that the walk goes on.
    assert walked([4, 3, 1], [[1], [2], [1]], leaf=[0], k=3) == [2, 1, 0]


def test_a_row_counts_where_it_lies_highest_on_the_stack() -> None:
    # Row 0 puts 1 and 2 on the stack. Row 2 (8) puts 3 and 1 there: row 1 (6) is tried next and is
    # not the worst of two, so that row 4 behind it is met, and then row 3.
    graph = [[1, 2], [4, -1], [3, 1], [-1, -1], [-1, -1]]
    assert walked([9, 6, 8, 2, 1], graph, leaf=[0], k=2) == [4, 3]
    # If row 3 (2) is tried first, row 1 is the worst of two when its turn comes.
    graph[2] = [1, 3]
    assert walked([9, 6, 8, 2, 1], graph, leaf=[0], k=2) == [3, 1]


def test_a_heap_is_laid_out_as_by_the_standard_library_of_c() -> None:
    heap, distances, size = np.full(4, -1, np.int32), np.zeros(4, np.float32), 0
    for row, distance in enumerate([3, 1, 4, 1.5, 9, 2, 0.5]):
        size = kernels.keep(heap, distances, size, row, np.float32(distance))
    # 4 1.5 3 1 after four rows, 9 is too far; 2 takes the place of 4, and 0.5 that of 3.
    assert distances.tolist() == [2.0, 1.5, 1.0, 0.5]
    assert heap.tolist() == [5, 3, 1, 6]


def test_edges_come_farthest_first() -> None:
    angles = np.array([0.0, 0.1, 0.3, 0.7])
    keys = np.column_stack((np.cos(angles), np.sin(angles))).astype(np.float32)
    assert nearest_rows(keys, 2).tolist() == [[2, 1], [2, 0], [0, 1], [1, 2]]


def test_the_tree_shares_all_rows_out_to_leaves_of_ten_at_most() -> None:
    keys = unit_vectors(300)
    centroids, children, bounds, rows = kernels.grow(keys, 10, 0)
    leaves = bounds[children < 0]
    assert np.array_equal(np.sort(rows), np.arange(300))
    assert np.diff(leaves, axis=1).sum() == 300
    assert np.diff(leaves, axis=1).max() <= 10
    start, end = bounds[1]
    assert centroids[1] == pytest.approx(keys[rows[start:end]].mean(axis=0), abs=1e-5)


def test_a_leaf_has_as_many_rows_as_are_wanted(monkeypatch) -> None:
    sizes = []
    grow = kernels.grow
    monkeypatch.setattr(kernels, "grow", lambda *told: sizes.append(told[1]) or grow(*told))
    index = GraphIndex(unit_vectors(40))
    for k in (10, 10, 5, 100):
        index.search(unit_vectors(2, seed=1), k)
    assert sizes == [10, 5, 40]  # BuildSearchIndex: max_in_leaf = num_nn


def test_keys_that_are_added_are_found() -> None:
    keys = unit_vectors(40)
    index = GraphIndex(keys[:30])
    assert not np.isin(np.arange(30, 40), index.search(keys, 5).ids).any()
    index.add(keys[30:], np.arange(30, 40))
    assert np.array_equal(index.search(keys, 5).ids[:, 0], np.arange(40))


@pytest.mark.parametrize("n", [1, 2, 11])
def test_few_rows_and_copies_are_no_trouble(n: int) -> None:
    keys = np.repeat(unit_vectors(1), n, axis=0)
    assert np.array_equal(np.sort(GraphIndex(keys).search(keys[:1], 20).ids[0]), np.arange(n))


def test_a_saved_model_answers_alike_and_learns_on(tmp_path: Path) -> None:
    X, Y = planted_corpus(200)
    model = AnnexML(preset="paper", n_learners=2, n_epochs=2, random_state=0).fit(X, Y)
    before = model.predict_topk(X, 3)
    model.save(tmp_path / "model")
    again = labelspace.load(tmp_path / "model")
    assert np.array_equal(again.predict_topk(X, 3).labels, before.labels)
    assert sorted(file.name for file in (tmp_path / "model").rglob("*edges*")) == []
    again.partial_fit(X[:5], Y[:5])
    assert again.predict_topk(X[:5], 3).labels.shape == (5, 3)
