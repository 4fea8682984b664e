"""Optimisers that touch a few rows of a large table."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace.models.hyperbolic.optimizers import AdaGrad, Adam


def test_lazy_adam_on_every_row_is_adam() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    ours, theirs = np.zeros((3, 2)), torch.zeros((3, 2), dtype=torch.float64)
    adam, optimizer = Adam(3, 2), torch.optim.Adam([theirs], lr=0.1)
    for _ in range(5):
        gradient = rng.standard_normal((3, 2))
        ours -= 0.1 * adam.direction(np.arange(3), gradient)
        theirs.grad = torch.tensor(gradient)
        optimizer.step()
    assert np.allclose(ours, theirs.numpy(), atol=1e-4)


def test_adagrad_slows_down_the_rows_that_move() -> None:
    steps = AdaGrad(2, 1)
    moves = [steps.direction(np.array([0]), np.array([[2.0]])).item() for _ in range(3)]
    assert moves == sorted(moves, reverse=True)
    assert steps.direction(np.array([1]), np.array([[2.0]])).item() == moves[0]
