"""What is special about label embeddings and label embedding trees."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from labelspace.models import LabelEmbedding, LabelEmbeddingTree
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:1000], y[:1000], X[1000:], y[1000:]


@pytest.mark.parametrize(("learning", "dim", "least"), [("joint", 9, 0.9), ("sequence", 9, 0.88)])
def test_digits_are_told_apart_in_a_small_space(digits, learning, dim, least):
    X, y, X_test, y_test = digits
    model = LabelEmbedding(learning=learning, dim=dim, n_epochs=30, idf=False, random_state=0).fit(
        X, y
    )
    assert model.score(X_test, y_test) > least
    assert model.encoder_.dim == dim


def test_no_label_vector_is_longer_than_one():
    X, Y = planted_corpus(200)
    for model in (
        LabelEmbedding(random_state=0),
        LabelEmbedding(learning="sequence", random_state=0),
    ):
        vectors = model.fit(X, Y).labels_.keys[:, :-1]
        assert np.linalg.norm(vectors, axis=1).max() <= 1 + 1e-5


def test_labels_that_eigenmaps_put_together_stay_there():
    X, Y = planted_corpus(200)
    model = LabelEmbedding(learning="sequence", dim=3, random_state=0).fit(X, Y)
    assert model.labels_.keys.shape == (12, 4)


def test_a_sample_of_the_labels_is_enough_to_learn_from():
    X, Y = planted_corpus(300)
    model = LabelEmbedding(n_sampled=5, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.95


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
