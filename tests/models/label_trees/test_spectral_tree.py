from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.label_trees.spectral_tree import (
    TreeShape,
    kmeans_split,
    learn_tree,
    random_tree,
    spectral_split,
    spectral_tree,
)
from tests.planted import grouped_affinity, planted_corpus

CAT, TIGER, PEN, PENCIL = range(4)
# The confusions of the slides on label embedding trees.
ALIKE = csr_matrix(
    [[1, 0.6, 0.1, 0.12], [0.6, 1, 0.2, 0.16], [0.1, 0.2, 1, 0.9], [0.12, 0.16, 0.9, 1]]
)


def test_cats_and_pens_part_as_on_the_slides():
    tree = spectral_tree(ALIKE, np.arange(4), branching=2)
    parts = {tuple(tree.labels_of(node)) for node in tree.children(0)}
    assert parts == {(CAT, TIGER), (PEN, PENCIL)}
    assert tree.depth == 2


@pytest.mark.parametrize("size", [20, 120])
def test_groups_are_found_again(size):
    order = np.random.default_rng(1).permutation(4 * size)
    alike = csr_matrix(grouped_affinity(4, size)[order][:, order])
    parts = {frozenset(order[part] // size) for part in spectral_split(alike, 4)}
    assert parts == {frozenset([group]) for group in range(4)}


@pytest.mark.parametrize(("balance", "largest"), [(1.0, 25), (0.5, 50), (0.0, 97)])
def test_balance_bounds_the_largest_part(balance, largest):
    points = np.concatenate([np.zeros((97, 3)), np.eye(3) * 9])
    points += np.random.default_rng(0).normal(scale=0.01, size=points.shape)
    sizes = [part.size for part in kmeans_split(points, 4, balance=balance)]
    assert sum(sizes) == 100
    assert max(sizes) == largest


def test_labels_that_nothing_is_alike_to_are_placed_too():
    tree = spectral_tree(csr_matrix((500, 500)), np.arange(500), branching=4, balance=0.5)
    assert tree.labels_of(0).size == 500


def test_a_random_tree_has_all_labels_in_parts_of_one_size():
    tree = random_tree(np.arange(64), 64, branching=4, leaf_size=4)
    assert tree.labels_of(0).tolist() == list(range(64))
    assert [tree.labels_of(node).size for node in tree.children(0)] == [16] * 4
    assert tree.depth == 3


@pytest.mark.parametrize("affinity", ["centroid", "random"])
def test_a_tree_is_learned_of_the_labels_that_rows_have(affinity):
    X, Y = planted_corpus(100)
    Y = csr_matrix(Y.multiply(np.arange(12) < 9), dtype=np.float32)
    Y.eliminate_zeros()
    tree = learn_tree(X, Y, TreeShape(branching=3, leaf_size=2), affinity)
    assert tree.labels_of(0).tolist() == list(range(9))
    assert tree.n_labels == 12


def test_without_any_label_the_first_is_the_tree():
    nothing = csr_matrix((4, 3), dtype=np.float32)
    assert learn_tree(nothing, nothing, TreeShape(), "random").leaf_labels.tolist() == [-1, 0]
