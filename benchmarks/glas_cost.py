"""What GLaS costs as labels grow: ``python -m benchmarks.glas_cost``.

Made-up corpora with the same number of rows and features and 10,000, 100,000 and 670,000 labels,
each of which has a row: CPU seconds of an epoch, peak memory beside that of parameters, CPU
milliseconds of a single prediction on one thread with each search, and the share of the exact
search's five best labels that it finds. Each size runs in a process of its own; the table of the
method's page is written from ``results/ablations/glas_cost.json`` (``--render`` does only that).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

from benchmarks.corpora import ROOT
from benchmarks.measure import MIB, Stopwatch, peak_rss_mib
from benchmarks.render.marked import put
from labelspace.data.samples.synthetic import SyntheticCorpus
from labelspace.models import GLaS

RESULTS = ROOT / "benchmarks" / "results" / "ablations" / "glas_cost.json"
PAGE = ROOT / "docs" / "methods" / "glas.md"
SIZES = (10_000, 100_000, 670_000)
SEARCHES = ("exact", "short", "clustered", "graph", "product")
N_ROWS, N_FEATURES, DIM, N_EPOCHS = 140_000, 50_000, 128, 1
N_ASKED = 200


def measure(n_labels: int) -> dict[str, Any]:
    """Train on one corpus and ask it with every search."""
    made = SyntheticCorpus(N_ROWS, n_features=N_FEATURES, n_labels=n_labels, n_test=N_ASKED)
    train, test = made.sample(), made.sample(split="test")
    before = peak_rss_mib()
    model = GLaS(
        dim=DIM,
        hidden=(DIM,),
        linear_dim=DIM,
        n_learners=1,
        n_epochs=N_EPOCHS,
        row_rule="adagrad",
        row_learning_rate=0.03,
        search="short",
        random_state=0,
        n_threads=1,
    )
    model.fit(train.X, train.Y)
    parameters = 4 * 2 * DIM * (N_FEATURES + n_labels)
    line: dict[str, Any] = {
        "n_labels": n_labels,
        "epoch_s": round(float(np.mean(model.history_["cpu_seconds"])), 2),
        "parameters_mib": round(parameters / MIB),
        "beyond_mib": round(peak_rss_mib() - before - parameters / MIB),
        "searches": {},
    }
    space, vectors = model.sphere_, model.sphere_.vectors
    Z = space.encoder.encode(model.rows_.encode(test.X))
    right = None
    for kind in SEARCHES:
        if kind == "graph" and n_labels > 10_000:
            continue  # minutes to build on one core, half an hour for the largest
        model.search = kind
        with Stopwatch() as building:
            space.whole = vectors
            model._index()
        found = space.answer_at(Z, 5).ids
        right = found if right is None else right  # exact is the first
        recall = np.mean([np.isin(a, b).mean() for a, b in zip(right, found, strict=True)])
        line["searches"][kind] = {
            "build_s": round(building.cpu_s, 1),
            "recall": round(100 * float(recall), 1),
            "ms": round(_single_ms(model, test.X), 3),
        }
    return line


def _single_ms(model: GLaS, X: Any) -> float:
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


def render() -> None:
    """Write the table of the method's page."""
    rows = [
        "| labels | CPU s per epoch | parameters MiB | beyond them MiB | search | build s | "
        "finds | ms for one row |",
        "|--:|--:|--:|--:|---|--:|--:|--:|",
    ]
    for line in json.loads(RESULTS.read_text(encoding="utf-8")):
        head = f"{line['n_labels']:,} | {line['epoch_s']} | {line['parameters_mib']:,} | "
        head += f"{line['beyond_mib']:,}"
        for kind, one in line["searches"].items():
            rows.append(f"| {head} | {kind} | {one['build_s']} | {one['recall']} % | {one['ms']} |")
            head = " | | | "
    put(PAGE, "cost", "\n".join(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render", action="store_true", help="only write the table")
    parser.add_argument("--labels", type=int, help="measure one size and print its line")
    chosen = parser.parse_args()
    if chosen.labels:
        print(json.dumps(measure(chosen.labels)))
        sys.exit()
    if not chosen.render:
        lines = []
        for size in SIZES:
            command = [sys.executable, "-m", "benchmarks.glas_cost", "--labels", str(size)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            lines.append(json.loads(done.stdout.splitlines()[-1]))
            print(lines[-1], flush=True)
            RESULTS.parent.mkdir(parents=True, exist_ok=True)
            RESULTS.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    render()
