from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from labelspace.graph.tree import Tree, flat
from labelspace.linear.siblings import train_one_slack, train_siblings


def problem(n_rows: int = 80, several: bool = False) -> tuple[csr_matrix, Tree, csr_matrix]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 4)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    scores = X @ random.normal(size=(4, 5)) + 0.3 * random.normal(size=(n_rows, 5))
    Y = np.zeros((n_rows, 5), dtype=np.float32)
    Y[np.arange(n_rows), scores.argmax(axis=1)] = 1
    if several:
        Y[scores > 0.9] = 1
    tree = Tree.from_nested([[0, 1, 2], [3, 4]], n_labels=5)
    return csr_matrix(X), tree, tree.right_nodes(csr_matrix(Y))


def with_constant(X: csr_matrix) -> np.ndarray:
    return np.hstack([np.ones((X.shape[0], 1)), X.toarray()])


def objective(W: np.ndarray, X: np.ndarray, tree: Tree, right: np.ndarray, C: float) -> float:
    """½ Σ‖w‖² + C Σ ξ², with ξ a row's largest violation between siblings."""
    scores = X @ W.T
    violations = np.zeros(len(X))
    for node in tree.inner:
        children = tree.children(node)
        yes = np.where(right[:, children] > 0, scores[:, children], np.inf).min(axis=1)
        no = np.where(right[:, children] > 0, -np.inf, scores[:, children]).max(axis=1)
        here = np.where(right[:, node] > 0, 1 - yes + no, 0.0)
        violations = np.maximum(violations, np.where(np.isfinite(here), here, 0.0))
    return 0.5 * np.square(W).sum() + C * np.square(violations).sum()


@pytest.mark.parametrize("several", [False, True])
def test_one_slack_reaches_the_least_objective(several):
    X, tree, right = problem(several=several)
    trained = train_one_slack(X, tree, right, C=1.0, tol=1e-4, max_iter=2000)
    W = np.hstack([trained.biases[:, np.newaxis], trained.weights.toarray()])
    parts = with_constant(X), tree, right.toarray(), 1.0
    reached = objective(W, *parts)
    random = np.random.default_rng(1)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(30):
            step = size * random.normal(size=W.shape)
            assert objective(W + step, *parts) >= reached - 1e-4
    # And a general method that starts elsewhere finds nothing lower.
    found = minimize(
        lambda w: objective(w.reshape(W.shape), *parts), np.zeros(W.size), method="Powell"
    )
    assert reached <= found.fun + 1e-3


def test_siblings_are_told_apart_on_the_rows_at_their_parent():
    X, tree, right = problem()
    trained = train_siblings(X, tree, right, C=1.0, tol=1e-5, max_iter=5000)
    for child in range(1, tree.n_nodes):
        here = right[:, [tree.parents[child]]].toarray().ravel() > 0
        y = right[:, [child]].toarray().ravel()[here]
        model = LinearSVC(C=1.0, fit_intercept=False, dual=False, tol=1e-8)
        expected = model.fit(with_constant(X)[here], y).coef_[0]
        found = np.append(trained.biases[child], trained.weights[[child]].toarray())
        np.testing.assert_allclose(found, expected, atol=2e-3)


def test_one_slack_is_the_worst_step_of_the_way_and_not_the_sum():
    # Two steps of one row violate alike: with one slack they share what the row may pull.
    X = csr_matrix(np.ones((1, 1), dtype=np.float32))
    deep = Tree.from_nested([[0, 1], 2], n_labels=3)
    flat = Tree.from_nested([0, 1], n_labels=2)
    C, curvature = 1.0, 2 * 2.0  # two weights move by a row of squared length two
    one = train_one_slack(X, flat, flat.right_nodes(csr_matrix([[1, 0]])), C=C, tol=1e-5)
    two = train_one_slack(X, deep, deep.right_nodes(csr_matrix([[1, 0, 0]])), C=C, tol=1e-5)
    # α = 1 / (curvature + 1/2C); with two pairs 2α/2C is shared: α = 1 / (curvature + 2/2C).
    assert one.biases[1] == pytest.approx(1 / (curvature + 0.5), abs=1e-3)
    assert two.biases[1] == pytest.approx(1 / (curvature + 1.0), abs=1e-3)


def test_one_slack_converges_where_many_siblings_are_equally_wrong():
    X = csr_matrix(np.eye(40, dtype=np.float32))
    tree = flat(np.arange(40), 40)
    trained = train_one_slack(X, tree, tree.right_nodes(X), tol=1e-3, max_iter=100)
    assert trained.n_iter < 100
    scores = (trained.weights.toarray() + trained.biases[:, np.newaxis])[1:]
    assert np.ptp(scores[~np.eye(40, dtype=bool)]) < 0.01


def test_the_number_of_threads_does_not_change_the_answer():
    X, tree, right = problem()
    one, two = (train_siblings(X, tree, right, n_threads=n, seed=3) for n in (1, 2))
    np.testing.assert_array_equal(one.weights.toarray(), two.weights.toarray())
    np.testing.assert_array_equal(one.biases, two.biases)


def test_an_only_child_needs_no_weights():
    X = csr_matrix(np.eye(3, dtype=np.float32))
    tree = Tree.from_nested([0], n_labels=1)
    trained = train_siblings(X, tree, tree.right_nodes(csr_matrix(np.ones((3, 1)))))
    assert trained.weights.nnz == 0
    assert trained.biases[1] == 1.0
