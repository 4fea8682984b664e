"""The shapes on which manifold methods are compared, with the right answer of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

AMBIENT = 100
"""Dimensions that curves and surfaces are turned into, and that noise comes from."""


@dataclass(frozen=True)
class Shape:
    """Points, the manifold of each, the dimensions of these where known, and a colour each."""

    X: NDArray[np.float64]
    truth: NDArray[np.int64]
    dimensions: tuple[int, ...] | None
    colours: NDArray[np.float64]

    @property
    def n_clusters(self) -> int:
        return int(self.truth.max()) + 1


def two_knots(seed: int, n: int = 200, noise: float = 0.01) -> Shape:
    """Two trefoil knots through each other, 0.2 apart where they are nearest."""
    t = np.linspace(0, 2 * np.pi, n, endpoint=False)
    x, y = np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t)
    knot = np.column_stack((x, y, -np.sin(3 * t)))
    both = np.concatenate((knot, knot + np.array([3.0, 0.0, 0.0])))
    truth = np.repeat([0, 1], n)
    return Shape(_lifted(both, noise, seed), truth, (1, 1), np.concatenate((t, t)))


def punctured_sphere(seed: int, n: int = 800, noise: float = 0.01) -> Shape:
    """A sphere without the upper quarter of its height."""
    rng = np.random.default_rng(seed)
    height, angle = rng.uniform(-1.0, 0.5, n), rng.uniform(0, 2 * np.pi, n)
    radius = np.sqrt(1 - height**2)
    sphere = np.column_stack((radius * np.cos(angle), radius * np.sin(angle), height))
    return Shape(_lifted(sphere, noise, seed), np.zeros(n, dtype=np.int64), (2,), height)


def ring_sphere_ball(seed: int, noise: float = 0.005) -> Shape:
    """A wavy ring (1 dimension) around a sphere (2) around a solid ball (3)."""
    rng = np.random.default_rng(seed)
    sizes = (100, 800, 600)
    t = np.sort(rng.uniform(0, 2 * np.pi, sizes[0]))
    ring = np.column_stack((1.3 * np.cos(t), 1.3 * np.sin(t), 0.2 * np.sin(3 * t)))
    sphere = _on_sphere(sizes[1], rng)
    ball = 0.5 * _on_sphere(sizes[2], rng) * np.cbrt(rng.random((sizes[2], 1)))
    points = np.concatenate((ring, sphere, ball))
    return Shape(_lifted(points, noise, seed), np.repeat([0, 1, 2], sizes), (1, 2, 3), points[:, 2])


def digits(*chosen: int) -> Callable[[int], Shape]:
    """Images of handwritten digits, 8 × 8; the seed is not used."""

    def load(seed: int) -> Shape:
        X, y = load_digits(return_X_y=True)
        kept = np.isin(y, chosen)
        truth = np.searchsorted(chosen, y[kept])
        return Shape(X[kept], truth, None, truth.astype(np.float64))

    return load


SHAPES: dict[str, Callable[[int], Shape]] = {
    "two knots": two_knots,
    "two knots, noise × 3": lambda seed: two_knots(seed, noise=0.03),
    "ring, sphere, ball": ring_sphere_ball,
    "digits 3, 4, 6": digits(3, 4, 6),
    "digits 1, 7, 9": digits(1, 7, 9),
    "digits 0 to 9": digits(*range(10)),
}


def _on_sphere(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    points = rng.standard_normal((n, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def _lifted(points: NDArray[np.float64], noise: float, seed: int) -> NDArray[np.float64]:
    """Turn points into more dimensions and add noise of about the length ``noise``."""
    rng = np.random.default_rng(seed + 1000)
    turn = np.linalg.qr(rng.standard_normal((AMBIENT, points.shape[1])))[0]
    lifted = points @ turn.T
    return lifted + noise / np.sqrt(AMBIENT) * rng.standard_normal(lifted.shape)
