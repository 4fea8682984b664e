"""Scores of several methods as one probability."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import metrics
from labelspace.topk import TopK, topk_dense
from labelspace.tuning.mixture import Evidence, Mixture


def answers(n_rows: int = 600, n_labels: int = 8, seed: int = 0) -> tuple[csr_matrix, list[TopK]]:
    """Return labels, and two rankings that see them through noise of their own."""
    random = np.random.default_rng(seed)
    Y = (random.random((n_rows, n_labels)) < 0.25).astype(np.float32)
    tops = [
        topk_dense(scale * (Y + random.normal(scale=0.8, size=Y.shape)) + shift, 6)
        for scale, shift in ((1.0, 0.0), (0.01, 5.0))
    ]
    return csr_matrix(Y), tops


def precision(Y: csr_matrix, top: TopK) -> float:
    return metrics.evaluate(Y, top, ks=(1,))["P@1"]


def test_two_methods_are_better_than_each_on_rows_that_they_have_not_seen() -> None:
    Y, tops = answers()
    mixture = Mixture.learn(tops, Y)
    Y_new, new = answers(seed=1)
    mixed = precision(Y_new, mixture.mix(new, Y.shape[1], 5))
    assert mixed > max(precision(Y_new, top) for top in new) + 5


def test_cross_fitted_figures_are_those_of_new_rows() -> None:
    Y, tops = answers(3000)
    expected = precision(Y, Evidence(tops, Y).ranking([0, 1], 5))
    Y_new, new = answers(3000, seed=1)
    found = precision(Y_new, Mixture.learn(tops, Y).mix(new, Y.shape[1], 5))
    assert found == pytest.approx(expected, abs=2.0)


def test_one_method_keeps_its_order() -> None:
    Y, tops = answers()
    mixed = Mixture.learn(tops[:1], Y).mix(tops[:1], Y.shape[1], 6)
    np.testing.assert_array_equal(mixed.labels, tops[0].labels)


def test_scores_are_probabilities() -> None:
    Y, tops = answers(3000)
    Y_new, new = answers(3000, seed=1)
    mixed = Mixture.learn(tops, Y).mix(new, Y.shape[1], 5)
    assert metrics.calibration_error(Y_new, mixed) < 3.0


def test_a_method_that_knows_nothing_is_not_believed() -> None:
    Y, tops = answers(3000)
    random = np.random.default_rng(5)
    chance = topk_dense(random.random(Y.shape), 6)
    weights = Mixture.learn([tops[0], chance], Y).weights
    assert abs(weights[1]) < 0.2 * weights[0]


@pytest.mark.parametrize("n_rows", [1, 2, 7])
def test_few_rows_and_labels_that_are_all_right_do_not_break_it(n_rows: int) -> None:
    Y, tops = answers(n_rows)
    everything = csr_matrix(np.ones(Y.shape, dtype=np.float32))
    nothing = csr_matrix(Y.shape, dtype=np.float32)
    for truth in (Y, everything, nothing):
        mixed = Mixture.learn(tops, truth).mix(tops, Y.shape[1], 3)
        assert np.isfinite(mixed.scores).all()


def test_a_row_that_no_method_names_a_label_for_has_none() -> None:
    Y, tops = answers()
    silent = [TopK.empty(2, 6), TopK.empty(2, 6)]
    assert (Mixture.learn(tops, Y).mix(silent, Y.shape[1], 3).labels == -1).all()
