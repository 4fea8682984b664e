"""Tables of LabelSpace's page."""

from __future__ import annotations

from typing import Any

from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.promises import scale_table, size
from benchmarks.studies.tables import NOT_MEASURED, mean_figures, of_variants, precisions

PAGE = ROOT / "docs" / "methods" / "labelspace.md"
CORPORA = {"bibtex": (0, 1, 2), "delicious": (0,), "wordnet": (0,)}
"""Corpora and the splits that each can afford."""
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "votes only": {"rank by": "shares"},
    "classifiers only": {"rank by": "margins"},
    "fixed weights": {"join": "usual"},
    "join without frequency": {"join": "one band"},
    "no hard negatives": {"hard_negatives": 1},
    "C=0.2": {"C": 0.2},
    "C=0.5": {"C": 0.5},
    "C=1": {"C": 1.0},
    "dim=32": {"dim": 32},
    "dim=256": {"dim": 256},
    "n_neighbors=20": {"n_neighbors": 20},
    "n_neighbors=200": {"n_neighbors": 200},
    "n_learners=1": {"n_learners": 1},
    "n_learners=4": {"n_learners": 4},
    "propensity": {"propensity": True},
}
GOALS = {"f1": "f1", "precise": "precision=0.9"}
"""Thresholds whose precision and recall are counted, by their names in the figures."""
SIZES = [size(50_000), size(100_000), size(490_449)]


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    columns = ["rows", "labels", "training, CPU s", "peak memory", "model"]
    return {
        "parts": _parts(lines),
        "calibration": _calibration(lines),
        "scale": scale_table(lines, SIZES, columns),
    }


def _parts(lines: list[Measured]) -> str:
    """Return means over splits, a dash where nothing was measured."""
    head = ["what", *(f"{name}: P@1/3/5, PSP@5, CPU s" for name in CORPORA)]
    rows = [[what, *(_cell(lines, corpus, what) for corpus in CORPORA)] for what in VARIANTS]
    return of_variants(head, rows)


def _cell(lines: list[Measured], corpus: str, what: str) -> str:
    found = select(lines, part="parts", corpus=corpus, variant=what)
    if not found:
        return NOT_MEASURED
    mean = mean_figures([line.figures for line in found])
    return f"{precisions(mean, 2)}, {mean['PSP@5']:.2f}, {mean['cpu_s']:.1f}"


def _calibration(lines: list[Measured]) -> str:
    head = ["corpus", "ECE, held out", "ECE, test", "F1 of `k=5`", 'F1 of `"f1"`']
    head += ['precision, recall of `"f1"`', 'precision, recall of `"precision=0.9"`']
    rows = []
    for corpus in BY_SIZE:
        for line in select(lines, part="calibration", corpus=corpus):
            names = ("ECE held out", "ECE test", "F1 k=5", "F1 f1")
            cells = [f"{line.figures[name]:.1f}" for name in names]
            for kind in GOALS:
                pair = (line.figures.get(f"{name} {kind}") for name in ("precision", "recall"))
                cells.append(
                    ", ".join(NOT_MEASURED if one is None else f"{one:.1f}" for one in pair)
                )
            rows.append([corpus, *cells])
    return markdown(head, rows, numbers=False)
