from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.label_trees.overlapping_split import assign_labels, overlapping_split


def ambiguity_of(held: np.ndarray, routes: np.ndarray) -> float:
    """Labels that a step leaves on average, as a multiple of an even split's."""
    left = routes @ held.sum(axis=1)
    return float(left.sum() / routes.sum() / held.shape[1] * held.shape[0])


def accuracy_of(held: np.ndarray, routes: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(held[routes.argmax(axis=1), y]))


@pytest.mark.parametrize("ambiguity", [1.3, 1.6, 1.9])
def test_no_other_placing_within_the_bound_is_right_more_often(ambiguity):
    random = np.random.default_rng(0)
    y = random.integers(4, size=60)
    goes = np.where(random.random(60) < 0.7, y % 2, random.integers(2, size=60))
    routes = np.eye(2, dtype=bool)[goes]
    Y = csr_matrix(np.eye(4, dtype=np.float32)[y])
    held = assign_labels(routes, Y, room=2, ambiguity=ambiguity)
    assert ambiguity_of(held, routes) <= ambiguity
    best = 0.0
    for bits in product([False, True], repeat=8):
        other = np.array(bits).reshape(2, 4)
        if other.any(axis=0).all() and ambiguity_of(other, routes) <= ambiguity:
            best = max(best, accuracy_of(other, routes, y))
    # The knapsack is filled greedily: the last label that would not fit may be missing.
    largest = max(np.bincount(2 * y + goes)) / 60
    assert accuracy_of(held, routes, y) >= best - largest


def test_every_label_has_a_first_place_and_children_have_room():
    random = np.random.default_rng(1)
    routes = random.random((50, 3)) < 0.5
    Y = csr_matrix(random.random((50, 9)) < 0.2, dtype=np.float32)
    held = assign_labels(routes, Y, room=3, ambiguity=1.0)
    assert held.any(axis=0).all()
    assert held.sum(axis=1).tolist() == [3, 3, 3]


def test_labels_that_share_rows_words_are_split_together():
    random = np.random.default_rng(0)
    y = random.integers(6, size=300)
    X = np.zeros((300, 8))
    X[np.arange(300), y // 3] = 1.0
    X[np.arange(300), 2 + y] = 0.3
    Y = csr_matrix(np.eye(6, dtype=np.float32)[y])
    parts = overlapping_split(csr_matrix(X, dtype=np.float32), Y, 2, ambiguity=1.0)
    assert {tuple(part) for part in parts} == {(0, 1, 2), (3, 4, 5)}
