from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from labelspace.graph.tree import Tree
from labelspace.linear.node_classifiers import train_node_classifiers
from tests.planted import tree_problem


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_siblings_are_told_apart_on_the_rows_at_their_parent(loss):
    X, tree, right = tree_problem()
    how = {"C": 0.5, "tol": 1e-5, "max_iter": 20_000}
    trained = train_node_classifiers(X, tree, right, loss=loss, **how)
    for child in range(1, tree.n_nodes):
        here = right[:, [tree.parents[child]]].toarray().ravel() > 0
        y = right[:, [child]].toarray().ravel()[here]
        model = LinearSVC(
            C=0.5, loss=loss, fit_intercept=False, dual=True, tol=1e-7, max_iter=10**6
        )
        expected = model.fit(np.hstack([np.ones((X.shape[0], 1)), X.toarray()])[here], y).coef_[0]
        found = np.append(trained.biases[child], trained.weights[[child]].toarray())
        np.testing.assert_allclose(found, expected, atol=2e-3)


def test_the_number_of_threads_does_not_change_the_answer():
    X, tree, right = tree_problem()
    one, two = (train_node_classifiers(X, tree, right, n_threads=n, seed=3) for n in (1, 2))
    np.testing.assert_array_equal(one.weights.toarray(), two.weights.toarray())
    np.testing.assert_array_equal(one.biases, two.biases)


def test_an_only_child_needs_no_weights():
    X = csr_matrix(np.eye(3, dtype=np.float32))
    tree = Tree.from_nested([0], n_labels=1)
    trained = train_node_classifiers(X, tree, tree.positive_nodes(csr_matrix(np.ones((3, 1)))))
    assert trained.weights.nnz == 0
    assert trained.biases[1] == 1.0
