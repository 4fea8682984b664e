"""The tables of the page about encoders."""

from __future__ import annotations

from benchmarks.corpora import ROOT
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.tables import NOT_MEASURED, precisions

PAGE = ROOT / "docs" / "encoders.md"
CORPORA = ("tibkat", "wordnet", "eurlex57k")
VARIANTS = ("words", "better words", "words, encoder", "words, names", "all together")
CUT, ASKED = 6000, 3000
"""Rows of a part of a corpus to learn from, and to ask about."""
LANGUAGES = ("words", "words, encoder")


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page; what was not measured is not there."""
    return {
        "cuts": _variants(lines, "cuts"),
        "whole": _variants(lines, "whole"),
        "languages": _languages(lines),
    }


def _variants(lines: list[Measured], part: str) -> str:
    head = ["corpus", "what", "P@1/3/5", "nDCG@5/10", "PSP@1/3/5", "F1@5", "training", "asking"]
    rows = []
    for corpus in CORPORA:
        for variant in VARIANTS:
            for line in select(lines, part=part, corpus=corpus, variant=variant):
                found = line.figures
                cells = [
                    precisions(found, 1),
                    f"{found['nDCG@5']:.1f}/{found['nDCG@10']:.1f}",
                    "/".join(f"{found[f'PSP@{k}']:.1f}" for k in (1, 3, 5)),
                    f"{found['F1@5']:.3f}",
                    f"{found['train_cpu_s']:.0f} s",
                    f"{found['ask_cpu_ms']:.1f} ms",
                ]
                rows.append([corpus, variant, *cells])
    return markdown(head, rows, numbers=False) if rows else NOT_MEASURED


def _languages(lines: list[Measured]) -> str:
    head = ["", "recall@5", "P@1", "rows learned", "rows asked"]
    rows = []
    for variant in LANGUAGES:
        for line in select(lines, part="languages", variant=variant):
            found = line.figures
            cells = [f"{found['recall@5']:.1f}", f"{found['P@1']:.1f}"]
            rows.append([variant, *cells, f"{found['n_train']:,}", f"{found['n_test']:,}"])
    return markdown(head, rows, numbers=False) if rows else NOT_MEASURED
