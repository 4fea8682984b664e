"""The table of the page about teaching."""

from __future__ import annotations

from benchmarks.corpora import ROOT
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.tables import mean_figures

PAGE = ROOT / "docs" / "teaching.md"
CORPORA = {"bibtex": (0, 1, 2), "delicious": (0, 1, 2), "wordnet": (0,)}
"""Corpora, and the seeds that each can afford."""
VARIANTS = ("marks only", "unmarked is wrong")
SHOWN = {
    "taught P@1": "P@1 on the taught labels",
    "other P@1": "P@1 on all others",
    "other P@5": "P@5 on all others",
    "all P@1": "P@1 on all rows",
    "unmarked": "tags unmarked, but right",
}


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return what lessons change, in points, mean over the seeds."""
    head = ["corpus", "what counts", *SHOWN.values()]
    rows = []
    for corpus in CORPORA:
        for variant in VARIANTS:
            found = select(lines, part="lessons", corpus=corpus, variant=variant)
            if not found:
                continue
            mean = mean_figures([_flat(line) for line in found])
            changes = (f"{mean[f'{name} change']:+.2f}" for name in SHOWN)
            rows.append((corpus, variant, *changes))
    return {"lessons": markdown(head, rows, numbers=True)}


def _flat(line: Measured) -> dict[str, float]:
    before, after = line.figures["before"], line.figures["after"]
    changes = {f"{name} change": after[name] - before[name] for name in before}
    return {**changes, "unmarked change": line.figures["unmarked, right"]["change"]}
