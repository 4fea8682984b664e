"""FastXML learns what its parts are there for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import labelspace
from labelspace.metrics import evaluate
from labelspace.models import FastXML
from tests.planted import planted_corpus


def precision(model: FastXML, X: csr_matrix, Y: csr_matrix) -> float:
    return evaluate(Y, model.predict_topk(X, 3), ks=(3,))["P@3"]


def test_many_trees_beat_one() -> None:
    X, Y = planted_corpus(400, n_labels=30)
    X_test, Y_test = planted_corpus(200, n_labels=30, seed=1)
    few, many = (
        precision(FastXML(n_trees=n, random_state=0).fit(X, Y), X_test, Y_test) for n in (1, 30)
    )
    best = 100 * np.minimum(Y_test.sum(axis=1).A1, 3).mean() / 3
    assert many > few + 3
    assert many > 0.85 * best


def test_splits_follow_labels_not_features() -> None:
    """Rows of two kinds look alike but for one feature, which alone tells their labels."""
    random = np.random.default_rng(0)
    noise = random.normal(size=(400, 20))
    kind = random.integers(2, size=400)
    X = np.column_stack((noise, 0.5 * (2 * kind - 1)))
    model = FastXML(n_trees=5, C=5.0, leaf_size=50, random_state=0)
    model.fit(X[:300], kind[:300].astype(str))
    assert model.score(X[300:], kind[300:].astype(str)) > 0.95


def test_presets_differ_and_parameters_win() -> None:
    X, Y = planted_corpus(60)
    assert FastXML(preset="paper", n_trees=2).fit(X, Y).settings_.C == 1.0
    told = FastXML(n_trees=2, settings={"split_rows": 30}, C=2.0).fit(X, Y).settings_
    assert (told.C, told.split_rows, told.normalize) == (2.0, 30, True)
    with pytest.raises(ValueError, match="leaf_size"):
        FastXML(leaf_size=0).fit(X, Y)
    with pytest.raises(labelspace.UsageError, match="split_row"):
        FastXML(settings={"split_row": 3}).fit(X, Y)


@pytest.mark.parametrize("counts", [False, True])
def test_rows_are_scaled_where_that_ranks_rows_held_out_better(counts: bool) -> None:
    """The label is either in the direction of a row, or in its length."""
    random = np.random.default_rng(0)
    kind = random.integers(2, size=800)
    if counts:
        X = np.outer(np.where(kind == 1, 5.0, 1.0), np.ones(3)) + random.random((800, 3))
    else:
        lengths = 10.0 ** random.uniform(-3, 3, size=(800, 1))
        X = lengths * np.column_stack((kind + 0.5, 1.5 - kind, random.random(800)))
    model = FastXML(n_trees=3, idf=False, random_state=0).fit(X, kind.astype(str))
    assert model.settings_.normalize is not counts
    assert model.score(X, kind.astype(str)) > 0.95


def test_a_row_without_features_gets_an_answer() -> None:
    X, Y = planted_corpus(60)
    top = FastXML(n_trees=2, random_state=0).fit(X, Y).predict_topk(csr_matrix((1, X.shape[1])), 3)
    assert np.all(top.labels >= 0)
