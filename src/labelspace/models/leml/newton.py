"""Two factors for losses that are not squared: Newton's method, cut short, in turns.

    min_{W,H}  Σ_i Σ_l ℓ(y_il, x_iᵀ W h_l) + λ/2 (‖W‖² + ‖H‖²),   y = ±1

One factor at a time it is convex. A Newton step is solved by a few conjugate gradients, which need
products with the Hessian only; those go over all pairs of rows and labels, some rows at a time, as
every loss but the squared one has to. So a pass costs rows × labels × dimensions: for corpora with
thousands of labels at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit

from labelspace import progress
from labelspace.models.leml.squared_loss import Factors

Array = NDArray[Any]

# Newton steps for a factor in each round, conjugate gradients for a step, halvings of it.
_NEWTON_STEPS = 2
_GRADIENT_STEPS = 8
_HALVINGS = 6
# Scores that are held at a time.
_SCORES = 4_000_000


class Loss(NamedTuple):
    """A loss of scores and signs: its value, slope and curvature in the score."""

    value: Callable[[Array, Array], Array]
    slope: Callable[[Array, Array], Array]
    curvature: Callable[[Array, Array], Array]


LOSSES = {
    "logistic": Loss(
        lambda score, sign: np.logaddexp(0.0, -sign * score),
        lambda score, sign: -sign * expit(-sign * score),
        lambda score, sign: expit(score) * expit(-score),
    ),
    "squared-hinge": Loss(
        lambda score, sign: np.square(np.maximum(1.0 - sign * score, 0.0)),
        lambda score, sign: -2.0 * sign * np.maximum(1.0 - sign * score, 0.0),
        lambda score, sign: 2.0 * (sign * score < 1.0),
    ),
}


class LowRankProblem(NamedTuple):
    """Rows, labels, loss and λ: all that stays the same."""

    X: csr_matrix
    Y: csr_matrix
    loss: Loss
    penalty: float

    def objective(self, W: Array, H: Array) -> float:
        """Return what is made small."""
        total = 0.5 * self.penalty * float(np.vdot(W, W) + np.vdot(H, H))
        for _, scores, signs in self._blocks(W, H):
            total += float(self.loss.value(scores, signs).sum())
        return total

    def map_gradient(self, W: Array, H: Array) -> Array:
        """Return the gradient with respect to W: Xᵀ(ℓ' H) + λW."""
        pulled = np.empty((self.X.shape[0], W.shape[1]))
        for rows, scores, signs in self._blocks(W, H):
            pulled[rows] = self.loss.slope(scores, signs) @ H
        return self.X.T @ pulled + self.penalty * W

    def map_product(self, W: Array, H: Array, direction: Array) -> Array:
        """Return the Hessian with respect to W times a direction."""
        pulled = np.empty((self.X.shape[0], W.shape[1]))
        ahead = self.X @ direction
        for rows, scores, signs in self._blocks(W, H):
            pulled[rows] = (self.loss.curvature(scores, signs) * (ahead[rows] @ H.T)) @ H
        return self.X.T @ pulled + self.penalty * direction

    def label_gradient(self, W: Array, H: Array) -> Array:
        """Return the gradient with respect to H: ℓ'ᵀ Z + λH."""
        Z, total = self.X @ W, self.penalty * H
        for rows, scores, signs in self._blocks(W, H):
            total = total + self.loss.slope(scores, signs).T @ Z[rows]
        return total

    def label_product(self, W: Array, H: Array, direction: Array) -> Array:
        """Return the Hessian with respect to H times a direction."""
        Z, total = self.X @ W, self.penalty * direction
        for rows, scores, signs in self._blocks(W, H):
            total = (
                total + (self.loss.curvature(scores, signs) * (Z[rows] @ direction.T)).T @ Z[rows]
            )
        return total

    def _blocks(self, W: Array, H: Array) -> Any:
        """Give some rows at a time: which, their scores, and ±1 by whether they have a label."""
        Z = self.X @ W
        size = max(_SCORES // max(len(H), 1), 1)
        for start in range(0, len(Z), size):
            rows = slice(start, start + size)
            yield rows, Z[rows] @ H.T, 2.0 * self.Y[rows].toarray() - 1.0


def alternate_newton(
    X: csr_matrix, Y: csr_matrix, start: Factors, *, loss: str, penalty: float, n_rounds: int
) -> Factors:
    """Return W and H after some rounds of Newton steps for each.

    >>> eye = csr_matrix(np.eye(2, dtype=np.float32))
    >>> start = Factors(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32))
    >>> found = alternate_newton(eye, eye, start, loss="logistic", penalty=0.01, n_rounds=5)
    >>> bool(np.all(np.diag(found.W @ found.H.T) > 1))
    True
    """
    problem = LowRankProblem(csr_matrix(X, dtype=np.float64), Y, LOSSES[loss], penalty)
    W, H = start.W.astype(np.float64), start.H.astype(np.float64)
    for _ in progress.track(range(n_rounds), "Training"):
        for _ in range(_NEWTON_STEPS):
            W = _map_step(problem, W, H)
        for _ in range(_NEWTON_STEPS):
            H = _label_step(problem, W, H)
    return Factors(W.astype(np.float32), H.astype(np.float32))


def _map_step(problem: LowRankProblem, W: Array, H: Array) -> Array:
    step = conjugate_gradients(
        lambda direction: problem.map_product(W, H, direction), -problem.map_gradient(W, H)
    )
    return W + _length(lambda t: problem.objective(W + t * step, H)) * step


def _label_step(problem: LowRankProblem, W: Array, H: Array) -> Array:
    step = conjugate_gradients(
        lambda direction: problem.label_product(W, H, direction), -problem.label_gradient(W, H)
    )
    return H + _length(lambda t: problem.objective(W, H + t * step)) * step


def conjugate_gradients(
    product: Callable[[Array], Array], wanted: Array, n_steps: int = _GRADIENT_STEPS
) -> Array:
    """Return x with product(x) near to what is wanted; both may be matrices.

    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> conjugate_gradients(lambda x: A @ x, np.array([3.0, 4.0])).round(6).tolist()
    [1.0, 1.0]
    """
    found, residual = np.zeros_like(wanted), wanted.copy()
    direction, square = residual.copy(), float(np.vdot(residual, residual))
    enough = 1e-8 * square
    for _ in range(n_steps):
        if square <= enough:
            break
        ahead = product(direction)
        step = square / float(np.vdot(direction, ahead))
        found += step * direction
        residual -= step * ahead
        before, square = square, float(np.vdot(residual, residual))
        direction = residual + (square / before) * direction
    return found


def _length(objective: Callable[[float], float]) -> float:
    """Return how much of a step is taken: all, or half as often as it takes to go down."""
    here, length = objective(0.0), 1.0
    for _ in range(_HALVINGS):
        if objective(length) <= here:
            return length
        length /= 2.0
    return 0.0
