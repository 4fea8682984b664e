from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models.hyperbolic.loss import approach_labels, approach_rows
from labelspace.spaces import euclidean, poincare, sphere

MODULES = {"poincare": poincare, "sphere": sphere, "euclidean": euclidean}


def _case(space: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    U, V = 0.25 * rng.standard_normal((4, 3)), 0.25 * rng.standard_normal((6, 3))
    if space == "sphere":
        U, V = sphere.project(U)[0], sphere.project(V)[0]
    return U, V, np.array([[1, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0] * 6, [0, 0, 1, 1, 1, 0]]) > 0


@pytest.mark.parametrize("space", MODULES)
@pytest.mark.parametrize("summed", [False, True])
def test_loss_is_the_formula(space: str, summed: bool) -> None:
    # L(j, i) = −log e^{−α d(u_j, v_i)} / ( Σ_k e^{−α d(u_j, v_k)} + e^{−α d(u_j, v_i)} )
    over = np.sum if summed else np.mean
    U, V, has = _case(space)
    e = np.exp(-2.0 * MODULES[space].distance(U[:, np.newaxis], V))
    rows = []
    for j in (0, 1, 3):
        others = e[j][~has[j]].sum()
        rows.append(over([-np.log(e[j, i] / (others + e[j, i])) for i in np.flatnonzero(has[j])]))
    found = approach_labels(U, V, has, 2.0, space, summed=summed)[0]
    assert found == pytest.approx(np.mean(rows))


@pytest.mark.parametrize("space", MODULES)
@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_are_those_of_differences(space: str, weighted: bool, summed: bool) -> None:
    U, V, has = _case(space)
    weights = np.linspace(0.5, 2.0, 6) if weighted else None

    def loss(U: np.ndarray, V: np.ndarray) -> float:
        return approach_labels(U, V, has, 2.0, space, weights, summed=summed)[0]

    _, at_rows, at_labels = approach_labels(U, V, has, 2.0, space, weights, summed=summed)
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


@pytest.mark.parametrize("summed", [False, True])
def test_rows_with_similar_labels_are_held_together_and_others_apart(summed: bool) -> None:
    # With v over rows whose label sets have a cosine of at least one half to that of row j.
    rng = np.random.default_rng(1)
    U = 0.3 * rng.standard_normal((6, 3))
    Y = csr_matrix(
        [[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    )
    e = np.exp(-2.0 * poincare.distance(U[:2, np.newaxis], U[3:]))
    # Cosines of row 0 to rows 3, 4 and 5 are 0.71, 0.71 and 0; of row 1, 0, 0 and 1; row 2 has
    # nobody and does not count.
    first = -np.log(e[0, :2] / (e[0, :2] + e[0, 2]))
    second = -np.log(e[1, 2] / e[1].sum())
    expected = (first.sum() if summed else first.mean()) + second
    loss, gradient = approach_rows(U, Y, 2.0, summed=summed)
    assert loss == pytest.approx(expected)
    step = np.zeros_like(U)
    step[1, 0] = 1e-6
    ahead, behind = (approach_rows(U + sign * step, Y, 2.0, summed=summed)[0] for sign in (1, -1))
    assert gradient[1, 0] == pytest.approx((ahead - behind) / 2e-6, abs=1e-6)
