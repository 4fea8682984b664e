"""Measure a saved model of ours by itself: loading, one core's batch speed, a single row."""

from __future__ import annotations

from pathlib import Path

from scipy.sparse import csr_matrix

import labelspace
from benchmarks.jobs import N_RANKED
from benchmarks.measure import Stopwatch, folder_mib, peak_rss_mib
from benchmarks.speed import batch_speed, row_latency


def measure_speed(folder: Path, X: csr_matrix) -> dict[str, float]:
    """Return seconds to load a model, to answer first, and to answer the rows ``X``."""
    labelspace.load(folder)  # the first time reads more from disk than the model
    with Stopwatch() as loading:
        model = labelspace.load(folder)
    with Stopwatch() as first:
        model.predict_topk(X[:1], k=N_RANKED)
    model.n_threads = 1
    return {
        "load_wall_s": loading.wall_s,
        "first_answer_wall_s": first.wall_s,
        "model_mib": folder_mib(folder),
        **batch_speed(lambda rows: model.predict_topk(rows, k=N_RANKED), X),
        **row_latency(lambda row: model.predict_topk(row, k=N_RANKED), X),
        "peak_mib": peak_rss_mib(),
    }
