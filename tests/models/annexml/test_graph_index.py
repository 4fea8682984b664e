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


def test_the_tree_shares_all_rows_out_to_leaves_of_ten_at_most() -> None:
    keys = unit_vectors(300)
    centroids, children, bounds, rows = kernels.grow(keys, 10, 0)
    leaves = bounds[children < 0]
    assert np.array_equal(np.sort(rows), np.arange(300))
    assert np.diff(leaves, axis=1).sum() == 300
    assert np.diff(leaves, axis=1).max() <= 10
    start, end = bounds[1]
    assert centroids[1] == pytest.approx(keys[rows[start:end]].mean(axis=0), abs=1e-5)


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
