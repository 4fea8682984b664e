from __future__ import annotations

import numpy as np
import pytest

from benchmarks.studies.smce.sne import cost, gradient, neighbour_probabilities, squared_distances


def test_the_gradient_is_that_of_the_cost() -> None:
    # ∂C/∂y_i = 2 Σ_j (p_{j|i} − q_{j|i} + p_{i|j} − q_{i|j}) (y_i − y_j)
    random = np.random.default_rng(0)
    P = neighbour_probabilities(squared_distances(random.normal(size=(30, 5))), 5.0)
    Y, step = random.normal(size=(30, 2)), np.zeros((30, 2))
    step[3, 1] = 1e-5
    slope = (cost(P, Y + step) - cost(P, Y - step)) / 2e-5
    assert gradient(P, Y)[3, 1] == pytest.approx(slope, rel=1e-6)


def test_every_point_has_as_many_neighbours_as_the_perplexity_says() -> None:
    P = neighbour_probabilities(squared_distances(np.random.default_rng(0).normal(size=(40, 3))), 7)
    assert np.exp(-np.sum(P * np.log(np.maximum(P, 1e-300)), axis=1)) == pytest.approx(7.0)
    assert P.sum(axis=1) == pytest.approx(1.0)
    assert not P.diagonal().any()
