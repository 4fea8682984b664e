"""A method's figures on all corpora in one table, for the page of that method."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.corpora import BY_SIZE
from benchmarks.plan import TEN_SPLITS
from benchmarks.render.references import published
from benchmarks.render.rows import COST, Row, gather
from benchmarks.render.tables import (
    COST_TITLES,
    amount,
    markdown,
    marked,
    printed,
    score,
    with_notes,
)
from benchmarks.results import Line

FIGURES = ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5")
NO_RUNS = "No runs yet."


def figures_table(lines: Sequence[Line], methods: Sequence[str]) -> str:
    """Return what methods have on each corpus, below it what was published.

    Small corpora show the ten random splits, where there are some, as publications do.
    """
    notes: list[str] = []
    body = []
    for corpus in BY_SIZE:
        for method in methods:
            row, splits = _newest(lines, corpus, method)
            if row is not None:
                title = marked(f"`{method}`, {corpus}{splits}", row.note, notes)
                cells = [score(row.figures[name]) for name in FIGURES]
                body.append([title, *cells, *(amount(row.figures[name]) for name in COST)])
                body += _published(corpus, method)
    if not body:
        return NO_RUNS
    return with_notes(markdown(["", *FIGURES, *COST_TITLES], body), notes)


def _newest(lines: Sequence[Line], corpus: str, method: str) -> tuple[Row | None, str]:
    """Return a method's row, of random splits if it has some, and how these are told."""
    for split in ("ten", "given") if corpus in TEN_SPLITS else ("given",):
        for row in gather(lines, corpus, split, methods=[method]):
            if "P@1" in row.figures:
                return row, " (random splits)" if split == "ten" else ""
    return None, ""


def _published(corpus: str, method: str) -> list[list[str]]:
    found = [one.figures for one in published() if (one.corpus, one.ours) == (corpus, method)]
    cells = [[printed(one.get(name)) for name in FIGURES] for one in found[:1]]
    return [[f"published, {corpus}", *one, *("–" for _ in COST)] for one in cells]
