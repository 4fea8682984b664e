from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit, logit

from labelspace import metrics
from labelspace.models.hierarchical_xc.platt import Platt, learn_platt
from labelspace.topk import TopK, topk_dense


def bent(slope: float, shift: float, n_rows: int = 4000) -> tuple[TopK, csr_matrix]:
    """Return probabilities that slope and shift would set right, and labels drawn by the truth."""
    rng = np.random.default_rng(0)
    told = rng.uniform(0.02, 0.98, size=(n_rows, 4))
    Y = csr_matrix((rng.random(told.shape) < expit(slope * logit(told) + shift)).astype(np.float32))
    return topk_dense(told.astype(np.float32), 3), Y


@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (1.5, 1.0), (0.6, -0.5)])
def test_it_finds_how_probabilities_were_bent(slope, shift):
    top, Y = bent(slope, shift)
    found = learn_platt(top, Y)
    assert found.slope == pytest.approx(slope, abs=0.15)
    assert found.shift == pytest.approx(shift, abs=0.15)
    assert metrics.calibration_error(Y, found.apply(top)) < 2.0


def test_the_formula_holds_for_numbers_worked_out_by_hand():
    # P = σ(a·logit(p) + b): logits 0 and log 4 become log 3 and 2 log 4 + log 3 = log 48
    top = TopK(np.array([[1, 0]]), np.array([[0.8, 0.5]], dtype=np.float32))
    found = Platt(slope=2.0, shift=float(np.log(3.0))).apply(top)
    assert found.scores[0] == pytest.approx([48 / 49, 3 / 4])
    assert found.labels.tolist() == [[1, 0]]


def test_the_order_stays_and_missing_labels_stay_missing():
    top = TopK(np.array([[3, 1, -1]]), np.array([[1.0, 1e-12, -np.inf]], dtype=np.float32))
    for platt in (Platt(), Platt(0.05, 3.0), Platt(4.0, -2.0)):
        scores = platt.apply(top).scores[0]
        assert 1.0 >= scores[0] > scores[1] >= 0.0
        assert np.isneginf(scores[2])


def test_labels_that_are_right_by_no_rule_do_not_turn_the_order():
    top, Y = bent(1.0, 0.0, n_rows=50)
    against = csr_matrix(1.0 - Y.toarray())
    assert learn_platt(top, against).slope > 0


def test_nothing_changes_without_rows():
    found = learn_platt(TopK.empty(0, 3), csr_matrix((0, 4)))
    assert (found.slope, found.shift) == (1.0, 0.0)


def test_it_can_go_half_the_way():
    half = Platt(slope=1.5, shift=-0.4).faded(0.5)
    assert (half.slope, half.shift) == (1.25, -0.2)
