"""Boosted trees against an interaction that no sum of terms has, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss

from labelspace.models.labelspace._boosting_kernels import ask
from labelspace.models.labelspace.boosting import BoostedTrees, grow_trees


def asked(trees: BoostedTrees, features: np.ndarray) -> np.ndarray:
    columns = np.empty(features.shape[::-1], dtype=np.float32)
    leaves = np.empty(len(features), dtype=np.int32)
    added = np.empty(len(features), dtype=np.float32)
    ask(features, trees.splits, trees.thresholds, trees.values, columns, leaves, added)
    return added


def crossed(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The first feature decides where the second is large, the third elsewhere."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, 4)).astype(np.float32)
    logits = 3.0 * np.where(A[:, 1] > 0, A[:, 0], A[:, 2])
    return A, rng.random(n) < expit(logits)


def test_trees_learn_whom_to_trust_when() -> None:
    A, y = crossed(4000, seed=0)
    B, truth = crossed(2000, seed=1)
    trees = grow_trees(A, y, np.zeros(len(A)))
    ours = log_loss(truth, expit(asked(trees, B)))
    theirs = HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(A, y)
    assert ours < 0.5 < log_loss(truth, np.full(len(truth), y.mean()))
    assert ours < log_loss(truth, theirs.predict_proba(B)[:, 1]) + 0.02


def test_right_log_odds_stay_as_they_are() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5000, 3)).astype(np.float32)
    logits = 2.0 * A[:, 0].astype(np.float64)
    trees = grow_trees(A, rng.random(5000) < expit(logits), logits)
    assert np.abs(asked(trees, A)).mean() < 0.25 * np.abs(logits).mean()


def test_few_cases_are_hardly_believed() -> None:
    A, y = crossed(30, seed=0)
    assert np.abs(asked(grow_trees(A, y, np.zeros(30)), A)).max() < 1.0


def test_training_and_asking_go_the_same_way_at_the_edges_of_bins() -> None:
    A = np.repeat(np.arange(5, dtype=np.float32), 200)[:, np.newaxis]
    y = A[:, 0] > 2
    added = asked(grow_trees(A, y, np.zeros(len(A)), depth=1, n_trees=50), A)
    assert added[A[:, 0] == 2].max() < 0 < added[A[:, 0] == 3].min()


@pytest.mark.parametrize("value", [0.0, 7.5])
def test_a_constant_feature_splits_nothing(value: float) -> None:
    A = np.full((50, 1), value, dtype=np.float32)
    trees = grow_trees(A, np.arange(50) % 2 == 0, np.zeros(50), n_trees=3)
    assert np.all(trees.thresholds > 1e9)
    np.testing.assert_allclose(asked(trees, A), 0.0, atol=0.1)  # each sees half of the cases
