"""Random labels: evenly drawn, and the same for the same seed and row."""

from __future__ import annotations

import numpy as np

from labelspace.models import RandomLabels


def fitted(seed: int) -> RandomLabels:
    return RandomLabels(random_state=seed).fit([[1.0], [2.0]], [[0, 1, 2, 3], [4, 5, 6, 7]])


def test_all_labels_are_equally_likely_and_none_comes_twice_in_a_row() -> None:
    labels = fitted(0).predict_topk(np.arange(1, 4001)[:, None], k=2).labels
    assert (labels[:, 0] != labels[:, 1]).all()
    assert (abs(np.bincount(labels.ravel(), minlength=8) / 1000 - 1) < 0.15).all()


def test_answer_depends_on_seed_and_row_only() -> None:
    rows = np.arange(1, 51)[:, None]
    together = fitted(0).predict_topk(rows, k=3).labels
    alone = np.vstack([fitted(0).predict_topk(row[None], k=3).labels for row in rows[:5]])
    np.testing.assert_array_equal(together[:5], alone)
    assert (fitted(1).predict_topk(rows, k=3).labels != together).any()
