"""PfastreXML: gains by propensity, and the second look by centroids."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.encoders.unit_rows import UnitRows
from labelspace.metrics import evaluate, inverse_propensity
from labelspace.models import FastXML, PfastreXML
from labelspace.models.row_trees import pfastrexml
from labelspace.selection import Trial
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def rare() -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]:
    """A corpus in which half of the labels have few rows."""
    X, Y = planted_corpus(600, n_labels=24)
    keep = np.ones(600, dtype=bool)
    for label in range(12, 24):
        having = np.flatnonzero(Y[:, label].toarray())
        keep[having[4:]] = False
    X_test, Y_test = planted_corpus(300, n_labels=24, seed=1)
    return X[keep], Y[keep], X_test, Y_test


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_scores_are_those_of_the_formula(
    rare: tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix], preset: str
) -> None:
    X, Y, X_test, _ = rare
    model = PfastreXML(preset=preset, n_trees=4, random_state=0, alpha=0.7, gamma=2.5).fit(X, Y)
    top = model.predict_topk(X_test[:20], 3)
    trees = model.forest_.rank(model.rows_.encode(X_test[:20]), 24)
    Z = UnitRows().encode(model.rows_.encode(X_test[:20]))
    for row in range(20):
        scores = {}
        for label, share in zip(trees.labels[row], trees.scores[row], strict=True):
            if label >= 0:
                gap = Z[row].toarray() - model.centroids_[label].toarray()
                belongs = 1 / (1 + np.exp(2.5 * np.square(gap).sum()))
                scores[int(label)] = share**0.7 * belongs**0.3
        best = sorted(scores, key=lambda label: (-scores[label], label))[:3]
        assert top.labels[row, : len(best)].tolist() == best
        assert np.allclose(top.scores[row, : len(best)], [scores[one] for one in best], rtol=1e-3)


def test_paper_has_the_second_look_of_the_program() -> None:
    """Two labels in one leaf: the row's distance from the mean of each label's rows decides."""
    X = csr_matrix([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]], dtype=np.float32)
    Y = csr_matrix([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    model = PfastreXML(preset="paper", n_trees=1, random_state=0).fit(X, Y)
    # Rows of length one: (1, 0) and (0, 1) have the first label, (1, 0) the second.
    assert model.centroids_.toarray().tolist() == [[0.5, 0.5], [1.0, 0.0]]
    top = model.predict_topk(csr_matrix([[0.6, 0.8]], dtype=np.float32), 2)
    shares = np.array([2, 1]) / 3 * inverse_propensity(np.array([2, 1]), 3)
    # ‖(0.6, 0.8) − (0.5, 0.5)‖² = 0.1 and ‖(0.6, 0.8) − (1, 0)‖² = 0.8; α = 0.8, γ = 30.
    belongs = 1 / (1 + np.exp(30 * np.array([0.1, 0.8])))
    assert top.labels.tolist() == [[0, 1]]
    assert np.allclose(top.scores[0], shares**0.8 * belongs**0.2, rtol=1e-4)


def test_rare_labels_gain(rare: tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]) -> None:
    X, Y, X_test, Y_test = rare
    counts = Y.sum(axis=0).A1

    def psp(model: FastXML) -> float:
        top = model.fit(X, Y).predict_topk(X_test, 3)
        return evaluate(Y_test, top, ks=(3,), label_counts=counts, n_examples=X.shape[0])["PSP@3"]

    plain = psp(FastXML(n_trees=15, random_state=0))
    assert psp(PfastreXML(n_trees=15, random_state=0)) > plain + 2


def test_leaves_count_by_propensity(
    rare: tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix],
) -> None:
    X, Y, _, _ = rare
    model = PfastreXML(n_trees=1, leaf_size=10_000, random_state=0).fit(X, Y)
    expected = Y.mean(axis=0).A1 * inverse_propensity(Y.sum(axis=0).A1, X.shape[0])
    assert np.allclose(model.forest_.shares, -np.sort(-expected)[: model.forest_.shares.size])


def test_what_trees_count_is_chosen_by_how_rows_held_out_are_ranked(
    rare: tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, Y, _, _ = rare
    tops = {}

    def second_best(choices: tuple[float, ...], answer: Any, X: Any, Y: Any, seed: int) -> Trial:
        for alpha in choices:
            tops[alpha] = answer(alpha, X, Y, X[:50], 3)
        return Trial(choices[1], tops[choices[1]], Y)

    monkeypatch.setattr(pfastrexml, "best_of", second_best)
    monkeypatch.setattr(pfastrexml, "TRIED_TREES", 4)
    model = PfastreXML(n_trees=4, normalize=True, random_state=0).fit(X, Y)
    assert model.settings_.alpha == 0.9
    found = model.predict_topk(X[:50], 3)  # the trial saw the same rows and trees
    assert np.array_equal(found.labels, tops[0.9].labels)
    assert not np.array_equal(tops[0.8].labels, tops[1.0].labels)
