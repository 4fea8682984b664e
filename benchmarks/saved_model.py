"""Measure a saved model of ours by itself: loading, one core's batch speed, a single row."""

from __future__ import annotations

import json
from pathlib import Path

import labelspace
from benchmarks.corpora import Prepared
from benchmarks.jobs import N_RANKED, Job
from benchmarks.measure import Stopwatch, folder_mib, peak_rss_mib
from benchmarks.speed import batch_speed, row_latency


def measure_speed(folder: Path, corpus: Prepared) -> str:
    """Return the figures as JSON."""
    X = Job(subject="", method="", data=str(corpus.folder), folder="").matrix("test_X")
    with Stopwatch() as loading:
        model = labelspace.load(folder)
    model.n_threads = 1
    model.predict_topk(X[:1], k=N_RANKED)  # the first call reads compiled kernels from disk
    figures = {
        "load_wall_s": loading.wall_s,
        "model_mib": folder_mib(folder),
        **batch_speed(lambda rows: model.predict_topk(rows, k=N_RANKED), X),
        **row_latency(lambda row: model.predict_topk(row, k=N_RANKED), X),
        "peak_mib": peak_rss_mib(),
    }
    return json.dumps({name: float(f"{value:.4g}") for name, value in figures.items()}, indent=1)
