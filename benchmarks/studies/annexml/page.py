"""Tables of AnnexML's page."""

from __future__ import annotations

from benchmarks.corpora import ROOT
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
    "the original program's settings",
    "partition",
    "dimension",
    "γ of the contrast",
    "negatives",
    "label vectors",
    "label graph",
    "votes",
    "search",
)


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    columns = ["rows", "features", "labels", "learners", "training, CPU s", "peak memory", "model"]
    return {
        "parts": _parts(select(lines, part="parts")),
        "scale": scale_table(lines, SIZES, columns, "MB"),
    }


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
