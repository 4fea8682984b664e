"""Tables of AnnexML's page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.presets import SINCE
from benchmarks.render.references import earlier
from benchmarks.render.tables import markdown
from benchmarks.results import Line, read_lines
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.promises import scale_table, size
from benchmarks.studies.study import Figures
from benchmarks.studies.tables import NOT_MEASURED, of_variants, precisions

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
    "the original program",
    "partition",
    "dimension",
    "γ of the contrast",
    "negatives",
    "label vectors",
    "label graph",
    "votes",
    "search",
)

PROGRAM = {
    "the original program": "AnnexML C++, 15 learners",
    "the same, lots drawn between rows with equally like labels": (
        "AnnexML C++, 15 learners, ties by lot"
    ),
}
"""Names of the program, and in ``earlier.csv``."""
FIRST: dict[str, dict[str, Any]] = {
    'as the program does, `preset="paper"`': {"preset": "paper"},
    "its settings, learned by batches": {"preset": "paper", "objective": "batches"},
    "the default": {},
    "the default, labels without vectors of their own": {"label_weight": 0.0},
    "the default, only labels' own vectors vote": {"label_votes": 1000.0},
}


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    columns = ["rows", "features", "labels", "learners", "training, CPU s", "peak memory", "model"]
    given = [one for one in read_lines() if one["status"] == "done" and one["split"] == "given"]
    return {
        "first": _first(given),
        "figures": _figures(given),
        "parts": _parts(select(lines, part="parts")),
        "scale": scale_table(lines, SIZES, columns, "MB"),
    }


def _first(given: list[Line]) -> str:
    corpora = ("bibtex", "delicious")
    rows = []
    for title, name in PROGRAM.items():
        of_program = [_of_program(corpus, name) for corpus in corpora]
        rows.append([title, *(precisions(one, 2) if one else NOT_MEASURED for one in of_program)])
    for title, told in FIRST.items():
        found = [_latest(given, corpus, told) for corpus in corpora]
        rows.append(
            [title, *(precisions(one["metrics"], 2) if one else NOT_MEASURED for one in found)]
        )
    return of_variants(["given files, P@1/3/5", *corpora], rows)


def _figures(given: list[Line]) -> str:
    head = ["corpus", "", "P@1/3/5", "PSP@1/3/5", "training, CPU s", "model, MiB"]
    rows = []
    for corpus in BY_SIZE:
        for title, name in list(PROGRAM.items())[:1]:
            program = _of_program(corpus, name)
            if program:
                rows.append([corpus, title, *_row(program)])
        for title in list(FIRST)[:3]:
            line = _latest(given, corpus, FIRST[title])
            if line:
                figures = {name: line[name] for name in ("train_cpu_s", "model_mib")}
                rows.append([corpus, title, *_row(line["metrics"] | figures)])
    return markdown(head, rows, numbers=False)


def _row(figures: Mapping[str, float]) -> list[str]:
    rare = "/".join(f"{figures[f'PSP@{k}']:.2f}" for k in (1, 3, 5))
    cost = f"{figures['train_cpu_s']:,.0f}", f"{figures['model_mib']:,.0f}"
    return [precisions(figures, 2), rare, *cost]


def _of_program(corpus: str, title: str) -> dict[str, float]:
    for row in earlier(corpus):
        if row.title == title:
            return {name: one.mean for name, one in row.figures.items()}
    return {}


def _latest(given: list[Line], corpus: str, told: Mapping[str, Any]) -> Line | None:
    """Return the last run, but none from before the preset was what it says."""
    what = {"method": "annexml", "corpus": corpus, "parameters": told}
    since = SINCE["annexml"] if "preset" in told else ""
    found = [one for one in given if what.items() <= one.items() and one["date"] >= since]
    return found[-1] if found else None


def _parts(lines: list[Measured]) -> str:
    cells = {(line.corpus, line.variant): _cell(line.figures) for line in lines}
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
