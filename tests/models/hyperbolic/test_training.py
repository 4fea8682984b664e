from __future__ import annotations

import numpy as np
import pytest

from labelspace.models.hyperbolic.encoder import SpaceEncoder
from labelspace.models.hyperbolic.metric_index import SPACES
from labelspace.models.hyperbolic.optimizers import OPTIMIZERS
from labelspace.models.hyperbolic.settings import HyperbolicSettings
from labelspace.models.hyperbolic.training import train_joint
from tests.planted import planted_corpus


def test_learning_stops_when_held_out_rows_gain_no_more() -> None:
    X, Y = planted_corpus(1200)
    settings = HyperbolicSettings(dim=8, n_epochs=60, patience=2)
    assert 30 <= train_joint(X, Y, settings, 0, np.arange(0, 1200, 20)).n_epochs < 60


def test_without_held_out_rows_all_epochs_are_run() -> None:
    X, Y = planted_corpus(1200)
    settings = HyperbolicSettings(dim=4, n_epochs=20, patience=1)
    assert train_joint(X, Y, settings, seed=0).n_epochs == 20


@pytest.mark.parametrize("space", ["poincare", "sphere", "euclidean"])
def test_labels_start_amid_their_rows(space: str) -> None:
    X, Y = planted_corpus(100)
    settings = HyperbolicSettings(space=space, dim=4, n_epochs=1, min_steps=1, learning_rate=1e-9)
    trained = train_joint(X, Y, settings, seed=0)
    points = SpaceEncoder(trained.weights, None, space, "lift", "float32").encode(X)
    own = points[Y[:, 2].toarray().ravel() > 0]
    distance = SPACES[space].distance
    there = distance(trained.labels[2], own).mean()
    assert all(there < distance(point, own).mean() for point in own)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_step_touches_its_own_rows_only(optimizer: str) -> None:
    """A feature and a label that no row has stay where they were."""
    X, Y = planted_corpus(100)
    X, Y = X.tolil(), Y.tolil()
    X[:, 3], Y[:, 5] = 0, 0
    settings = HyperbolicSettings(dim=4, optimizer=optimizer, learning_rate=0.01, label_scale=1e-3)
    trained = train_joint(X.tocsr(), Y.tocsr(), settings, seed=0)
    assert np.all(trained.weights[3] == 0)
    assert np.linalg.norm(trained.labels[5]) < 0.01


def test_large_steps_leave_nothing_outside_or_undefined() -> None:
    X, Y = planted_corpus(200)
    for way in ("lift", "clip"):
        for optimizer in OPTIMIZERS:
            settings = HyperbolicSettings(dim=3, way=way, optimizer=optimizer, learning_rate=50.0)
            trained = train_joint(X, Y, settings, seed=0)
            assert np.all(np.isfinite(trained.weights))
            assert np.linalg.norm(trained.labels.astype(np.float64), axis=1).max() < 1.0
