"""Best-first search, against a look at every leaf."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_matrix

from labelspace.graph.tree import Tree
from labelspace.models.hierarchical_xc.best_first import BestFirstIndex
from tests.planted import random_tree


def every_leaf(tree: Tree, weights: csr_matrix, biases: np.ndarray, X: csr_matrix) -> np.ndarray:
    """Return the probability of each label, multiplied along its path."""
    scores = np.asarray((X @ weights.T).todense()) + biases
    log_probabilities = -np.log1p(np.exp(-scores))
    log_probabilities[:, 0] = 0.0
    for node in range(1, tree.n_nodes):
        log_probabilities[:, node] += log_probabilities[:, tree.parents[node]]
    labels = np.full((X.shape[0], tree.n_labels), -np.inf)
    leaves = np.flatnonzero(tree.leaf_labels >= 0)
    labels[:, tree.leaf_labels[leaves]] = log_probabilities[:, leaves]
    return labels


@pytest.fixture(params=[(2, 1, 10), (2, 1, 300), (4, 8, 10)], ids=str)
def search(request):
    branching, leaf_size, n_features = request.param
    tree = random_tree(100, branching=branching, leaf_size=leaf_size)
    random = np.random.default_rng(0)
    weights = csr_matrix(
        random_matrix(tree.n_nodes, n_features, 0.3, random_state=0, dtype=np.float32)
    )
    weights.data = random.normal(size=weights.nnz).astype(np.float32)
    biases = random.normal(size=tree.n_nodes).astype(np.float32)
    X = csr_matrix(random_matrix(40, n_features, 0.4, random_state=1, dtype=np.float32))
    return tree, weights, biases, X


@pytest.mark.parametrize("k", [1, 5, 100])
def test_the_labels_are_those_of_looking_at_every_leaf(search, k):
    tree, weights, biases, X = search
    found = BestFirstIndex(tree, weights, biases).search(X, k)
    expected = every_leaf(tree, weights, biases, X)
    order = np.argsort(-expected, axis=1)[:, :k]
    np.testing.assert_array_equal(found.top.labels, order)
    np.testing.assert_allclose(
        found.top.scores, np.take_along_axis(expected, order, axis=1), atol=1e-4
    )


def test_few_nodes_are_visited_for_few_labels(search):
    tree, weights, biases, X = search
    index = BestFirstIndex(tree, 20 * weights, biases)
    few, all_of_them = index.search(X, 1).n_products, index.search(X, 100).n_products
    assert np.all(all_of_them == tree.n_nodes - 1)
    assert few.mean() < 0.5 * tree.n_nodes


def test_labels_without_a_leaf_are_never_found():
    tree = Tree.from_nested([3, 1], n_labels=5)
    index = BestFirstIndex(tree, csr_matrix((3, 2), dtype=np.float32), np.zeros(3))
    found = index.search(csr_matrix((1, 2), dtype=np.float32), 4)
    assert found.top.labels.tolist() == [[1, 3, -1, -1]]


def test_the_weights_of_a_path_are_added_up(search):
    tree, weights, biases, X = search
    index = BestFirstIndex(tree, weights, biases)
    for label in (0, 57):
        nodes = [node for node in range(1, tree.n_nodes) if label in tree.labels_of(node)]
        expected = np.asarray(weights[nodes].sum(axis=0)).ravel()
        found = index.path_weights(label, X.shape[1]).toarray().ravel()
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_with_one_half_nodes_decide_for_none_one_or_both_of_their_children():
    # The report, section 4: "Based on the output, none, one, or both branches might be traversed."
    tree = Tree.from_nested([[0, 1], [2, 3]], n_labels=4)
    # Columns: node 1 (labels 0 and 1), node 2 (2 and 3), then the labels themselves.
    scores = np.array([[0, 1, 1, 1, 1, -1, -1], [0, 1, -1, -1, 1, 1, 1], [0, -1, -1, 1, 1, 1, 1]])
    index = BestFirstIndex(
        tree, csr_matrix(scores.T.astype(np.float32)), np.zeros(7, dtype=np.float32)
    )
    top = index.search(csr_matrix(np.eye(3, dtype=np.float32)), 4, least=0.5).top
    assert [sorted(row[row >= 0].tolist()) for row in top.labels] == [[0, 1], [1], []]
    assert (index.search(csr_matrix(np.eye(3, dtype=np.float32)), 4).top.labels >= 0).all()
