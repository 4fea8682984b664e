"""Figures that come from elsewhere: papers, and systems measured on the same files earlier."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.render.rows import ACCURACY, Figure, Row

FOLDER = Path(__file__).resolve().parent.parent / "references"


@dataclass(frozen=True)
class Published:
    """One method's figures on one corpus in one publication."""

    corpus: str
    method: str
    ours: str
    """The name of our method of that kind, empty if there is none."""
    source: str
    figures: dict[str, float]


def published() -> list[Published]:
    """Return everything in ``published.csv``."""
    with (FOLDER / "published.csv").open(newline="") as file:
        return [
            Published(
                line["corpus"],
                line["method"],
                line["ours"],
                line["source"],
                {name: float(text) for name, text in line.items() if "@" in name and text},
            )
            for line in csv.DictReader(file)
        ]


def earlier(corpus: str) -> list[Row]:
    """Return the rows of ``earlier.csv`` for a corpus, marked as not from this sitting."""
    cost = {"train_cpu_s": "train_cpu_s", "batch_cpu_ms": "batch_ms"}
    cost |= {name: name for name in ("model_mib", "peak_mib")}
    rows = []
    with (FOLDER / "earlier.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            if line["corpus"] != corpus:
                continue
            columns = {name: name for name in ACCURACY} | cost
            told = {name: line[column] for name, column in columns.items() if line[column]}
            figures = {name: Figure(float(text)) for name, text in told.items()}
            rows.append(Row(line["method"], "earlier", figures, line["note"]))
    return rows
