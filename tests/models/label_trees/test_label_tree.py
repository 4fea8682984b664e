"""What is special about label trees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from labelspace.graph.tree import flat_tree
from labelspace.models import LabelTree
from labelspace.models.label_trees import predictor_tree
from labelspace.models.label_trees.settings import LabelTreeSettings
from labelspace.search.tree_beam import TreeIndex
from tests.planted import planted_corpus


@pytest.mark.parametrize("relaxation", [1, 2])
def test_digits_are_told_apart_with_fewer_products_than_one_vs_all(digits, relaxation):
    X, y, X_test, y_test = digits
    model = LabelTree(
        relaxation=relaxation, branching=2, leaf_size=1, beam=1, idf=False, random_state=0
    ).fit(X, y)
    assert 1.0 - model.tree_loss(X_test, y_test) == pytest.approx(model.score(X_test, y_test))
    assert model.tree_loss(X_test, y_test) < (0.25 if relaxation == 1 else 0.15)
    assert model.count_products(X_test, k=1).mean() < 8.5


def test_a_learned_tree_beats_a_random_one(digits):
    X, y, X_test, y_test = digits
    losses = []
    for affinity in ("confusion", "random"):
        models = [
            LabelTree(
                affinity=affinity, branching=2, leaf_size=1, beam=1, idf=False, random_state=seed
            ).fit(X, y)
            for seed in range(3)
        ]
        losses.append(np.mean([model.tree_loss(X_test, y_test) for model in models]))
    assert losses[0] < losses[1]


@pytest.mark.parametrize("affinity", ["confusion", "centroid", "cooccurrence", "random"])
def test_any_affinity_makes_a_tree_of_all_labels(affinity):
    X, Y = planted_corpus(150)
    model = LabelTree(affinity=affinity, branching=3, leaf_size=2, random_state=0).fit(X, Y)
    assert model.tree_.labels_of(0).tolist() == list(range(12))
    assert model.tree_.depth >= 3
    assert model.score(X, Y) > 0.95


def test_margins_become_probabilities():
    # A slack for each child: 1 / (1 + e^{−3 s}); one for a row: e^{8 s} / Σ e^{8 s} of siblings.
    X, Y = planted_corpus(100)
    s = np.array([0.4, -0.1, 0.2])
    tree = flat_tree(np.arange(3), 3)
    weights = csr_matrix(np.concatenate(([0.0], s))[:, np.newaxis], dtype=np.float32)
    for slack, expected in (
        ("node", 1 / (1 + np.exp(-3 * s))),
        ("row", np.exp(8 * s) / np.exp(8 * s).sum()),
    ):
        link = LabelTree(slack=slack, random_state=0).fit(X, Y).index_.link
        sharpness = predictor_tree._SHARPNESS[link]
        index = TreeIndex(tree, weights, np.zeros(4), link=link, sharpness=sharpness)
        top = index.search(csr_matrix([[1.0]], dtype=np.float32), k=3, beam=3).top
        assert np.exp(top.scores[0]) == pytest.approx(expected[top.labels[0]], rel=1e-5)


def test_several_labels_ask_for_a_wider_beam():
    X, Y = planted_corpus(200)
    narrow, wide = (
        LabelTree(branching=2, leaf_size=1, beam=beam, random_state=0).fit(X, Y) for beam in (1, 12)
    )
    found = [np.mean(m.predict(X, k=3).multiply(Y).sum(axis=1)) for m in (narrow, wide)]
    assert found[1] > found[0] + 0.5


def test_a_wider_beam_helps_with_one_label_of_many_too():
    random = np.random.default_rng(0)
    features = random.random((300, 200)) < 0.05
    y = np.repeat(np.arange(300), 6)
    X, X_test = (
        features[y] * (random.random((len(y), 200)) < 0.6) + (random.random((len(y), 200)) < 0.06)
        for _ in range(2)
    )
    model = LabelTree(C=1.0, affinity="centroid", branching=8, leaf_size=8, random_state=0)
    model.fit(X.astype(np.float32), y)
    found = [model.set_params(beam=beam).score(X_test.astype(np.float32), y) for beam in (1, 10)]
    assert found[1] > found[0] + 0.03


@pytest.mark.parametrize("slack", ["row", "node"])
def test_either_slack_learns_several_labels(slack):
    X, Y = planted_corpus(200)
    model = LabelTree(slack=slack, branching=3, leaf_size=3, random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.95


def test_scores_are_probabilities_of_the_path():
    X, Y = planted_corpus(100)
    top = LabelTree(branching=3, leaf_size=2, random_state=0).fit(X, Y).predict_topk(X, k=3)
    assert np.all((top.scores > 0) & (top.scores <= 1))


def test_C_is_chosen_where_there_are_rows_to_tell_from(digits):
    X, y, _, _ = digits
    assert LabelTree(random_state=0).fit(X[:100], y[:100]).C_ == 1.0
    assert LabelTree(C=0.1, random_state=0).fit(X, y).C_ == 0.1


def test_C_is_smaller_where_most_labels_are_wrong():
    X, Y = planted_corpus(1500)
    noisy = Y.toarray()
    random = np.random.default_rng(0)
    wrong = random.random(1500) < 0.8
    noisy[wrong] = noisy[random.permutation(1500)][wrong]
    assert LabelTree(random_state=0).fit(X, Y).C_ == 1.0
    assert LabelTree(random_state=0).fit(X, noisy).C_ == 0.4


def test_settings_shape_the_tree_and_bound_the_passes():
    X, Y = planted_corpus(150)
    told = {"max_depth": 2, "balance": 1.0, "max_iter": 3}
    model = LabelTree(branching=4, leaf_size=1, settings=told, random_state=0).fit(X, Y)
    assert model.tree_.depth == 2
    assert [model.tree_.labels_of(node).size for node in model.tree_.children(0)] == [3] * 4
    assert model.n_iter_ <= 3
    assert model.settings_ == LabelTreeSettings(branching=4, leaf_size=1, **told)
    with pytest.raises(ValueError, match="'balance' parameter of LabelTree must be"):
        LabelTree(settings={"balance": 2}).fit(X, Y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("relaxation", [1, 2])
def test_slacks_count_as_they_are_or_by_their_squares(loss, relaxation, monkeypatch):
    X, Y = planted_corpus(60)
    X = X.toarray()[:, :30] + 0.5 * np.random.default_rng(0).normal(size=(60, 30))
    learned = []

    def keep(tree, weights, biases, **how):
        learned[:] = np.column_stack((biases, weights.toarray()))
        return TreeIndex(tree, weights, biases, **how)

    monkeypatch.setattr(predictor_tree, "TreeIndex", keep)
    how = {"C": 0.05, "relaxation": relaxation, "branching": 3, "random_state": 0}
    told = {"loss": loss, "tol": 1e-5, "max_iter": 20_000}
    tree = LabelTree(preset="repaired", settings=told, **how).fit(X, Y).tree_
    rows, right = np.column_stack((np.ones(60), X)), tree.positive_nodes(csr_matrix(Y)).toarray()
    told_apart = 0
    for node in range(1, tree.n_nodes):
        here = (right[:, tree.parents[node]] > 0) | (relaxation == 1)
        if len(np.unique(right[here, node])) < 2:
            continue
        svm = LinearSVC(C=0.05, loss=loss, fit_intercept=False, dual=True, tol=1e-7, max_iter=10**6)
        expected = svm.fit(rows[here], right[here, node]).coef_[0]
        np.testing.assert_allclose(learned[node], expected, atol=2e-3)
        told_apart += 1
    assert told_apart >= 12


def test_restraint_goes_by_the_squared_length_of_rows():
    X, Y = planted_corpus(120)
    long = 3.0 * X.toarray()
    by_preset = LabelTree(preset="paper", random_state=0).fit(long, Y).C_
    mean = np.square(long).sum(axis=1).mean()
    assert by_preset * mean == pytest.approx(1.0) or by_preset * mean == pytest.approx(0.4)
    assert LabelTree(random_state=0).fit(long, Y).C_ in (1.0, 0.4)
