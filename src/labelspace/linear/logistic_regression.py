"""Logistic regression with few terms, by Newton's method, drawn towards weights that are usual."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelspace import threads

# As many rows as the usual weights count for.
PSEUDO_ROWS = 20.0
_NEWTON_STEPS = 30
_SMALLEST_STEP = 1e-4


def logistic_regression(
    A: NDArray[np.float64],
    y: NDArray[np.bool_],
    start: NDArray[np.float64],
    pseudo_rows: float,
) -> NDArray[np.float64]:
    """Return the weights w that minimise the log loss of σ(A·w), kept near ``start``.

    The pull is that of ``pseudo_rows`` rows: weights whose terms vary more are held more loosely
    than their scale alone would. The weights are the same on any number of threads.
    """
    with threads.limit(1):  # BLAS on more of them adds up in another order
        return _fitted(A, y, start, pseudo_rows)


def _fitted(
    A: NDArray[np.float64],
    y: NDArray[np.bool_],
    start: NDArray[np.float64],
    pseudo_rows: float,
) -> NDArray[np.float64]:
    spread = A.var(axis=0) + 1e-3
    pull = pseudo_rows * spread * 0.25

    def loss(w: NDArray[np.float64]) -> float:
        logits = A @ w
        missed = np.logaddexp(0.0, np.where(y, -logits, logits)).sum()
        return float(missed + 0.5 * (pull * np.square(w - start)).sum())

    w, reached = start.copy(), loss(start)
    for _ in range(_NEWTON_STEPS):
        p = expit(A @ w)
        slope = A.T @ (p - y) + pull * (w - start)
        curvature = (A * (p * (1.0 - p))[:, np.newaxis]).T @ A + np.diag(pull)
        step = np.linalg.solve(curvature, slope)
        # Far from the answer a full step may lead away from it.
        while (ahead := loss(w - step)) > reached and np.abs(step).max() > _SMALLEST_STEP:
            step *= 0.5
        if ahead > reached:
            break
        w, reached = w - step, ahead
        if np.abs(step).max() < _SMALLEST_STEP:
            break
    return w
