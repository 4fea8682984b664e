"""Logistic classifiers of a tree's nodes, against scikit-learn's and against calculus."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from labelspace.linear.node_classifiers import train_node_classifiers
from tests.planted import planted_corpus, random_tree


@pytest.fixture(scope="module")
def problem():
    X, Y = planted_corpus(150)
    X = csr_matrix(X, dtype=np.float32)
    Y = csr_matrix(Y, dtype=np.float32)
    tree = random_tree(Y.shape[1], branching=2, leaf_size=1)
    return X, tree, tree.positive_nodes(Y)


def rows_of_child(problem, child):
    """Return the rows at a child's parent, with a constant, and whether they are at the child."""
    X, tree, right = problem
    there = np.flatnonzero(right[:, tree.parents[child]].toarray().ravel())
    rows = np.hstack([X[there].toarray(), np.ones((len(there), 1))])
    return rows, right[there][:, child].toarray().ravel() > 0


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_weights_are_those_of_scikit_learn(problem, C):
    X, tree, right = problem
    trained = train_node_classifiers(X, tree, right, loss="logistic", C=C, tol=1e-3, max_iter=2000)
    for child in range(1, tree.n_nodes, 3):
        rows, at_child = rows_of_child(problem, child)
        if at_child.all() or not at_child.any():
            continue
        own_C = C * (X.shape[0] / len(rows)) ** 0.25
        model = LogisticRegression(C=own_C, fit_intercept=False, tol=1e-8, max_iter=5000)
        expected = model.fit(rows, at_child).coef_.ravel()
        found = np.append(trained.weights[child].toarray().ravel(), trained.biases[child])
        np.testing.assert_allclose(found, expected, atol=0.02 * np.abs(expected).max())


def test_no_small_step_from_the_weights_lowers_the_objective(problem):
    X, tree, right = problem
    C = 2.0
    trained = train_node_classifiers(X, tree, right, loss="logistic", C=C, tol=1e-4, max_iter=5000)
    child = 1
    rows, at_child = rows_of_child(problem, child)
    signs = np.where(at_child, 1.0, -1.0)
    w = np.append(trained.weights[child].toarray().ravel(), trained.biases[child]).astype(float)

    def objective(w):
        return 0.5 * w @ w + C * np.log1p(np.exp(-signs * (rows @ w))).sum()

    gradient = w - C * rows.T @ (signs / (1.0 + np.exp(signs * (rows @ w))))
    steps = 1e-5 * np.eye(len(w))
    numeric = [(objective(w + step) - objective(w - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, numeric, atol=1e-4)
    assert np.abs(numeric).max() < 0.01 * C * len(rows)


def test_threads_do_not_change_the_weights(problem):
    X, tree, right = problem
    one, two = (
        train_node_classifiers(X, tree, right, loss="logistic", n_threads=n) for n in (1, 2)
    )
    assert (one.weights != two.weights).nnz == 0
    np.testing.assert_array_equal(one.biases, two.biases)


def test_small_weights_are_cut(problem):
    X, tree, right = problem
    cut = train_node_classifiers(X, tree, right, loss="logistic", min_weight=0.2)
    assert np.abs(cut.weights.data).min() >= 0.2
