from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from labelspace.graph.tree import Tree, flat_tree
from labelspace.models.label_trees.one_slack import train_one_slack
from tests.planted import tree_problem


def objective(
    W: np.ndarray, X: np.ndarray, tree: Tree, right: np.ndarray, C: float, power: int = 2
) -> float:
    """½ Σ‖w‖² + C Σ ξ², with ξ a row's largest violation between siblings; or C Σ ξ."""
    scores = X @ W.T
    violations = np.zeros(len(X))
    for node in tree.inner:
        children = tree.children(node)
        yes = np.where(right[:, children] > 0, scores[:, children], np.inf).min(axis=1)
        no = np.where(right[:, children] > 0, -np.inf, scores[:, children]).max(axis=1)
        here = np.where(right[:, node] > 0, 1 - yes + no, 0.0)
        violations = np.maximum(violations, np.where(np.isfinite(here), here, 0.0))
    return 0.5 * np.square(W).sum() + C * np.sum(violations**power)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("several", [False, True])
def test_one_slack_reaches_the_least_objective(several, power):
    X, tree, right = tree_problem(several=several)
    tol, C = (1e-4, 1.0) if power == 2 else (1e-5, 0.2)
    trained = train_one_slack(
        X, tree, right, C=C, squared=power == 2, tol=tol, max_iter=2000 * (3 - power) ** 4
    )
    W = np.hstack([trained.biases[:, np.newaxis], trained.weights.toarray()])
    parts = np.hstack([np.ones((X.shape[0], 1)), X.toarray()]), tree, right.toarray(), C, power
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


def test_slacks_as_they_are_have_the_weight_that_gamma_gives_them():
    # γ Σ_j ‖w_j‖² + (1/m) Σ_i ξ_i = 2γ (½ Σ_j ‖w_j‖² + C Σ_i ξ_i) with C = 1/(2γm). Three rows
    # alike, of squared length 2 with their constant: w_r = −w_s = a x, ξ = 1 − 4a, and
    # γ · 2 · 2a² + (1 − 4a) is least at a = 1/(2γ), which is below 1/4, where ξ ends.
    gamma, m = 5.0, 3
    X = csr_matrix(np.ones((m, 1), dtype=np.float32))
    tree = flat_tree(np.arange(2), 2)
    right = tree.positive_nodes(csr_matrix(np.tile([1.0, 0.0], (m, 1))))
    C = 1 / (2 * gamma * m)
    trained = train_one_slack(X, tree, right, C=C, squared=False, tol=1e-6, max_iter=500)
    assert trained.biases[1:] == pytest.approx([0.5 / gamma, -0.5 / gamma], abs=1e-4)


def test_one_slack_is_the_worst_step_of_the_way_and_not_the_sum():
    # Two steps of one row violate alike: with one slack they share what the row may pull.
    X = csr_matrix(np.ones((1, 1), dtype=np.float32))
    deep = Tree.from_nested([[0, 1], 2], n_labels=3)
    flat = Tree.from_nested([0, 1], n_labels=2)
    C, curvature = 1.0, 2 * 2.0  # two weights move by a row of squared length two
    one = train_one_slack(X, flat, flat.positive_nodes(csr_matrix([[1, 0]])), C=C, tol=1e-5)
    two = train_one_slack(X, deep, deep.positive_nodes(csr_matrix([[1, 0, 0]])), C=C, tol=1e-5)
    # α = 1 / (curvature + 1/2C); with two pairs 2α/2C is shared: α = 1 / (curvature + 2/2C).
    assert one.biases[1] == pytest.approx(1 / (curvature + 0.5), abs=1e-3)
    assert two.biases[1] == pytest.approx(1 / (curvature + 1.0), abs=1e-3)


def test_one_slack_converges_where_many_siblings_are_equally_wrong():
    X = csr_matrix(np.eye(40, dtype=np.float32))
    tree = flat_tree(np.arange(40), 40)
    trained = train_one_slack(X, tree, tree.positive_nodes(X), tol=1e-3, max_iter=100)
    assert trained.n_iter < 100
    scores = (trained.weights.toarray() + trained.biases[:, np.newaxis])[1:]
    assert np.ptp(scores[~np.eye(40, dtype=bool)]) < 0.01
