from __future__ import annotations

import numpy as np
import pytest

from labelspace.encoders.unit_rows import UnitRows
from labelspace.graph.label_knn import label_knn
from labelspace.models.annexml.label_partition import balanced, learn_partition
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def corpus():
    X, Y = planted_corpus(600)
    return UnitRows().encode(X), Y


def agreement(parts: np.ndarray, neighbors: np.ndarray) -> float:
    """Share of neighbours that are in the part of their row."""
    there = neighbors >= 0
    return float((parts[:, np.newaxis] == parts[neighbors])[there].mean())


def test_learned_partition_keeps_neighbors_together(corpus) -> None:
    X, Y = corpus
    graph = label_knn(Y, 10)
    partition = learn_partition(X, graph, 3, seed=0, l1=0.1)
    parts = partition.assign(X)
    shares = np.bincount(parts, minlength=3) / parts.size
    by_chance = np.square(shares).sum()
    assert partition.n_parts == 3
    assert agreement(parts, graph.neighbors) > by_chance + 0.1


def test_l1_makes_weights_zero(corpus) -> None:
    X, Y = corpus
    graph = label_knn(Y, 10)
    few, many = (learn_partition(X, graph, 3, seed=0, l1=l1).weights.nnz for l1 in (6.0, 0.1))
    assert few < many


def test_learned_partition_is_decided_by_its_seed(corpus) -> None:
    X, Y = corpus
    graph = label_knn(Y, 10)
    one, two = (learn_partition(X, graph, 3, seed=4).assign(X) for _ in range(2))
    assert np.array_equal(one, two)


def test_balanced_parts_have_room_for_their_share_only() -> None:
    scores = np.random.default_rng(0).random((1000, 7)).astype(np.float32)
    scores[:, 0] += 0.5
    sizes = np.bincount(balanced(scores, slack=0.1), minlength=7)
    assert sizes.sum() == 1000
    assert sizes.max() <= np.ceil(1.1 * 1000 / 7)
