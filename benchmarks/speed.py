"""How fast a trained system answers: rows in a batch on one core, and a single row at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.measure import Stopwatch

Predict = Callable[[csr_matrix], Any]


def batch_speed(
    predict: Predict, X: csr_matrix, *, n_rows: int = 2000, enough_s: float = 2.0
) -> dict[str, float]:
    """Return milliseconds per row for one batch, the best of up to three.

    A slow system (``enough_s`` seconds for the batch) is asked once. CPU milliseconds are what the
    tables show: with one thread they are what an idle core would take.
    """
    rows = X[:n_rows]
    best = Stopwatch()
    for attempt in range(3):
        with Stopwatch() as watch:
            predict(rows)
        if attempt == 0 or watch.cpu_s < best.cpu_s:
            best = watch
        if watch.wall_s > enough_s:
            break
    n = max(rows.shape[0], 1)
    return {
        "batch_rows": n,
        "batch_cpu_ms": 1000.0 * best.cpu_s / n,
        "batch_wall_ms": 1000.0 * best.wall_s / n,
    }


def row_latency(predict: Predict, X: csr_matrix, *, n_rows: int = 200) -> dict[str, float]:
    """Return median and 95th percentile of the wall milliseconds that one row takes by itself."""
    if X.shape[0] == 0:
        return {}
    chosen = np.linspace(0, X.shape[0] - 1, num=min(n_rows, X.shape[0])).astype(int)
    taken = []
    for row in chosen:
        one = X[row]
        with Stopwatch() as watch:
            predict(one)
        taken.append(1000.0 * watch.wall_s)
    return {
        "latency_ms_p50": float(np.percentile(taken, 50)),
        "latency_ms_p95": float(np.percentile(taken, 95)),
    }
