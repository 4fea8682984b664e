"""The table of the page about the server's map."""

from __future__ import annotations

from benchmarks.corpora import ROOT
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured, select

PAGE = ROOT / "docs" / "server.md"
CORPORA = ("demo", "bibtex", "delicious", "wordnet")
VARIANTS = ("tree", "neighbourhood")
SHOWN = {"kept": "of the ten nearest kept", "trustworthiness": "trustworthiness"}


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return how well maps keep what is near."""
    head = ["corpus", "labels", "laid out by", *SHOWN.values(), "CPU seconds"]
    rows = []
    for corpus in CORPORA:
        for variant in VARIANTS:
            for line in select(lines, part="layouts", corpus=corpus, variant=variant):
                told = line.figures
                figures = (f"{told[name]:.3f}" for name in SHOWN)
                name = variant if variant != "neighbourhood" else "neighbourhood (shown)"
                labels = f"{told['n_labels']:,}"
                rows.append((corpus, labels, name, *figures, f"{told['cpu_s']:.1f}"))
    return {"map": markdown(head, rows, numbers=True)}
