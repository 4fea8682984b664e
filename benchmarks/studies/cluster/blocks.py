"""Time the blocks of the default on corpora of Amazon-3M's shape, with one and two workers.

    python -m benchmarks.studies.cluster.blocks SCALE N_WORKERS

adds a line to ``benchmarks/results/studies/cluster.jsonl``. Rows, features and labels are cut by
SCALE; labels and features of a row stay as they are. Times are of the processor.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import defaultdict
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.studies import lines
from benchmarks.studies.study import Trial
from labelspace import engine
from labelspace.data.samples.synthetic import SyntheticCorpus
from labelspace.models import LabelSpace
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.parameters import CorpusShape

STUDY = "cluster"
# As published: rows, features, labels, labels and features of a row.
ROWS, FEATURES, LABELS, LABELS_PER_ROW, FEATURES_PER_ROW = 1_717_899, 337_067, 2_812_281, 36, 49


def main(scale: float, n_workers: int) -> None:
    """Train once, and keep what each block took."""
    corpus = SyntheticCorpus(
        round(ROWS * scale),
        round(FEATURES * scale),
        round(LABELS * scale),
        labels_per_row=LABELS_PER_ROW,
        features_per_row=FEATURES_PER_ROW,
    ).sample()
    assert corpus.X is not None
    model = default_for(ROWS, FEATURES, LABELS, FEATURES_PER_ROW)
    learn, stacking = model._learn_stacker, []

    def timed(X: Any, Y: Any, seen: Any, rows: Any, *told: Any) -> None:
        begun = time.process_time()
        learn(X, Y, seen, rows, *told)
        stacking.append((time.process_time() - begun, len(rows)))

    model.__dict__["_learn_stacker"] = timed
    cpu, wall = time.process_time(), time.perf_counter()
    with warnings.catch_warnings(), engine.using("processes", n_workers=n_workers) as used:
        warnings.simplefilter("ignore")
        model.fit(corpus.X, corpus.Y)
    figures: dict[str, Any] = {
        "n_rows": corpus.X.shape[0],
        "n_labels": corpus.Y.shape[1],
        "n_entries": int(corpus.X.nnz),
        "n_given": int(corpus.Y.nnz),
        "driver_cpu_s": time.process_time() - cpu,
        "stacking_cpu_s": stacking[0][0],
        "n_held_out": stacking[0][1],
        "wall_s": time.perf_counter() - wall,
        "n_weights": int(model.classifiers_.inverted.nnz),
    }
    stages = defaultdict(list)
    for line in used.log:
        stages[line["stage"]].append(line)
    for stage, done in stages.items():
        seconds = np.array([line["cpu_seconds"] for line in done])
        figures[stage] = {
            "n_blocks": len(done),
            "cpu_s": float(seconds.sum()),
            "longest_s": float(seconds.max()),
            "spread": float(seconds.std() / seconds.mean()),
            "mib": sum(line["n_bytes"] for line in done) / 2**20,
            "begun_to_end_s": max(one["time"] for one in done)
            - min(one["time"] - one["seconds"] for one in done),
        }
    trial = Trial("blocks", f"amazon-3m-{scale:g}", f"{n_workers}", {"n_workers": n_workers}, 0)
    lines.append(STUDY, trial, figures)
    print(figures)


def default_for(n_rows: int, n_features: int, n_labels: int, features_per_row: float) -> LabelSpace:
    """Return the default with the settings for the whole of a corpus, to train on a cut of it."""
    shape = CorpusShape(n_rows, n_features, n_labels, round(n_rows * features_per_row))
    told = asdict(LabelSpaceSettings.for_corpus("balanced", shape))
    return LabelSpace(C=0.5, settings=told, random_state=0, n_threads=1)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
