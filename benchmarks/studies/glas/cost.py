"""What GLaS costs as labels grow: ``study glas cost``.

Made-up corpora with the same number of rows and features and 10,000, 100,000 and 670,000 labels,
each of which has a row: CPU seconds of an epoch, peak memory beside that of parameters, CPU
milliseconds of a single prediction on one thread with each search, and the share of the exact
search's five best labels that it finds. Each size runs in a process of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import MIB, peak_rss_mib
from benchmarks.studies.lines import Measured
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Trial
from benchmarks.studies.tables import NOT_MEASURED
from labelspace.data.samples.synthetic import SyntheticCorpus
from labelspace.models import make

TRIALS = [
    Trial("cost", "made-up", parameters={"n_labels": n_labels})
    for n_labels in (10_000, 100_000, 670_000)
]
SEARCHES = ("exact", "coarse_to_fine")
N_ROWS, N_FEATURES, DIM, N_EPOCHS = 140_000, 50_000, 128, 1
N_ASKED = 200
SETTINGS: dict[str, Any] = {
    "dim": DIM,
    "hidden": (DIM,),
    "linear_dim": DIM,
    "n_learners": 1,
    "n_epochs": N_EPOCHS,
    "row_rule": "adagrad",
    "row_learning_rate": 0.03,
    "random_state": 0,
    "n_threads": 1,
}


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on one corpus and ask it with every search."""
    n_labels = source.at_most(trial.parameters["n_labels"])
    made = SyntheticCorpus(
        source.at_most(N_ROWS), n_features=N_FEATURES, n_labels=n_labels, n_test=N_ASKED
    )
    train, test = made.sample(), made.sample(split="test")
    before = peak_rss_mib()
    figures: Figures = {"n_labels": n_labels}
    answers, milliseconds = {}, {}
    for kind in SEARCHES:
        # The same seed makes the same model; only its search is another.
        model: Any = make("glas", search=kind, **SETTINGS).fit(train.X, train.Y)
        if kind == SEARCHES[0]:
            parameters = 4 * 2 * DIM * (N_FEATURES + n_labels)
            figures["epoch_s"] = round(float(np.mean(model.history_["cpu_seconds"])), 2)
            figures["parameters_mib"] = round(parameters / MIB)
            figures["beyond_mib"] = round(peak_rss_mib() - before - parameters / MIB)
        answers[kind] = model.predict_topk(test.X, k=5).labels
        milliseconds[kind] = _single_ms(model, test.X)
        del model
    figures["searches"] = {
        kind: {
            "recall": round(100 * _shared(answers["exact"], answers[kind]), 1),
            "ms": round(milliseconds[kind], 3),
        }
        for kind in SEARCHES
    }
    yield trial, figures


def _shared(right: Any, found: Any) -> float:
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(right, found, strict=True)]))


def _single_ms(model: Any, X: Any) -> float:
    """Return the CPU milliseconds of ``predict_topk`` for one row, the median of many."""
    rows = [X[row] for row in range(X.shape[0])]
    for row in rows[:20]:
        model.predict_topk(row, k=5)
    taken = []
    for row in rows:
        start = time.process_time()
        model.predict_topk(row, k=5)
        taken.append(time.process_time() - start)
    return 1000.0 * float(np.median(taken))


def table(lines: list[Measured]) -> str:
    """Return a row for each size and search; seconds to build an index are of earlier lines."""
    rows = [
        "| labels | CPU s per epoch | parameters MiB | beyond them MiB | search | build s | "
        "finds | ms for one row |",
        "|--:|--:|--:|--:|---|--:|--:|--:|",
    ]
    for line in lines:
        told = line.figures
        head = f"{told['n_labels']:,} | {told['epoch_s']} | {told['parameters_mib']:,} | "
        head += f"{told['beyond_mib']:,}"
        for kind, one in told["searches"].items():
            build = one.get("build_s", NOT_MEASURED)
            rows.append(f"| {head} | {kind} | {build} | {one['recall']} % | {one['ms']} |")
            head = " | | | "
    return "\n".join(rows)
