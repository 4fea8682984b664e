from __future__ import annotations

import numpy as np
import pytest

from labelspace.models.hyperbolic.loss import approach_labels
from labelspace.spaces import euclidean, poincare, sphere

MODULES = {"poincare": poincare, "sphere": sphere, "euclidean": euclidean}


def _case(space: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    U, V = 0.25 * rng.standard_normal((4, 3)), 0.25 * rng.standard_normal((6, 3))
    if space == "sphere":
        U, V = sphere.project(U)[0], sphere.project(V)[0]
    return U, V, np.array([[1, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0] * 6, [0, 0, 1, 1, 1, 0]]) > 0


@pytest.mark.parametrize("space", MODULES)
def test_loss_is_the_formula(space: str) -> None:
    U, V, has = _case(space)
    e = np.exp(-2.0 * MODULES[space].distance(U[:, np.newaxis], V))
    rows = []
    for j in (0, 1, 3):
        others = e[j][~has[j]].sum()
        rows.append(
            np.mean([-np.log(e[j, i] / (others + e[j, i])) for i in np.flatnonzero(has[j])])
        )
    assert approach_labels(U, V, has, 2.0, space)[0] == pytest.approx(np.mean(rows))


@pytest.mark.parametrize("space", MODULES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_differences(space: str, weighted: bool) -> None:
    U, V, has = _case(space)
    weights = np.linspace(0.5, 2.0, 6) if weighted else None

    def loss(U: np.ndarray, V: np.ndarray) -> float:
        return approach_labels(U, V, has, 2.0, space, weights)[0]

    _, at_rows, at_labels = approach_labels(U, V, has, 2.0, space, weights)
    for place, gradient, other in ((U, at_rows, V), (V, at_labels, U)):
        for at in np.ndindex(place.shape):
            step = np.zeros_like(place)
            step[at] = 1e-6
            pair = [(place + step, other), (place - step, other)]
            ahead, behind = (loss(*p) if place is U else loss(p[1], p[0]) for p in pair)
            assert gradient[at] == pytest.approx((ahead - behind) / 2e-6, abs=1e-7)


def test_the_edge_of_the_ball_gives_finite_gradients() -> None:
    edge = 1.0 - 1e-5
    U = np.array([[edge, 0.0], [-edge, 0.0], [0.0, 0.0]])
    V = np.array([[edge, 0.0], [0.0, edge], [0.0, 0.0]])
    loss, at_rows, at_labels = approach_labels(U, V, np.eye(3) > 0, 50.0)
    assert np.isfinite(loss)
    assert np.all(np.isfinite(at_rows))
    assert np.all(np.isfinite(at_labels))
