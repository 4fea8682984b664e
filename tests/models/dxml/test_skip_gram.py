"""Skip-gram, and its kernels."""

from __future__ import annotations

import numpy as np

from labelspace.models.dxml import _skip_gram_kernels as kernels
from labelspace.models.dxml.skip_gram import skip_gram
from labelspace.models.dxml.walks import random_walks
from tests.models.dxml.villages import share_of_own_village, villages


def test_nodes_of_one_village_come_together():
    graph = villages()
    walks = random_walks(graph, 20, 20)
    assert share_of_own_village(skip_gram(walks, 48, 16)) > 0.9
    assert share_of_own_village(np.random.default_rng(0).random((48, 16), dtype=np.float32)) < 0.4


def test_the_result_is_the_same_on_any_number_of_threads():
    graph = villages(60)
    walks = random_walks(graph, 4, 10)
    one = skip_gram(walks, 480, 8, n_epochs=2, n_threads=1)
    assert np.array_equal(one, skip_gram(walks, 480, 8, n_epochs=2, n_threads=4))
    assert not np.array_equal(one, skip_gram(walks, 480, 8, n_epochs=2, seed=1))


def test_pairs_are_grouped_by_the_cells_of_node_and_context():
    walks = random_walks(villages(), 2, 6, seed=5)
    contexts, starts = kernels.group_pairs(walks, 4, 12, 2, 7)
    near = np.zeros((48, 48), dtype=bool)
    for walk in walks:
        for step in (1, 2):
            near[walk[:-step], walk[step:]] = near[walk[step:], walk[:-step]] = True
    assert starts[-1] == contexts.size > walks.size
    for key in range(4 * 4 * 12):
        node = (key % 12) * 4 + key // 48
        for context in contexts[starts[key] : starts[key + 1]]:
            assert context % 4 == (key // 12) % 4
            assert near[node, context]


def test_one_pair_moves_as_the_formula_says():
    inputs = np.array([[0.3, -0.2], [0.0, 0.0]], dtype=np.float32)
    outputs = np.array([[0.1, 0.4], [-0.5, 0.2]], dtype=np.float32)
    u, v, rate = inputs[0].copy(), outputs[1].copy(), 0.1
    contexts, starts = np.array([1], dtype=np.int32), np.array([0, 1, 1])
    noise = np.full((1, 4), -1, dtype=np.int32)
    rates = np.full(2, rate, dtype=np.float32)
    kernels.train_cell(contexts, starts, 0, 0, noise, 0, 8, rates, 1, inputs, outputs)
    slope = rate * (1 - 1 / (1 + np.exp(-u @ v)))
    assert np.allclose(inputs[0], u + slope * v, atol=1e-3 * rate)
    assert np.allclose(outputs[1], v + slope * u, atol=1e-3 * rate)


def test_nodes_that_no_walk_meets_keep_their_vector():
    walks = np.array([[0, 1, 0, 1]] * 10, dtype=np.int32)
    start, learned = skip_gram(walks[:0], 5, 4), skip_gram(walks, 5, 4)
    assert np.array_equal(learned[2:], start[2:])
    assert not np.array_equal(learned[:2], start[:2])


def test_large_steps_do_not_end_in_the_infinite():
    walks = random_walks(villages(1, 4), 200, 20)
    assert np.isfinite(skip_gram(walks, 4, 8, learning_rate=0.3, n_epochs=10)).all()


def test_vectors_stay_finite_however_large_the_steps():
    walks = np.zeros((2000, 40), dtype=np.int32)
    walks[:, ::4] = np.random.default_rng(0).integers(1, 500, (2000, 10))
    vectors = skip_gram(walks, 500, 64, learning_rate=1.0, n_negatives=20)
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1).max() <= 10.001
