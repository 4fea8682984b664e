"""LPSR: the labels of a part, the scorers, and that it keeps what the scorer knows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import MultinomialNB

from labelspace.models import LPSR
from labelspace.models.row_trees.lpsr import naive_bayes, with_sums
from labelspace.row_forest.forest import Growth, grow_trees
from tests.planted import planted_corpus


def test_naive_bayes_is_that_of_scikit_learn() -> None:
    X, Y = planted_corpus(100, n_labels=5)
    one = Y.toarray().argmax(axis=1)
    keys, offsets = naive_bayes(X, csr_matrix(np.eye(5)[one]), 0.7)
    other = MultinomialNB(alpha=0.7).fit(X, one)
    found = (with_sums(X) @ keys.T).toarray()
    assert np.allclose(found, X @ other.feature_log_prob_.T, rtol=1e-4)
    assert np.allclose(np.exp(offsets), (np.bincount(one) + 0.7) / 100.7, rtol=1e-4)


def test_an_answer_is_the_scorers_best_among_the_labels_of_its_parts() -> None:
    X, Y = planted_corpus(300, n_labels=20)
    model = LPSR(n_trees=2, leaf_size=30, leaf_labels=6, random_state=0).fit(X, Y)
    Z = model.rows_.encode(X)
    scores = (with_sums(Z) @ model.keys_.T).toarray() + model.offsets_
    top = model.predict_topk(X, 3)
    forest = model.forest_
    for row, leaves in enumerate(forest.leaves(Z)):
        slices = [slice(forest.leaf_ptr[leaf], forest.leaf_ptr[leaf + 1]) for leaf in leaves]
        held = np.unique(np.concatenate([forest.labels[one] for one in slices]))
        best = held[np.argsort(-scores[row, held], kind="stable")][:3]
        assert top.labels[row].tolist() == best.tolist()


def test_rows_that_are_ranked_well_decide_which_labels_a_part_keeps() -> None:
    X = csr_matrix(np.ones((6, 1), dtype=np.float32))
    Y = csr_matrix(np.eye(2)[[0, 0, 0, 0, 1, 1]])
    weights = np.array([0.2, 0.2, 0.2, 0.2, 1.0, 1.0])
    (tree,) = grow_trees(X, Y, Growth("means", 10, 1), [0], row_weights=weights)
    assert tree.labels.tolist() == [1]


@pytest.mark.parametrize("scorer", ["one-vs-all", "naive-bayes"])
def test_it_finds_each_planted_label(scorer: str) -> None:
    X, Y = planted_corpus(400, n_labels=30)
    X_test, Y_test = planted_corpus(200, n_labels=30, seed=1)
    model = LPSR(scorer=scorer, leaf_size=40, random_state=0).fit(X, Y)
    assert model.forest_.n_nodes > 10
    assert model.score(X_test, Y_test) > 0.9
