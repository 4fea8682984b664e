from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.graph.tree import Tree, grow_tree


def halves(labels: np.ndarray) -> list[np.ndarray]:
    return list(np.array_split(labels, 2))


def test_children_lie_side_by_side_and_know_their_parents():
    tree = Tree.from_nested([[0, [1, 2]], 3], n_labels=4)
    assert tree.n_nodes == 7
    assert tree.depth == 3
    assert tree.levels.tolist() == [0, 1, 1, 2, 2, 3, 3]
    for node in range(1, tree.n_nodes):
        assert node in tree.children(tree.parents[node])


def test_a_node_holds_the_labels_of_its_children():
    tree = grow_tree(np.arange(13), 13, halves, leaf_size=1)
    for node in tree.inner:
        below = np.concatenate([tree.labels_of(child) for child in tree.children(node)])
        assert sorted(below) == tree.labels_of(node).tolist()
    assert not tree.overlaps


def test_membership_says_what_labels_of_says():
    tree = grow_tree(np.array([2, 3, 5, 7, 11]), 12, halves, leaf_size=2)
    held = tree.membership()
    assert held.shape == (12, tree.n_nodes)
    for node in range(tree.n_nodes):
        assert np.flatnonzero(held[:, [node]].toarray()).tolist() == tree.labels_of(node).tolist()


def test_a_node_is_right_if_it_holds_any_label_of_the_row():
    tree = Tree.from_nested([[0, 1], [2, 3]], n_labels=4)
    right = tree.positive_nodes(csr_matrix([[1, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0]])).toarray()
    assert right[:, :3].tolist() == [[1, 1, 0], [1, 1, 1], [0, 0, 0]]


def test_leaf_size_and_depth_end_the_splitting():
    assert grow_tree(np.arange(32), 32, halves, leaf_size=1).depth == 5
    assert grow_tree(np.arange(32), 32, halves, leaf_size=8).depth == 3
    assert grow_tree(np.arange(32), 32, halves, leaf_size=1, max_depth=2).depth == 2


def test_a_label_may_be_in_several_children():
    tree = grow_tree(np.arange(3), 3, lambda held: [held[:2], held[1:]], leaf_size=2)
    assert tree.overlaps
    assert np.count_nonzero(tree.leaf_labels == 1) == 2


def test_a_split_that_does_not_split_ends():
    tree = grow_tree(np.arange(5), 5, lambda held: [held, held], leaf_size=2)
    assert tree.depth == 1


def test_one_label_is_the_only_child():
    tree = grow_tree(np.array([4]), 9, halves, leaf_size=1)
    assert tree.leaf_labels.tolist() == [-1, 4]
