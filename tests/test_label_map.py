"""Labels' parents and nearest labels, and where that puts them in a disk."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from labelspace.label_map import NO_PARENT, Relations, tree_positions


def test_parents_are_the_narrowest_labels_that_hold_a_label():
    # animal ⊃ dog ⊃ poodle, animal ⊃ cat, and a label that is never with others
    rows = [[0], [0, 1], [0, 1, 2], [0, 1], [0, 3], [0, 3], [4]]
    Y = np.zeros((len(rows), 5), dtype=np.float32)
    for row, labels in enumerate(rows):
        Y[row, labels] = 1
    relations = Relations(csr_matrix(Y.T), Y.sum(axis=0).astype(np.int64))
    assert relations.parent.tolist() == [NO_PARENT, 0, 1, 0, NO_PARENT]
    assert relations.nearest[2, :2].tolist() == [1, 0]
    assert (relations.nearest[4] == -1).all()


@given(st.integers(1, 60), st.integers(0, 10**6))
def test_a_layout_is_the_same_each_time_with_rarer_labels_further_out(n: int, seed: int):
    rng = np.random.default_rng(seed)
    rank = rng.permutation(n)
    order = np.argsort(rank)
    parent = np.full(n, NO_PARENT)
    for place, label in enumerate(order):
        if place and rng.random() < 0.8:
            parent[label] = order[rng.integers(place)]
    places = tree_positions(parent, rank)
    radius = np.linalg.norm(places, axis=1)
    assert (np.diff(radius[order]) >= -1e-6).all()  # the rarer, the further out
    assert radius.max() <= 1 + 1e-6
    assert np.array_equal(places, tree_positions(parent, rank))
