from __future__ import annotations

import numpy as np
import pytest

from labelspace.models.hyperbolic.encoder import SpaceEncoder
from labelspace.models.hyperbolic.metric_index import SPACES
from labelspace.models.hyperbolic.optimizers import AdaGrad, Adam
from labelspace.models.hyperbolic.training import OPTIMIZERS, JointSettings, hold_out, train_joint
from labelspace.selection import usable_rows
from tests.planted import planted_corpus


def test_learning_stops_when_held_out_rows_gain_no_more() -> None:
    X, Y = planted_corpus(1200)
    settings = JointSettings(dim=8, n_epochs=60, patience=2)
    held_out = hold_out(usable_rows(X, Y), 0.05, seed=0)
    assert 30 <= train_joint(X, Y, settings, 0, held_out).n_epochs < 60


def test_without_held_out_rows_all_epochs_are_run() -> None:
    X, Y = planted_corpus(1200)
    settings = JointSettings(dim=4, n_epochs=20, patience=1)
    assert train_joint(X, Y, settings, seed=0).n_epochs == 20


@pytest.mark.parametrize("space", ["poincare", "sphere", "euclidean"])
def test_labels_start_amid_their_rows(space: str) -> None:
    X, Y = planted_corpus(100)
    settings = JointSettings(space=space, dim=4, n_epochs=1, min_steps=1, learning_rate=1e-9)
    trained = train_joint(X, Y, settings, seed=0)
    places = SpaceEncoder(trained.weights, None, space, "lift", "float32").encode(X)
    own = places[Y[:, 2].toarray().ravel() > 0]
    distance = SPACES[space].distance
    there = distance(trained.labels[2], own).mean()
    assert all(there < distance(place, own).mean() for place in own)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_step_touches_its_own_rows_only(optimizer: str) -> None:
    """A feature and a label that no row has stay where they were."""
    X, Y = planted_corpus(100)
    X, Y = X.tolil(), Y.tolil()
    X[:, 3], Y[:, 5] = 0, 0
    settings = JointSettings(dim=4, optimizer=optimizer, learning_rate=0.01, label_scale=1e-3)
    trained = train_joint(X.tocsr(), Y.tocsr(), settings, seed=0)
    assert np.all(trained.weights[3] == 0)
    assert np.linalg.norm(trained.labels[5]) < 0.01


def test_large_steps_leave_nothing_outside_or_undefined() -> None:
    X, Y = planted_corpus(200)
    for way in ("lift", "clip"):
        for optimizer in OPTIMIZERS:
            settings = JointSettings(dim=3, way=way, optimizer=optimizer, learning_rate=50.0)
            trained = train_joint(X, Y, settings, seed=0)
            assert np.all(np.isfinite(trained.weights))
            assert np.linalg.norm(trained.labels.astype(np.float64), axis=1).max() < 1.0


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
