"""What is special about label embedding trees."""

from __future__ import annotations

import pytest

from labelspace.models import LabelEmbeddingTree
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
