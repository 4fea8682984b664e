"""Tables of AnnexML's page."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpora import BY_SIZE, RANDOM_SPLITS, ROOT
from benchmarks.plan import TEN_SPLITS
from benchmarks.render.presets import since
from benchmarks.render.references import earlier, published
from benchmarks.render.tables import markdown
from benchmarks.results import Line, read_lines
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.promises import scale_table, size
from benchmarks.studies.study import Figures
from benchmarks.studies.tables import NOT_MEASURED, of_variants, precisions, spread

PROGRAM_RUNS = Path(__file__).with_name("program.csv")
"""The original C++ program on the files as given, seed by seed; ``run.py`` tells how."""
PAGE = ROOT / "docs" / "methods" / "annexml.md"
CORPORA = ("bibtex", "delicious", "wordnet")
SIZES = [
    size(50_000, n_learners=1),
    size(100_000, n_learners=1),
    size(100_000),
    size(200_000),
    size(490_449),
]
GROUPS = (
    "as it is",
    "learners",
    "as the program does",
    "partition",
    "dimension",
    "γ of the contrast",
    "negatives",
    "label vectors",
    "label graph",
    "votes",
    "search",
)
"""Kinds of variants that are shown. Lines of "the original program" are older ones of "as the
program does", whose milliseconds had the building of tree and graph in them."""

PROGRAM = {
    "the original C++ program": "AnnexML C++, 15 learners",
    "the program, lots drawn between rows with equally like labels": (
        "AnnexML C++, 15 learners, ties by lot"
    ),
    "the program, features numbered from 1, no rows without labels": (
        "AnnexML C++, 15 learners, features from 1"
    ),
}
"""Names of the program, and in ``earlier.csv`` and ``program.csv``."""
PAPER = 'as the program does, `preset="paper"`'
FIRST: dict[str, dict[str, Any]] = {
    PAPER: {"preset": "paper"},
    "its settings, learned by batches": {"preset": "paper", "objective": "batches"},
    "the default": {},
    "the default, labels without vectors of their own": {"label_weight": 0.0},
    "the default, only labels' own vectors vote": {"label_votes": 1000.0},
}


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    columns = ["rows", "features", "labels", "learners", "training, CPU s", "peak memory", "model"]
    done = [one for one in read_lines() if one["status"] == "done"]
    given = [one for one in done if one["split"] == "given"]
    return {
        "first": _first(given),
        "figures": _figures(given),
        "ten": _ten(done),
        "parts": _parts(select(lines, part="parts")),
        "scale": scale_table(lines, SIZES, columns, "MB"),
    }


def _first(given: list[Line]) -> str:
    """Return the mean and deviation of seeds where there are several, else the one run."""
    corpora = ("bibtex", "delicious")
    rows = []
    for title, name in PROGRAM.items():
        rows.append([title, *(_spread(_seeds_of_program(corpus, name)) for corpus in corpora)])
    for title, told in FIRST.items():
        found = [_newest(given, corpus, told, "seed").values() for corpus in corpora]
        rows.append([title, *(_spread([one["metrics"] for one in runs]) for runs in found)])
    return of_variants(["given files, P@1 / P@3 / P@5", *corpora], rows)


def _spread(runs: Sequence[Mapping[str, float]]) -> str:
    if not runs:
        return NOT_MEASURED
    return " / ".join(spread([one[f"P@{k}"] for one in runs]) for k in (1, 3, 5))


def _figures(given: list[Line]) -> str:
    head = ["corpus", "", "P@1/3/5", "PSP@1/3/5", "training, CPU s", "model, MiB"]
    rows = []
    for corpus in BY_SIZE:
        for title, name in list(PROGRAM.items())[:1]:
            program = _of_program(corpus, name)
            if program:
                rows.append([corpus, title, *_row(program)])
        for title in list(FIRST)[:3]:
            line = _newest(given, corpus, FIRST[title], "seed").get(0)
            if line:
                figures = {name: line[name] for name in ("train_cpu_s", "model_mib")}
                rows.append([corpus, title, *_row(line["metrics"] | figures)])
    return markdown(head, rows, numbers=False)


def _row(figures: Mapping[str, float]) -> list[str]:
    rare = "/".join(f"{figures[f'PSP@{k}']:.2f}" for k in (1, 3, 5))
    cost = f"{figures['train_cpu_s']:,.0f}", f"{figures['model_mib']:,.0f}"
    return [precisions(figures, 2), rare, *cost]


def _ten(done: list[Line]) -> str:
    """Return the ten random splits beside what is published of ten others."""
    rows = []
    for corpus in TEN_SPLITS:
        [sleec, *_] = (one for one in published() if (one.corpus, one.ours) == (corpus, "sleec"))
        rows.append([corpus, "SLEEC, as published", precisions(sleec.figures, 2, " / ")])
        for title in (PAPER, "the default"):
            found = _newest(done, corpus, FIRST[title], "split")
            runs = [found[split]["metrics"] for split in RANDOM_SPLITS if split in found]
            if len(runs) == len(RANDOM_SPLITS):
                rows.append([corpus, title, _spread(runs)])
    return markdown(["corpus", "", "P@1 / P@3 / P@5"], rows, numbers=False)


def _of_program(corpus: str, title: str) -> dict[str, float]:
    for row in earlier(corpus):
        if row.title == title:
            return {name: one.mean for name, one in row.figures.items()}
    return {}


def _seeds_of_program(corpus: str, title: str) -> list[dict[str, float]]:
    with PROGRAM_RUNS.open(newline="") as file:
        return [
            {name: float(text) for name, text in line.items() if "@" in name}
            for line in csv.DictReader(file)
            if (line["corpus"], line["program"]) == (corpus, title)
        ]


def _newest(lines: list[Line], corpus: str, told: dict[str, Any], by: str) -> dict[Any, Line]:
    """Return the last run of each seed or split, but none from before the preset was as it says."""
    what = {"method": "annexml", "corpus": corpus, "parameters": told}
    start = since("annexml", told)
    return {one[by]: one for one in lines if what.items() <= one.items() and one["date"] >= start}


def _parts(lines: list[Measured]) -> str:
    cells = {
        (line.corpus, line.variant): _cell(line.figures)
        for line in lines
        if line.variant.split(":")[0] in GROUPS
    }
    titles = dict.fromkeys(variant for _, variant in cells)
    rows = [
        [title, *(cells.get((corpus, title), NOT_MEASURED) for corpus in CORPORA)]
        for title in sorted(titles, key=lambda title: GROUPS.index(title.split(":")[0]))
    ]
    return of_variants(["what", *CORPORA], rows)


def _cell(figures: Figures) -> str:
    notes = [f"PSP@1 {figures['PSP@1']:.1f}"]
    if "train_cpu_s" in figures:
        notes.append(f"{figures['train_cpu_s']:.0f} s")
    if "recall" in figures:
        notes.append(f"recall {figures['recall']:.0f} %")
    notes.append(f"{figures['batch_cpu_ms']:.2f} ms")
    return f"{precisions(figures)}; {', '.join(notes)}"
