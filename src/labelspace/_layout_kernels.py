"""Loops of the label map's layout: what labels pull, spread on a grid and read off it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelspace.compiling import njit


@njit(cache=True)
def attraction(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int64],
    pulls: NDArray[np.float64],
    y: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return Σ_j p_ij q_ij (y_i − y_j) of each label i."""
    found = np.zeros_like(y)
    for i in range(len(y)):
        for at in range(indptr[i], indptr[i + 1]):
            j = indices[at]
            dx, dy = y[i, 0] - y[j, 0], y[i, 1] - y[j, 1]
            pull = pulls[at] / (1.0 + dx * dx + dy * dy)
            found[i, 0] += pull * dx
            found[i, 1] += pull * dy
    return found


@njit(cache=True)
def spread(at: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Return a grid with a charge of one for each place, shared by the four nodes around it."""
    grid = np.zeros((side, side))
    for i in range(len(at)):
        row, column = int(at[i, 0]), int(at[i, 1])
        down, right = at[i, 0] - row, at[i, 1] - column
        grid[row, column] += (1 - down) * (1 - right)
        grid[row + 1, column] += down * (1 - right)
        grid[row, column + 1] += (1 - down) * right
        grid[row + 1, column + 1] += down * right
    return grid


@njit(cache=True)
def read_off(field: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a field has at each place, between the four nodes around it."""
    found = np.empty(len(at))
    for i in range(len(at)):
        row, column = int(at[i, 0]), int(at[i, 1])
        down, right = at[i, 0] - row, at[i, 1] - column
        found[i] = (1 - down) * ((1 - right) * field[row, column] + right * field[row, column + 1])
        found[i] += down * (
            (1 - right) * field[row + 1, column] + right * field[row + 1, column + 1]
        )
    return found
