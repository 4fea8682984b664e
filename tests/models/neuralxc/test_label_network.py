from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.encoders.network import NetworkEncoder
from labelspace.models.neuralxc.dense_layers import DenseLayers
from labelspace.models.neuralxc.label_network import LabelNetwork
from tests.models.neuralxc.logits import logits

# Three labels, each with a direction of its own; the fourth is free.
ROWS = csr_matrix(np.repeat(np.eye(4, dtype=np.float32), 5, axis=0))


def network(*, unit: bool) -> LabelNetwork:
    eye = np.eye(4, dtype=np.float32)
    encoder = NetworkEncoder(eye, np.zeros(4, dtype=np.float32), [], unit=False, storage="float32")
    turned = DenseLayers([(2.0 * eye, np.zeros(4, dtype=np.float32))], ["relu"])
    biases = np.full(3, -3.0, dtype=np.float32)
    mean = np.full(4, 0.25 if unit else 0.5, dtype=np.float32)
    # A label's own rows score 5 - 3 or 10 - 3, and the mean row 1.25 - 3 or 2.5 - 3.
    own, everywhere = (2.0, -1.75) if unit else (7.0, -0.5)
    return LabelNetwork(encoder, turned, 5.0 * eye[:3], biases, mean, own, everywhere, unit=unit)


@pytest.mark.parametrize(("unit", "length"), [(True, 1.0), (False, 2.0)])
def test_what_outputs_read_has_length_one_if_asked_for(unit, length):
    hidden = network(unit=unit).last_hidden(ROWS)
    np.testing.assert_allclose(np.linalg.norm(hidden, axis=1), length, rtol=1e-6)


@pytest.mark.parametrize("unit", [True, False])
def test_a_new_label_scores_highest_in_its_rows_but_no_more_than_0(unit):
    labels = network(unit=unit)
    before = logits(labels, ROWS)
    labels.add_labels(ROWS[15:], csr_matrix(np.tile([0.0, 0.0, 0.0, 1.0], (5, 1))))
    scores = logits(labels, ROWS)
    np.testing.assert_array_equal(scores[:, :3], before)
    assert scores[15:, 3].min() > scores[:15, 3].max() + 1.0
    assert scores[:, 3].max() < 1e-5


def test_a_new_label_is_as_long_as_all_others_where_scores_are_cosines():
    labels = network(unit=True)
    labels.add_labels(ROWS[15:], csr_matrix(np.tile([0.0, 0.0, 0.0, 1.0], (5, 1))))
    np.testing.assert_allclose(np.linalg.norm(labels.weights, axis=1), 5.0, rtol=1e-6)


def test_known_labels_change_nothing():
    labels = network(unit=False)
    before = labels.weights
    labels.add_labels(ROWS[:5], csr_matrix(np.ones((5, 3))))
    assert labels.weights is before
