"""What is special about label embedding trees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.graph.spectral import laplacian_eigenmaps
from labelspace.models import LabelEmbeddingTree
from labelspace.models.label_trees import label_embedding_tree
from labelspace.models.label_trees.affinity import label_affinity
from tests.planted import planted_corpus


def test_a_tree_in_a_small_space_tells_digits_apart(digits):
    X, y, X_test, y_test = digits
    model = LabelEmbeddingTree(
        dim=9, branching=2, leaf_size=1, beam=1, n_epochs=30, idf=False, random_state=0
    ).fit(X, y)
    assert model.tree_loss(X_test, y_test) < 0.2
    assert model.count_products(X_test, k=1).mean() < 9
    assert model.index_.vectors.shape == (model.tree_.n_nodes, 9)


@pytest.mark.parametrize("slack", ["row", "node"])
def test_either_slack_learns_several_labels(slack):
    X, Y = planted_corpus(300)
    model = LabelEmbeddingTree(
        slack=slack, branching=3, leaf_size=3, n_epochs=20, random_state=0
    ).fit(X, Y)
    assert model.score(X, Y) > 0.95


def test_the_sequence_keeps_what_eigenmaps_of_all_nodes_give():
    # min Σ_ij A_ij ‖V_i − V_j‖² such that Vᵀ D V = I, A between nodes summed over their labels;
    # then ‖Wx − V_r‖² ≤ ‖Wx − V_s‖² + ξ: scores are z·V − ½‖V‖².
    X, Y = planted_corpus(200)
    model = LabelEmbeddingTree(
        learning="sequence",
        dim=3,
        affinity="cooccurrence",
        branching=3,
        leaf_size=2,
        random_state=0,
    ).fit(X, Y)
    held = model.tree_.membership()
    alike = label_affinity(model.rows_.encode(X), Y, "cooccurrence")
    places = laplacian_eigenmaps(csr_matrix(held.T @ alike @ held), 3)
    vectors = np.asarray(model.index_.vectors)
    assert np.abs(vectors) == pytest.approx(np.abs(places), abs=1e-3)
    assert np.asarray(model.index_.biases) == pytest.approx(
        -0.5 * np.square(vectors).sum(axis=1), abs=1e-5
    )


def test_nodes_are_as_alike_as_their_labels_are_together(monkeypatch: pytest.MonkeyPatch):
    # A_rs = Σ_{k ∈ r, l ∈ s} A_kl
    asked = []

    def eigenmaps(alike: csr_matrix, dim: int, seed: int = 0) -> np.ndarray:
        asked.append(alike.toarray())
        return laplacian_eigenmaps(alike, dim, seed)

    monkeypatch.setattr(label_embedding_tree, "laplacian_eigenmaps", eigenmaps)
    X, Y = planted_corpus(100)
    model = LabelEmbeddingTree(
        learning="sequence", affinity="cooccurrence", branching=3, leaf_size=2, n_epochs=1
    ).fit(X, Y)
    A = label_affinity(model.rows_.encode(X), Y, "cooccurrence").toarray()
    labels = [model.tree_.labels_of(node) for node in range(model.tree_.n_nodes)]
    by_hand = [[A[np.ix_(r, s)].sum() for s in labels] for r in labels]
    np.testing.assert_allclose(asked[0], by_hand, rtol=1e-4)


def test_the_sequence_tells_digits_apart(digits):
    X, y, X_test, y_test = digits
    model = LabelEmbeddingTree(
        learning="sequence",
        dim=9,
        branching=2,
        leaf_size=1,
        beam=1,
        n_epochs=30,
        learning_rate=0.5,
        idf=False,
        random_state=0,
    ).fit(X, y)
    assert model.score(X_test, y_test) > 0.5
