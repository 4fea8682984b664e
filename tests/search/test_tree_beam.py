from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from labelspace.graph.tree import Tree
from labelspace.search.tree_beam import DenseTreeIndex, TreeIndex
from tests.planted import random_tree


def log_probabilities(scores: np.ndarray, link: str) -> np.ndarray:
    if link == "logistic":
        return -np.log1p(np.exp(-scores))
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def path_scores(tree: Tree, scores: np.ndarray, link: str) -> np.ndarray:
    """Return the score of each node's path, all nodes looked at."""
    paths = np.zeros_like(scores)
    for node in tree.inner:
        children = tree.children(node)
        paths[:, children] = paths[:, [node]] + log_probabilities(scores[:, children], link)
    return paths


def problem(
    n_labels: int = 40, leaf_size: int = 2
) -> tuple[Tree, csr_matrix, np.ndarray, csr_matrix]:
    random = np.random.default_rng(0)
    tree = random_tree(n_labels, branching=3, leaf_size=leaf_size)
    weights = csr_matrix(
        random_array((tree.n_nodes, 25), density=0.4, rng=random), dtype=np.float32
    )
    weights.data -= 0.5
    biases = random.normal(size=tree.n_nodes).astype(np.float32)
    X = csr_matrix(random_array((30, 25), density=0.3, rng=random), dtype=np.float32)
    X.sort_indices()
    return tree, weights, biases, X


@pytest.mark.parametrize("link", ["logistic", "softmax"])
def test_full_width_finds_what_looking_at_every_leaf_finds(link):
    tree, weights, biases, X = problem()
    found = TreeIndex(tree, weights, biases, link=link).search(X, 5, beam=tree.n_nodes)
    paths = path_scores(tree, X @ weights.T.toarray() + biases, link)
    leaves = np.flatnonzero(tree.leaf_labels >= 0)
    best = leaves[np.argsort(-paths[:, leaves], axis=1, kind="stable")[:, :5]]
    assert np.array_equal(found.top.labels, tree.leaf_labels[best])
    np.testing.assert_allclose(
        found.top.scores, np.take_along_axis(paths, best, axis=1), rtol=1e-4, atol=1e-5
    )
    assert np.all(found.n_products <= tree.n_nodes - 1)


def test_a_beam_of_one_follows_the_best_child():
    tree, weights, biases, X = problem(n_labels=27, leaf_size=3)
    scores = X @ weights.T.toarray() + biases
    found = TreeIndex(tree, weights, biases, link="softmax").search(X, 1, beam=1)
    for row in range(X.shape[0]):
        node, n_products = 0, 0
        while tree.leaf_labels[node] < 0:
            children = tree.children(node)
            n_products += children.size
            node = children[scores[row, children].argmax()]
        assert found.top.labels[row, 0] == tree.leaf_labels[node]
        assert found.n_products[row] == n_products


def test_dense_nodes_answer_as_the_same_sparse_ones():
    tree, weights, biases, X = problem()
    sparse = TreeIndex(tree, weights, biases).search(X, 4, beam=3)
    dense = DenseTreeIndex(tree, weights.toarray(), biases, link="logistic").search(
        X.toarray(), 4, 3
    )
    assert np.array_equal(sparse.top.labels, dense.top.labels)
    np.testing.assert_allclose(sparse.top.scores, dense.top.scores, rtol=1e-4, atol=1e-5)


def test_a_label_with_two_leaves_is_found_once_with_its_better_score():
    tree = Tree.from_nested([[0, 1], [1, 2]], n_labels=3)
    biases = np.array([0, 0, 0, 0, 0.5, 0.8, 0], dtype=np.float32)
    index = TreeIndex(tree, csr_matrix((7, 2), dtype=np.float32), biases)
    top = index.search(csr_matrix((1, 2), dtype=np.float32), 3, beam=5).top
    assert top.labels.tolist() == [[1, 0, 2]]
    expected = -np.log1p(np.exp([[-0.8, 0, 0]])) + np.log(0.5)
    np.testing.assert_allclose(top.scores, expected, atol=1e-6)


def test_a_narrow_beam_may_find_fewer_labels_than_asked():
    tree = Tree.from_nested([[0, 1], [2, 3]], n_labels=4)
    index = TreeIndex(tree, csr_matrix((7, 2), dtype=np.float32), np.zeros(7, dtype=np.float32))
    top = index.search(csr_matrix((1, 2), dtype=np.float32), 4, beam=1).top
    assert top.labels.tolist() == [[0, 1, -1, -1]]
