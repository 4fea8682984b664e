"""What is special about label embeddings."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace.models import LabelEmbedding
from tests.planted import planted_corpus


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
