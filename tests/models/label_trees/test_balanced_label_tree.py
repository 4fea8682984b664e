"""What is special about balanced label trees."""

from __future__ import annotations

import numpy as np

from labelspace.models import BalancedLabelTree
from tests.planted import planted_corpus


def test_more_ambiguity_costs_more_and_errs_less(digits):
    X, y, X_test, y_test = digits
    losses, products = [], []
    for ambiguity in (1.0, 2.0):
        model = BalancedLabelTree(
            ambiguity=ambiguity, branching=2, leaf_size=2, beam=1, idf=False, random_state=0
        ).fit(X, y)
        losses.append(model.tree_loss(X_test, y_test))
        products.append(model.count_products(X_test, k=1).mean())
    assert products[1] > products[0]
    assert losses[1] < losses[0] < 0.25


def test_overlap_is_there_if_allowed(digits):
    X, y, _, _ = digits
    shape = {"branching": 3, "leaf_size": 2, "idf": False, "random_state": 0}
    assert not BalancedLabelTree(ambiguity=1.0, **shape).fit(X, y).tree_.overlaps
    assert BalancedLabelTree(ambiguity=2.0, **shape).fit(X, y).tree_.overlaps


def test_every_label_can_be_found():
    X, Y = planted_corpus(200)
    model = BalancedLabelTree(branching=3, leaf_size=2, random_state=0).fit(X, Y)
    assert model.tree_.labels_of(0).tolist() == list(range(12))
    assert model.score(X, Y) > 0.95


def test_balance_bounds_the_children_of_a_tree_without_overlap():
    X, Y = planted_corpus(300)
    tree = (
        BalancedLabelTree(
            ambiguity=1.0, branching=4, leaf_size=2, settings={"balance": 1.0}, random_state=0
        )
        .fit(X, Y)
        .tree_
    )
    assert [tree.labels_of(node).size for node in tree.children(0)] == [3, 3, 3, 3]


def test_depth_has_a_bound_with_overlap():
    X, Y = planted_corpus(200)
    model = BalancedLabelTree(
        ambiguity=3.0, branching=2, leaf_size=1, settings={"max_depth": 3}, random_state=0
    ).fit(X, Y)
    assert model.tree_.depth <= 3
    top = model.predict_topk(X, k=12)
    assert all(len(set(row[row >= 0])) == np.count_nonzero(row >= 0) for row in top.labels)
