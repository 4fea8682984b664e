"""Which columns a batch is worked out for, so that they stand for all of them.

Columns that the batch must have are in the sample for certain and count once. Of the n others, m
are drawn, all sets of m with equal chance; each is in with probability m/n and counts n/m times. A
sum over the sample with these weights is then, on average over draws, the sum over all columns,
whatever the batch is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ColumnSample:
    """Columns, ascending, and how often each counts (None: all columns are here, once)."""

    columns: NDArray[np.int64]
    weights: NDArray[np.float32] | None


def sample_columns(
    n_columns: int, n_sampled: int, own: NDArray[np.integer], rng: np.random.Generator
) -> ColumnSample:
    """Return a sample of ``n_sampled`` columns with all of ``own`` among them.

    At least a quarter of ``n_sampled`` is drawn from other columns, however many ``own`` are.

    Examples
    --------
    >>> sample = sample_columns(10, 4, np.array([7, 2, 7]), np.random.default_rng(0))
    >>> sample.columns.size, float(sample.weights.sum())
    (4, 10.0)
    """
    if n_sampled >= n_columns:
        return ColumnSample(np.arange(n_columns), None)
    own = np.unique(own).astype(np.int64)
    n_others = n_columns - own.size
    n_drawn = min(max(n_sampled - own.size, n_sampled // 4, 1), n_others)
    drawn = rng.choice(n_others, n_drawn, replace=False, shuffle=False).astype(np.int64)
    # The i-th of the columns that are not in own: i, moved on by those of own before it.
    drawn += np.searchsorted(own - np.arange(own.size), drawn, side="right")
    columns = np.concatenate((own, drawn))
    weights = np.ones(columns.size, dtype=np.float32)
    weights[own.size :] = n_others / max(n_drawn, 1)
    order = np.argsort(columns)
    return ColumnSample(columns[order], weights[order])
