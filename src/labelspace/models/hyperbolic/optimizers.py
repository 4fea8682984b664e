"""Optimisers for large tables of which a step touches a few rows.

Each turns gradients of some rows into the direction of their step, and keeps what it must know of
those rows only: a row that has no gradient costs nothing and does not move.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class AdaGrad:
    """One step size for each row: 1 / √ of the sum so far of its mean squared gradients.

    The sum starts at ``first``: the larger, the shorter the first steps.
    """

    def __init__(self, n_rows: int, dim: int, *, first: float = 1.0) -> None:
        self._squares = np.full((n_rows, 1), first, dtype=np.float32)

    def direction(self, rows: NDArray[np.integer], gradient: NDArray[Any]) -> NDArray[Any]:
        """Return the direction of the step of ``rows``, to be scaled and subtracted.

        >>> AdaGrad(3, 2).direction(np.array([1]), np.array([[3.0, 1.0]])).round(3).tolist()
        [[1.225, 0.408]]
        """
        self._squares[rows] += np.square(gradient).mean(axis=1, keepdims=True)
        return gradient / np.sqrt(self._squares[rows])


class Adam:
    """Adam, lazily: a row's averages decay only when it has a gradient."""

    def __init__(
        self, n_rows: int, dim: int, *, decay: float = 0.9, square_decay: float = 0.999
    ) -> None:
        self._decay = decay
        self._square_decay = square_decay
        self._means = np.zeros((n_rows, dim), dtype=np.float32)
        self._squares = np.zeros((n_rows, dim), dtype=np.float32)
        self._steps = np.zeros((n_rows, 1), dtype=np.int32)

    def direction(self, rows: NDArray[np.integer], gradient: NDArray[Any]) -> NDArray[Any]:
        """Return the direction of the step of ``rows``, to be scaled and subtracted.

        >>> Adam(3, 2).direction(np.array([1]), np.array([[3.0, -1.0]])).round(3).tolist()
        [[1.0, -1.0]]
        """
        self._steps[rows] += 1
        means = self._decay * self._means[rows] + (1 - self._decay) * gradient
        squares = self._square_decay * self._squares[rows]
        squares += (1 - self._square_decay) * np.square(gradient)
        self._means[rows] = means
        self._squares[rows] = squares
        mean = means / (1 - self._decay ** self._steps[rows])
        square = squares / (1 - self._square_decay ** self._steps[rows])
        return mean / (np.sqrt(square) + 1e-8)


class Descent:
    """Plain gradient descent."""

    def __init__(self, n_rows: int, dim: int) -> None:
        pass

    def direction(self, rows: NDArray[np.integer], gradient: NDArray[Any]) -> NDArray[Any]:
        """Return the gradient as it is."""
        return gradient


OPTIMIZERS = {"adagrad": AdaGrad, "adam": Adam, "rsgd": Descent}
