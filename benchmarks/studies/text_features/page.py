"""The table of the page about text."""

from __future__ import annotations

from typing import Any

from benchmarks.corpora import ROOT
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.tables import precisions

PAGE = ROOT / "docs" / "text.md"
CORPORA = {
    "wordnet": "glosses, 12 words",
    "eurlex57k": "laws, 230 words",
    "tibkat": "titles and abstracts",
}
AS_GIVEN = "as given"
CHOICES: dict[str, dict[str, Any]] = {
    AS_GIVEN: {},
    "TextFeatures()": {},
    "ngrams=2": {"ngrams": 2},
    "char_ngrams=(3, 5)": {"char_ngrams": (3, 5)},
    "n_hashes=2**18": {"n_hashes": 2**18},
    "max_df=0.2": {"max_df": 0.2},
}


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the choices that were measured, a column for each corpus."""
    shown = [corpus for corpus in CORPORA if select(lines, corpus=corpus)]
    rows = []
    for choice in CHOICES:
        found = [select(lines, corpus=corpus, variant=choice) for corpus in shown]
        cells = [precisions(one[0].figures, 1, " / ") if one else "" for one in found]
        if any(cells):
            rows.append([choice if choice == AS_GIVEN else f"`{choice}`", *cells])
    head = ["", *(f"{corpus}: {CORPORA[corpus]}" for corpus in shown)]
    return {"choices": markdown(head, rows, numbers=False)}
