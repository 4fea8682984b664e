"""Random walks, and their kernels."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.models.dxml.walks import random_walks


def a_graph(n: int = 30, seed: int = 0) -> csr_matrix:
    rng = np.random.default_rng(seed)
    half = np.triu(rng.random((n, n)) < 0.15, 1) * rng.integers(1, 5, size=(n, n))
    return csr_matrix((half + half.T).astype(np.float32))


def test_every_step_is_an_edge_and_every_node_starts_as_often():
    graph = a_graph()
    walks = random_walks(graph, n_walks=4, length=12, seed=3)
    there = graph.toarray() > 0
    assert there[walks[:, :-1], walks[:, 1:]].all()
    has_edges = there.any(axis=1)
    assert np.array_equal(np.bincount(walks[:, 0], minlength=30), 4 * has_edges)


def test_edges_are_taken_in_proportion_to_their_weight():
    star = csr_matrix(np.array([[0, 1, 3], [1, 0, 0], [3, 0, 0]], dtype=np.float32))
    walks = random_walks(star, n_walks=2000, length=2, seed=0)
    taken = walks[walks[:, 0] == 0, 1]
    assert abs(np.mean(taken == 2) - 0.75) < 0.04


def test_equal_weights_are_taken_equally_often():
    star = csr_matrix(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]], dtype=np.float32))
    walks = random_walks(star, n_walks=2000, length=2, seed=0)
    assert abs(np.mean(walks[walks[:, 0] == 0, 1] == 2) - 0.5) < 0.04


def test_walks_depend_on_the_seed_and_not_on_the_threads():
    graph = a_graph(n=200)
    one = random_walks(graph, 40, 10, seed=1, n_threads=1)
    assert np.array_equal(one, random_walks(graph, 40, 10, seed=1, n_threads=4))
    assert not np.array_equal(one, random_walks(graph, 40, 10, seed=2))


def test_a_way_without_return_ends_the_walk():
    one_way = csr_matrix(np.array([[0, 1], [0, 0]], dtype=np.float32))
    assert random_walks(one_way, 1, 4).tolist() == [[0, 1, -1, -1]]


def test_a_graph_without_edges_has_no_walks():
    assert random_walks(csr_matrix((5, 5), dtype=np.float32), 3, 4).shape == (0, 4)
