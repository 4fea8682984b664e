"""What each part of AnnexML is worth: ``python -m benchmarks.ablations.annexml``.

Each row of the table is the default with one parameter changed. Runs go through the common runner,
so they resume where they stopped and their lines stand beside all others; ``--table`` prints the
table of the method's page from those lines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

import labelspace
from benchmarks import results
from benchmarks.results import DONE, Line, Run
from benchmarks.runner import Limits, run_all

CORPORA = {"bibtex": (0, 1, 2), "delicious": (0, 1, 2), "wordnet": (0,)}
"""Corpora and the seeds that each can afford."""

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "as it is": [{}],
    "the original program's settings": [{"preset": "paper"}],
    "partition": [
        {"partition": "learned"},
        {"partition": "learned", "balanced": True},
        {"partition": "kmeans"},
    ],
    "learners": [{"n_learners": n} for n in (1, 2, 8, 15)],
    "dimension": [{"dim": dim} for dim in (50, 100, 256)],
    "sharpness": [{"gamma": gamma} for gamma in (5.0, 10.0, 20.0, 30.0)],
    "negatives": [{"batch_size": size} for size in (64, 256)],
    "votes": [
        {"voting": "counts"},
        {"label_votes": 0.0},
        {"label_votes": 1.0},
        {"label_weight": 0.0},
    ],
    "label graph": [{"similarity": "overlap"}, {"graph_neighbors": 25}],
    "search": [{"search": "exact"}, {"search": "graph"}, {"n_probes": 2}, {"n_probes": 32}],
    "storage": [{"storage": "float32"}],
}


def runs() -> list[Run]:
    """Return every variant on every corpus, small corpora first."""
    version = f"labelspace {labelspace.__version__}"
    return [
        Run("annexml", corpus, "given", seed, parameters, version)
        for corpus, seeds in CORPORA.items()
        for variants in VARIANTS.values()
        for parameters in variants
        for seed in seeds
    ]


def table(lines: Iterable[Line]) -> str:
    """Return the table as Markdown: means over seeds, a dash where nothing was measured."""
    done = [
        line
        for line in results.latest(lines)
        if line["method"] == "annexml" and line["split"] == "given" and line["status"] == DONE
    ]
    rows = ["| what | " + " | ".join(f"{name}: P@1/3/5, CPU s, ms" for name in CORPORA) + " |"]
    rows.append("|---" * (len(CORPORA) + 1) + "|")
    for what, variants in VARIANTS.items():
        for parameters in variants:
            setting = ", ".join(f"{name}={value}" for name, value in parameters.items())
            cells = [_cell(done, corpus, parameters) for corpus in CORPORA]
            title = f"{what}: `{setting}`" if setting else what
            rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(lines: list[Line], corpus: str, parameters: dict[str, Any]) -> str:
    found = [one for one in lines if one["corpus"] == corpus and one["parameters"] == parameters]
    if not found:
        return "–"
    precision = "/".join(
        f"{np.mean([one['metrics'][f'P@{k}'] for one in found]):.2f}" for k in (1, 3, 5)
    )
    seconds = np.mean([one["train_cpu_s"] for one in found])
    milliseconds = np.mean([one["batch_cpu_ms"] for one in found])
    return f"{precision}, {seconds:.0f}, {milliseconds:.2f}"


if __name__ == "__main__":
    if "--table" not in sys.argv:
        run_all(runs(), Limits())
    print(table(results.read_lines()))
