from __future__ import annotations

import numpy as np
import pytest

from labelspace.linear.label_softmax import label_softmax_loss
from labelspace.spaces import sphere


@pytest.fixture
def batch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    has = rng.random((5, 7)) < 0.4
    has[0] = False
    has[1] = True
    return rng.standard_normal((5, 3)), rng.standard_normal((7, 3)), has


def loss_of(Z: np.ndarray, W: np.ndarray, b: np.ndarray, has: np.ndarray, gamma: float) -> float:
    return label_softmax_loss(sphere.project(Z)[0], sphere.project(W)[0], b, has, gamma)[0]


def test_loss_is_the_formula_written_out(batch) -> None:
    Z, W, has = batch
    U, L = sphere.project(Z)[0], sphere.project(W)[0]
    biases = np.linspace(-2, 2, 7)
    S = 8.0 * U @ L.T + biases
    expected = 0.0
    for row in range(5):
        others = np.exp(S[row, ~has[row]]).sum()
        for label in np.flatnonzero(has[row]):
            odds = np.exp(S[row, label])
            expected -= np.log(odds / (odds + others)) / has[row].sum()
    assert label_softmax_loss(U, L, biases, has, 8.0)[0] == pytest.approx(expected)


@pytest.mark.parametrize("gamma", [1.0, 10.0, 30.0])
def test_gradient_is_that_of_finite_differences(batch, gamma: float) -> None:
    Z, W, has = batch
    (U, u), (L, length) = sphere.project(Z), sphere.project(W)
    biases = np.linspace(-2, 2, 7)
    _, at_U, at_L, at_biases = label_softmax_loss(U, L, biases, has, gamma)
    gradients = sphere.pull_back(at_U, U, u), sphere.pull_back(at_L, L, length), at_biases
    step = 1e-6
    for which, gradient in enumerate(gradients):
        for place in np.ndindex(gradient.shape):
            moved = [Z.copy(), W.copy(), biases.copy()]
            moved[which][place] += step
            up = loss_of(*moved, has, gamma)
            moved[which][place] -= 2 * step
            down = loss_of(*moved, has, gamma)
            assert gradient[place] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-5)


def test_row_without_labels_counts_for_nothing(batch) -> None:
    Z, W, has = batch
    U, L = sphere.project(Z)[0], sphere.project(W)[0]
    _, at_rows, *_ = label_softmax_loss(U, L, np.zeros(7), has, 10.0)
    assert np.all(at_rows[0] == 0)
