from __future__ import annotations

import numpy as np
import pytest

from labelspace.models.neuralxc.column_sampling import sample_columns


def test_few_columns_are_all_there_and_count_once():
    sample = sample_columns(5, 8, np.array([1]), np.random.default_rng(0))
    assert np.array_equal(sample.columns, np.arange(5))
    assert sample.weights is None


@pytest.mark.parametrize("own", [[], [3], [0, 4, 9], list(range(8)), list(range(10))])
def test_own_columns_are_in_and_weights_add_up_to_all(own):
    rng = np.random.default_rng(0)
    for _ in range(20):
        sample = sample_columns(10, 6, np.array(own, dtype=np.int64), rng)
        assert np.all(np.diff(sample.columns) > 0)
        assert sample.columns.min() >= 0
        assert sample.columns.max() < 10
        assert np.isin(own, sample.columns).all()
        assert np.all(sample.weights[np.isin(sample.columns, own)] == 1.0)
        assert sample.weights.sum() == pytest.approx(10.0, rel=1e-6)


def test_a_weighted_sum_is_on_average_the_sum_over_all_columns():
    rng = np.random.default_rng(1)
    values = rng.random(12)
    own = np.array([2, 7])
    seen = np.zeros(12)
    n_draws = 4000
    for _ in range(n_draws):
        sample = sample_columns(12, 5, own, rng)
        seen[sample.columns] += sample.weights / n_draws
    assert np.allclose(seen, 1.0, atol=0.12), "each column counts once on average"
    assert seen @ values == pytest.approx(values.sum(), rel=0.02)
