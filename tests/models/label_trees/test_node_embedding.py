from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from labelspace.graph.tree import Tree, flat_tree
from labelspace.models.label_trees import _node_embedding_kernels as kernels
from labelspace.models.label_trees.embedding_settings import (
    LabelEmbeddingSettings,
    LabelEmbeddingTreeSettings,
)
from labelspace.models.label_trees.node_embedding import NodeEmbeddingSettings, train_node_embedding


def loss(z, tree, is_right, vectors, biases, each) -> float:
    """The loss of a row, written down as the formula says."""
    scores = vectors @ z + biases
    total, worst = 0.0, 0.0
    for node in tree.inner:
        if not is_right[node]:
            continue
        for child in tree.children(node):
            sign = 1.0 if is_right[child] else -1.0
            total += 0.5 * max(0.0, 1.0 - sign * scores[child]) ** 2
        for one in tree.children(node):
            for other in tree.children(node):
                if is_right[one] and not is_right[other]:
                    worst = max(worst, 1.0 - scores[one] + scores[other])
    return total if each else 0.5 * worst**2


@pytest.mark.parametrize("each", [False, True])
def test_loss_and_slopes_are_those_of_finite_differences(each):
    random = np.random.default_rng(0)
    tree = Tree.from_nested([[0, 1, 2], [3, 4]], n_labels=5)
    vectors = random.normal(size=(tree.n_nodes, 3)).astype(np.float32)
    biases = random.normal(size=tree.n_nodes).astype(np.float32)
    for row in range(10):
        z = random.normal(size=3).astype(np.float32)
        Y = csr_matrix(np.eye(5)[[row % 5]] + (np.eye(5)[[0]] if each else 0) > 0, dtype=np.float32)
        is_right = tree.positive_nodes(Y).toarray().ravel() > 0
        candidates = np.concatenate([tree.children(one) for one in tree.inner if is_right[one]])
        slopes = np.zeros(tree.n_nodes, dtype=np.float32)
        margin = np.float32(1.0)
        found = kernels.row_slopes(
            *(z, candidates, tree.parents, is_right, vectors, biases),
            *(each, margin, True, slopes),
        )
        parts = (z.astype(float), tree, is_right, vectors.astype(float))
        assert found == pytest.approx(loss(*parts, biases, each), rel=1e-4)
        for at, node in enumerate(candidates):
            step = np.zeros(tree.n_nodes)
            step[node] = 1e-5
            change = loss(*parts, biases + step, each) - loss(*parts, biases - step, each)
            assert slopes[at] == pytest.approx(change / 2e-5, abs=1e-3)


def test_the_sequence_asks_that_no_other_label_be_nearer():
    # ‖Wx − V_y‖² ≤ ‖Wx − V_j‖² + ξ, of which the kernel has half: scores are z·V − ½‖V‖².
    random = np.random.default_rng(1)
    tree = flat_tree(np.arange(4), 4)
    vectors = random.normal(size=(5, 3)).astype(np.float32)
    vectors[0] = 0.0
    biases = (-0.5 * np.square(vectors).sum(axis=1)).astype(np.float32)
    is_right = np.array([True, False, True, False, False])
    for _ in range(10):
        z = random.normal(size=3).astype(np.float32)
        slopes = np.zeros(5, dtype=np.float32)
        found = kernels.row_slopes(
            *(z, np.arange(1, 5), tree.parents, is_right, vectors, biases),
            *(False, np.float32(0.0), False, slopes),
        )
        distances = np.square(z - vectors[1:]).sum(axis=1)
        xi = max(0.0, distances[1] - distances[[0, 2, 3]].min())
        assert 2.0 * found == pytest.approx(xi, abs=1e-4)
        assert slopes[1] == (-1.0 if xi > 0 else 0.0)


def test_fixed_vectors_stay_and_rows_come_to_lie_at_their_labels():
    random = np.random.default_rng(0)
    centers = random.normal(size=(3, 6))
    y = random.integers(3, size=200)
    X = csr_matrix(centers[y] + 0.3 * random.normal(size=(200, 6)), dtype=np.float32)
    tree = flat_tree(np.arange(3), 3)
    vectors = np.concatenate((np.zeros((1, 2)), np.eye(2), [[-1, 0]])).astype(np.float32)
    before = vectors.copy()
    right = tree.positive_nodes(csr_matrix(np.eye(3)[y]))
    settings = NodeEmbeddingSettings(dim=2, n_epochs=20)
    trained = train_node_embedding(X, tree, right, settings, vectors=vectors)
    np.testing.assert_array_equal(trained.vectors, before)
    Z = X @ trained.weights
    distances = np.square(Z[:, np.newaxis] - vectors[np.newaxis, 1:]).sum(axis=2)
    assert np.mean(distances.argmin(axis=1) == y) > 0.95


def test_same_seed_same_space():
    X = csr_matrix(np.eye(6, dtype=np.float32))
    tree = flat_tree(np.arange(6), 6)
    one, other = (
        train_node_embedding(X, tree, tree.positive_nodes(X), NodeEmbeddingSettings(dim=4), seed=7)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.weights, other.weights)


def test_sampled_children_begin_with_what_is_usual():
    """Steps so small that biases stay where they began."""
    Y = csr_matrix(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 0, 0]]), dtype=float)
    X = csr_matrix(np.eye(4, dtype=np.float32))
    tree = flat_tree(np.arange(4), 4)
    found = {}
    for n_sampled in (2, 4):
        settings = NodeEmbeddingSettings(
            dim=2, each=True, n_epochs=1, learning_rate=1e-6, n_sampled=n_sampled
        )
        found[n_sampled] = train_node_embedding(X, tree, tree.positive_nodes(Y), settings).biases[
            1:
        ]
    np.testing.assert_allclose(found[2], [0.5, 0.0, -0.5, -0.5], atol=1e-3)
    np.testing.assert_allclose(found[4], 0.0, atol=1e-3)


@pytest.mark.parametrize("squared", [False, True])
def test_the_map_is_that_of_the_convex_problem(squared):
    """γ‖W‖² + (1/m) Σ ξ_i, or ξ_i² with a margin, by a solver of constrained problems."""
    random = np.random.default_rng(4)
    gamma, m, margin = 0.05, 24, 1.0 if squared else 0.0
    y = random.integers(3, size=m)
    X = (random.random((m, 4)) < [1.0, 0.6, 0.3, 0.15]) * random.normal(size=(m, 4))
    X += (X != 0) * random.normal(size=(3, 4))[y]
    V = random.normal(size=(3, 2))
    half = 0.5 * np.square(V).sum(axis=1)

    def lacking(W: np.ndarray) -> np.ndarray:
        """By how much each row lacks its margin to each other label: Wx·V − ½‖V‖²."""
        scores = X @ W.reshape(4, 2) @ V.T - half
        return margin + scores - scores[np.arange(m), y][:, np.newaxis]

    def objective(W: np.ndarray, xi: np.ndarray) -> float:
        # The kernel's slack without a square is half that of the squared distances.
        return gamma * W @ W + np.mean(xi**2 if squared else 2.0 * xi)

    others = np.arange(3) != y[:, np.newaxis]
    solved = minimize(
        lambda at: objective(at[:8], at[8:]),
        np.full(8 + m, 0.1),
        method="SLSQP",
        bounds=[(None, None)] * 8 + [(0.0, None)] * m,
        constraints={
            "type": "ineq",
            "fun": lambda at: (at[8:, np.newaxis] - lacking(at[:8]))[others],
        },
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert solved.success

    tree = flat_tree(np.arange(3), 3)
    vectors = np.concatenate((np.zeros((1, 2)), V)).astype(np.float32)
    settings = NodeEmbeddingSettings(
        dim=2, n_epochs=20_000, learning_rate=0.2, decay=gamma, margin=margin, squared=squared
    )
    right = tree.positive_nodes(csr_matrix(np.eye(3)[y]))
    # A feature that no row has comes out as zero.
    X_wide = csr_matrix(np.column_stack((X, np.zeros(m))), dtype=np.float32)
    found = train_node_embedding(X_wide, tree, right, settings, vectors=vectors).weights
    W = found[:4].astype(float).ravel()
    xi = np.maximum(lacking(W)[others].reshape(m, 2).max(axis=1), 0.0)
    assert objective(W, xi) == pytest.approx(solved.fun, rel=0.01)
    np.testing.assert_allclose(W, solved.x[:8], atol=0.05)
    np.testing.assert_array_equal(found[4], 0.0)


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("sequence", [False, True])
def test_settings_of_a_method_say_what_is_asked(sequence, by_row):
    told = LabelEmbeddingSettings(dim=7, n_epochs=3, learning_rate=0.2, decay=0.5, n_sampled=11)
    found = NodeEmbeddingSettings.of(told, sequence=sequence, by_row=by_row)
    assert found == NodeEmbeddingSettings(
        dim=7,
        # The sequence compares pairs; the joint problem may ask each label for a yes or no.
        each=not sequence and not by_row,
        n_epochs=3,
        learning_rate=0.2,
        decay=0.5,
        n_sampled=11,
        # As printed, the sequence has no margin, and its slacks count as they are.
        margin=0.0 if sequence else 1.0,
        squared=not sequence,
    )


def test_a_tree_that_samples_nothing_keeps_the_number_of_children():
    found = NodeEmbeddingSettings.of(LabelEmbeddingTreeSettings(), sequence=False, by_row=True)
    assert found.n_sampled == NodeEmbeddingSettings.n_sampled
