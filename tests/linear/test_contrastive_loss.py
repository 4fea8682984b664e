from __future__ import annotations

import numpy as np
import pytest

from labelspace.linear.contrastive_loss import contrast
from labelspace.spaces import sphere


def batch(seed: int = 0, n: int = 6, dim: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    ignored = rng.random((n, n)) < 0.2
    np.fill_diagonal(ignored, False)
    return rng.standard_normal((n, dim)), rng.standard_normal((n, dim)), ignored


def loss_of(A: np.ndarray, B: np.ndarray, gamma: float, ignored, symmetric: bool) -> float:
    return contrast(
        sphere.project(A)[0], sphere.project(B)[0], gamma, ignored=ignored, symmetric=symmetric
    )[0]


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("gamma", [1.0, 10.0, 30.0])
def test_gradient_is_that_of_finite_differences(
    symmetric: bool, masked: bool, gamma: float
) -> None:
    A, B, ignored = batch()
    mask = ignored if masked else None
    (U, u), (W, w) = sphere.project(A), sphere.project(B)
    _, at_U, at_W = contrast(U, W, gamma, ignored=mask, symmetric=symmetric)
    gradients = sphere.pull_back(at_U, U, u), sphere.pull_back(at_W, W, w)
    step = 1e-6
    for which, (matrix, gradient) in enumerate(zip((A, B), gradients, strict=True)):
        for place in np.ndindex(matrix.shape):
            moved = [A.copy(), B.copy()]
            moved[which][place] += step
            up = loss_of(*moved, gamma, mask, symmetric)
            moved[which][place] -= 2 * step
            down = loss_of(*moved, gamma, mask, symmetric)
            assert gradient[place] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-5)


def test_loss_is_the_softmax_written_out() -> None:
    A, B, ignored = batch()
    U, W = sphere.project(A)[0], sphere.project(B)[0]
    S = np.where(ignored, -np.inf, 10.0 * U @ W.T)
    by_anchor = -np.log(np.exp(np.diag(S)) / np.exp(S).sum(axis=1)).sum()
    by_partner = -np.log(np.exp(np.diag(S)) / np.exp(S).sum(axis=0)).sum()
    assert contrast(U, W, 10.0, ignored=ignored, symmetric=False)[0] == pytest.approx(by_anchor)
    assert contrast(U, W, 10.0, ignored=ignored)[0] == pytest.approx(by_anchor + by_partner)


def test_ignored_pairs_are_not_pushed_apart() -> None:
    A, B, _ = batch(n=2)
    ignored = np.array([[False, True], [True, False]])
    loss, at_anchors, at_partners = contrast(
        sphere.project(A)[0], sphere.project(B)[0], 10.0, ignored=ignored
    )
    assert loss == pytest.approx(0.0, abs=1e-6)
    assert np.allclose(at_anchors, 0, atol=1e-5)
    assert np.allclose(at_partners, 0, atol=1e-5)


def test_stays_finite_where_everything_is_opposite() -> None:
    A = np.tile(np.array([[1.0, 0.0]], dtype=np.float32), (3, 1))
    loss, *gradients = contrast(A, -A, 40.0)
    assert np.isfinite(loss)
    assert all(np.isfinite(gradient).all() for gradient in gradients)
