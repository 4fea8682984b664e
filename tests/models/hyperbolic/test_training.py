from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.hyperbolic.encoder import SpaceEncoder
from labelspace.models.hyperbolic.loss import approach_rows
from labelspace.models.hyperbolic.metric_index import SPACES
from labelspace.models.hyperbolic.optimizers import OPTIMIZERS
from labelspace.models.hyperbolic.settings import HyperbolicSettings
from labelspace.models.hyperbolic.training import LabelPoints, RowStep, Stopping, train_joint
from labelspace.spaces import poincare
from tests.planted import planted_corpus


def test_learning_stops_when_held_out_rows_gain_no_more() -> None:
    X, Y = planted_corpus(1200)
    settings = HyperbolicSettings(dim=8, n_epochs=60, patience=2)
    assert 30 <= train_joint(X, Y, settings, 0, np.arange(0, 1200, 20)).n_epochs < 60


def test_without_held_out_rows_all_epochs_are_run() -> None:
    X, Y = planted_corpus(1200)
    settings = HyperbolicSettings(dim=4, n_epochs=20, patience=1)
    assert train_joint(X, Y, settings, seed=0).n_epochs == 20


def test_with_constant_steps_learning_may_stop_in_the_first_half() -> None:
    X, Y = planted_corpus(1200)
    settings = HyperbolicSettings(dim=8, n_epochs=60, patience=2, constant_steps=True)
    assert train_joint(X, Y, settings, 0, np.arange(0, 1200, 20)).n_epochs < 30


def test_the_best_state_is_kept_once_there_was_no_better_for_the_patience(monkeypatch) -> None:
    X, Y = planted_corpus(200)
    held_out = np.arange(0, 200, 20)
    told = {"dim": 3, "min_steps": 1, "patience": 3, "constant_steps": True}

    def trained(n_epochs: int, *precisions: float) -> Any:
        measured = iter(precisions)
        monkeypatch.setattr(Stopping, "_precision", lambda *of: next(measured))
        return train_joint(X, Y, HyperbolicSettings(n_epochs=n_epochs, **told), 0, held_out)

    # The second pass is the best, and one as good as it is not better.
    stopped = trained(20, 0.2, 0.5, 0.4, 0.5, 0.3)
    second = trained(2, 0.2, 0.5)
    assert (stopped.n_epochs, second.n_epochs) == (5, 2)
    assert np.array_equal(stopped.weights, second.weights)
    assert np.array_equal(stopped.labels, second.labels)


@pytest.mark.parametrize("constant", [False, True])
def test_steps_fall_to_zero_or_stay(constant: bool, monkeypatch) -> None:
    paces = []
    monkeypatch.setattr(RowStep, "descend", lambda self, gradient, pace: paces.append(pace))
    settings = HyperbolicSettings(
        dim=2, n_epochs=2, min_steps=1, learning_rate=0.5, constant_steps=constant
    )
    train_joint(*planted_corpus(64), settings, seed=0)
    expected = [0.5 * (1.0 if constant else 1.0 - at / 8) for at in range(8)]
    assert paces == pytest.approx(expected)


@pytest.mark.parametrize("label_loss", ["mean", "sum"])
def test_rows_with_similar_labels_move_by_the_weight_of_that_loss(
    label_loss: str, monkeypatch
) -> None:
    X, Y = planted_corpus(16)
    settings = HyperbolicSettings(
        dim=2, n_epochs=1, min_steps=1, row_similarity=0.3, label_loss=label_loss
    )
    seen: dict[str, Any] = {}

    def nothing(self, batch, U, pace, rng):
        seen.update(batch=batch, U=U)
        return np.zeros_like(U)

    monkeypatch.setattr(LabelPoints, "descend", nothing)
    monkeypatch.setattr(RowStep, "descend", lambda self, slope, pace: seen.update(slope=slope))
    train_joint(X, Y, settings, seed=0)
    U, labels = seen["U"], csr_matrix(Y[seen["batch"]])
    expected = approach_rows(U, labels, settings.alpha, summed=label_loss == "sum")[1]
    assert np.any(expected != 0)
    assert seen["slope"] == pytest.approx(0.3 * expected)


class Draws:
    """A generator that draws what it was told."""

    def __init__(self, *labels: int) -> None:
        self.labels = np.array(labels)

    def integers(self, n: int, size: int) -> np.ndarray:
        return self.labels


@pytest.mark.parametrize("label_loss", ["mean", "sum"])
@pytest.mark.parametrize("batch_negatives", [False, True])
def test_rows_are_kept_from_the_labels_drawn(label_loss: str, batch_negatives: bool) -> None:
    # −log e^{−α d(u_j, v_i)} / ( Σ_k e^{−α d(u_j, v_k)} + e^{−α d(u_j, v_i)} ), k over labels that
    # are drawn, and over those of the other row only if told so; labels 3 and 4 are neither.
    settings = HyperbolicSettings(
        dim=2,
        alpha=2.0,
        optimizer="rsgd",
        label_loss=label_loss,
        batch_negatives=batch_negatives,
        label_scale=0.05,
    )
    Y = csr_matrix([[1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 1]])
    labels = LabelPoints(Y, settings, np.random.default_rng(0))
    V = labels.points.astype(np.float64)
    U = np.array([[0.3, 0.1], [-0.2, 0.4]])
    own = [[0, 1], [2]]
    others = [[2, 4], [0, 1, 4]] if batch_negatives else [[4], [4]]

    def loss(U: np.ndarray, V: np.ndarray) -> float:
        total = 0.0
        for j in range(2):
            e = np.exp(-2.0 * poincare.distance(U[j], V))
            each = [-np.log(e[i] / (e[others[j]].sum() + e[i])) for i in own[j]]
            total += np.sum(each) if label_loss == "sum" else np.mean(each)
        return float(total)

    def slopes(at: np.ndarray, of: Any) -> np.ndarray:
        found = np.empty_like(at)
        for place in np.ndindex(at.shape):
            step = np.zeros_like(at)
            step[place] = 1e-6
            found[place] = (of(at + step) - of(at - step)) / 2e-6
        return found

    draws: Any = Draws(4)
    at_rows = labels.descend(np.array([0, 1]), U, 0.1, draws)
    assert at_rows == pytest.approx(slopes(U, lambda U: loss(U, V)), abs=1e-6)
    # v ← p(v − η ((1 − ‖v‖²)/2)² ∂L/∂v)
    factor = ((1 - np.sum(V**2, axis=1, keepdims=True)) / 2) ** 2
    expected = V - 0.1 * factor * slopes(V, lambda V: loss(U, V))
    assert labels.points == pytest.approx(expected, abs=1e-6)
    assert np.array_equal(labels.points[3], V[3].astype(np.float32))


def test_adam_has_the_factor_of_the_place_on_the_labels_step() -> None:
    # Adam's first step has length one in each direction whatever the slope is.
    settings = HyperbolicSettings(dim=2, optimizer="adam")
    labels = LabelPoints(csr_matrix([[1, 1]]), settings, np.random.default_rng(0))
    V = np.array([[0.6, 0.0], [0.0, -0.8]])
    moved = labels._moved(V, np.array([[5.0, -0.01], [-3.0, 2.0]]), np.array([0, 1]), 0.01)
    # ((1 − 0.36) / 2)² = 0.1024 and ((1 − 0.64) / 2)² = 0.0324
    expected = [[0.6 - 0.001024, 0.001024], [0.000324, -0.8 - 0.000324]]
    assert moved == pytest.approx(np.array(expected), abs=1e-7)


def test_plain_descent_has_the_factor_of_each_row_in_the_slope_of_the_clipped_map() -> None:
    settings = HyperbolicSettings(dim=1, optimizer="rsgd", way="clip")
    rows = RowStep(csr_matrix(np.eye(2, dtype=np.float32)), settings, np.random.default_rng(0))
    rows.weights[:] = [[0.6], [-0.8]]
    rows.encode(np.array([0, 1]))
    rows.descend(np.array([[1.0], [1.0]]), 0.1)
    # θ ← θ − η Σ_j x_j ((1 − ‖u_j‖²)/2)² ∂L/∂z_j, and ∂L/∂z_j = ∂L/∂u_j inside the ball
    assert rows.weights == pytest.approx(np.array([[0.6 - 0.01024], [-0.8 - 0.00324]]), abs=1e-6)


@pytest.fixture
def two_rows() -> Any:
    """Two rows, the first with one feature, the second with two, at 0.8 and 0.4 in the ball."""

    def made(**told: Any) -> RowStep:
        settings = HyperbolicSettings(dim=1, way="clip", **told)
        X = csr_matrix(np.array([[1.0, 0.0], [0.25, 1.0]], dtype=np.float32))
        rows = RowStep(X, settings, np.random.default_rng(0))
        rows.weights[:] = [[0.8], [0.2]]
        return rows

    return made


def test_adam_steps_by_the_slopes_of_rows_with_the_factor_of_each(two_rows) -> None:
    # θ ← θ − η A( Σ_j x_j ((1 − ‖u_j‖²)/2)² ∂L/∂z_j ), and ∂L/∂z_j = ∂L/∂u_j inside the ball.
    rows = two_rows(optimizer="adam")
    rows.encode(np.array([0, 1]))
    rows.descend(np.array([[1.0], [-2.0]]), 0.01)
    # First feature: 1 · 0.18² · 1 − ¼ · 0.42² · 2 < 0, while without factors 1 − ¼ · 2 > 0. Adam's
    # first step has the length η whatever the slope is, and goes against its sign.
    assert rows.weights == pytest.approx(np.array([[0.81], [0.21]]), abs=1e-6)


def test_the_factor_can_stand_on_the_maps_steps(two_rows) -> None:
    # The slope of the first feature is 1 − ¼ · 2 > 0, that of the second −2. The first is of both
    # rows, whose factors are 0.18² and 0.42², the second of the second row alone.
    rows = two_rows(optimizer="adam", row_factor="step")
    rows.encode(np.array([0, 1]))
    rows.descend(np.array([[1.0], [-2.0]]), 0.01)
    expected = [[0.8 - 0.01 * (0.0324 + 0.1764) / 2], [0.2 + 0.01 * 0.1764]]
    assert rows.weights == pytest.approx(np.array(expected), abs=1e-6)
    # Steps without Adam: slopes and factors as they are.
    rows = two_rows(optimizer="rsgd", row_factor="step")
    rows.encode(np.array([0, 1]))
    rows.descend(np.array([[1.0], [-2.0]]), 0.01)
    expected = [[0.8 - 0.01 * 0.5 * (0.0324 + 0.1764) / 2], [0.2 + 0.01 * 2 * 0.1764]]
    assert rows.weights == pytest.approx(np.array(expected), abs=1e-6)


def test_the_second_layer_has_the_mean_factor_of_the_batch_on_its_steps() -> None:
    settings = HyperbolicSettings(
        dim=1, n_hidden=1, way="clip", optimizer="adam", row_factor="step"
    )
    X = csr_matrix(np.array([[0.5], [2.0]], dtype=np.float32))
    rows = RowStep(X, settings, np.random.default_rng(0))
    rows.weights[:], rows.top[:] = 1.0, 0.9
    factors = ((1 - rows.encode(np.array([0, 1]))[:, 0] ** 2) / 2) ** 2
    rows.descend(np.array([[1.0], [1.0]]), 0.01)
    assert rows.top == pytest.approx(np.array([[0.9 - 0.01 * factors.mean()]]), abs=1e-6)


@pytest.mark.parametrize("told", [{"way": "lift"}, {"way": "clip", "space": "euclidean"}], ids=str)
def test_only_clipped_rows_have_the_factor(told: dict) -> None:
    X, Y = planted_corpus(64)
    at_slope, on_step = (
        train_joint(X, Y, HyperbolicSettings(dim=2, n_epochs=1, row_factor=where, **told), seed=0)
        for where in ("slope", "step")
    )
    assert np.array_equal(at_slope.weights, on_step.weights)


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
