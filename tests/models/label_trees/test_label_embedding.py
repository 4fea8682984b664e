"""What is special about label embeddings."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace.graph.spectral import laplacian_eigenmaps
from labelspace.models import LabelEmbedding
from labelspace.models.label_trees.affinity import label_affinity
from tests.planted import planted_corpus


@pytest.mark.parametrize(("learning", "least"), [("joint", 0.9), ("sequence", 0.8)])
def test_digits_are_told_apart_in_a_small_space(digits, learning, least):
    X, y, X_test, y_test = digits
    dim, told = 9, {"n_epochs": 30, "idf": False, "random_state": 0}
    model = LabelEmbedding(learning=learning, dim=dim, **told).fit(X, y)
    assert model.score(X_test, y_test) > least
    assert model.encoder_.dim == dim


def test_no_label_vector_is_longer_than_one():
    vectors = LabelEmbedding(random_state=0).fit(*planted_corpus(200)).labels_.keys[:, :-1]
    assert np.linalg.norm(vectors, axis=1).max() <= 1 + 1e-5


def test_the_sequence_keeps_what_eigenmaps_give():
    # min Σ_ij A_ij ‖V_i − V_j‖² such that Vᵀ D V = I, of which A alone decides.
    X, Y = planted_corpus(200)
    model = LabelEmbedding(learning="sequence", dim=3, affinity="cooccurrence", random_state=0)
    keys = model.fit(X, Y).labels_.keys
    alike = label_affinity(model.rows_.encode(X), Y, "cooccurrence")
    assert np.abs(keys[:, :-1]) == pytest.approx(np.abs(laplacian_eigenmaps(alike, 3)), abs=1e-3)
    assert keys[:, -1] == pytest.approx(-0.5 * np.square(keys[:, :-1]).sum(axis=1), abs=1e-5)


def test_labels_that_eigenmaps_put_together_stay_there():
    X, Y = planted_corpus(200)
    model = LabelEmbedding(learning="sequence", dim=3, random_state=0).fit(X, Y)
    assert model.labels_.keys.shape == (12, 4)


def test_a_sample_of_the_labels_is_enough_to_learn_from():
    X, Y = planted_corpus(300)
    model = LabelEmbedding(n_sampled=5, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.95
