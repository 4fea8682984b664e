"""XML-CNN begins with words beside their labels, and with answers that differ between rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.xml_cnn.row_words import RowWords, bags_of
from labelspace.models.xml_cnn.starting_points import label_directions, standardised


def some_rows(n_rows: int = 60, n_groups: int = 4) -> tuple[RowWords, csr_matrix]:
    """Rows of a label each; of their six words five are the label's own, and one all rows have."""
    rng = np.random.default_rng(0)
    group = np.arange(n_rows) % n_groups
    own = 1 + 10 * group[:, np.newaxis] + rng.integers(10, size=(n_rows, 5))
    words = np.column_stack((np.zeros(n_rows), own)).astype(np.int32).ravel()
    rows = RowWords(6 * np.arange(n_rows + 1), words, np.ones(words.size, dtype=np.float32))
    return rows, csr_matrix(np.eye(n_groups, dtype=np.float32)[group])


def test_words_of_a_label_begin_together_and_common_ones_are_short() -> None:
    rows, Y = some_rows()
    vectors = label_directions(bags_of(rows, 50), Y, 8, np.random.default_rng(1))
    lengths = np.linalg.norm(vectors, axis=1)
    met = np.flatnonzero(lengths)
    assert np.array_equal(met, np.unique(rows.words))
    assert lengths[0] < 0.2 * np.median(lengths[met])
    unit = vectors[met[1:]] / lengths[met[1:], np.newaxis]
    cosines = unit @ unit.T
    alike = (met[1:, np.newaxis] - 1) // 10 == (met[1:] - 1) // 10
    assert cosines[alike].min() > 0.9
    assert np.abs(cosines[~alike]).max() < 0.1


@pytest.mark.parametrize("dim", [2, 64])
def test_dimensions_may_be_fewer_or_more_than_labels(dim: int) -> None:
    rows, Y = some_rows()
    vectors = label_directions(bags_of(rows, 50), Y, dim, np.random.default_rng(1))
    assert vectors.shape == (50, dim)
    assert np.isfinite(vectors).all()


def test_a_standardised_layer_hears_each_answer_alike() -> None:
    rng = np.random.default_rng(0)
    pooled = (rng.random((500, 3)) * [0.1, 1.0, 5.0] + [9.0, 0.0, 3.0]).astype(np.float32)
    weights, biases = standardised(pooled, np.eye(3, dtype=np.float32))
    heard = pooled @ weights + biases
    assert np.abs(heard.mean(axis=0)).max() < 1e-3
    assert 0.85 < heard[:, 1:].std() < 1.0  # the first hardly answers, and is not blown up
    assert heard[:, 0].std() < 0.5
