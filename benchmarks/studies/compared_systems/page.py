"""Tables of the page of the compared systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.corpora import ROOT
from benchmarks.render.references import published
from benchmarks.render.tables import markdown
from benchmarks.studies.compared_systems.variants import (
    ASKED,
    LARGE,
    ON_CUTS,
    PARTS,
    SMALL,
    TRIED,
)
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.study import Figures
from benchmarks.studies.tables import NOT_MEASURED, of_variants, precisions

PAGE = ROOT / "docs" / "methods" / "compared-systems.md"
AT_SCALE = ("leml", "wsabie", "robustxml", "sleec")
N_ROWS, WHOLE = 73_600, 490_449
"""Rows of the corpus that is made, whose labels are then a hundred thousand."""
NAMES = {
    "sleec": "SLEEC",
    "leml": "LEML",
    "robustxml": "RobustXML",
    "wsabie": "WSABIE",
    "cplst": "CPLST",
    "plst": "PLST",
    "cs": "CS",
    "ml-cssp": "ML-CSSP",
}
ASKED_TOO = {"sleec": [*TRIED["sleec"], *ASKED]}
"""What is tried of SLEEC, and how it is asked."""
SOURCE = "DXML, tables 2–5"
NO_RUNS = "There are no runs yet."


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "settings": _tried(select(lines, part="settings"), TRIED | ASKED_TOO, SMALL),
        "cuts": _tried(select(lines, part="cuts"), ON_CUTS, LARGE),
        "parts": "\n\n".join(
            f"### {NAMES[method]}\n\n{_parts(select(lines, part='parts', variant=method), method)}"
            for method in PARTS
        ),
        "scale": _scale(select(lines, part="scale")),
        "text": _text(select(lines, part="text")),
    }


def _tried(
    lines: list[Measured], tried: Mapping[str, Sequence[Mapping[str, Any]]], corpora: Sequence[str]
) -> str:
    """Return what changing one setting adds to the mean of P@1, P@3 and P@5."""
    rows = []
    for method, changes in tried.items():
        cells = {
            (line.corpus, str(dict(line.parameters))): line.figures
            for line in select(lines, variant=method)
        }
        usual = {corpus: cells.get((corpus, "{}")) for corpus in corpora}
        rows.append([f"`{method}`", *(_cell(usual.get(corpus)) for corpus in corpora)])
        for changed in changes:
            found = [
                _difference(cells.get((corpus, str(dict(changed)))), usual.get(corpus))
                for corpus in corpora
            ]
            rows.append([f"· {_told(changed)}", *found])
    return of_variants(["default, or what is different", *corpora], rows)


def _parts(lines: list[Measured], method: str) -> str:
    """Return the figures of one method: published, as it is, as published, without its parts."""
    cells = {(line.corpus, str(dict(line.parameters))): _both(line.figures) for line in lines}
    titles = {"default": {}, '`preset="paper"`': {"preset": "paper"}, **PARTS[method]}
    rows = [["published, ten splits", *(_published(method, corpus) for corpus in SMALL)]]
    rows += [
        [title, *(cells.get((corpus, str(changed)), NOT_MEASURED) for corpus in SMALL)]
        for title, changed in titles.items()
    ]
    return of_variants(["", *SMALL], rows)


def _scale(lines: list[Measured]) -> str:
    columns = ["method", "rows", "features", "labels", "training, CPU s", "peak memory", "model"]
    columns += ["predict ms/row", "P@1/3/5"]
    rows = [
        [
            f"`{line.variant}`",
            *(f"{line.figures[name]:,}" for name in ("n_rows", "n_features", "n_labels")),
            f"{line.figures['train_cpu_s']:.0f}",
            f"{line.figures['peak_mib'] / 1024:.1f} GiB",
            f"{line.figures['model_mib']:,.0f} MiB",
            f"{line.figures['batch_cpu_ms']:.2g}",
            precisions(line.figures),
        ]
        for method in AT_SCALE
        for line in select(lines, variant=method)
    ]
    return markdown(columns, rows) if rows else NO_RUNS


def _text(lines: list[Measured]) -> str:
    columns = ["method", "corpus", "P@1/3/5", "nDCG@5", "training, CPU s", "peak memory", "model"]
    columns += ["predict ms/row"]
    rows = [
        [
            f"`{line.variant}`",
            line.corpus,
            precisions(line.figures, 2),
            f"{line.figures['nDCG@5']:.2f}",
            f"{line.figures['train_cpu_s']:,.0f}",
            f"{line.figures['peak_mib'] / 1024:.1f} GiB",
            f"{line.figures['model_mib']:,.0f} MiB",
            f"{line.figures['batch_cpu_ms']:.2g}",
        ]
        for line in lines
    ]
    return markdown(columns, rows) if rows else NO_RUNS


def _published(method: str, corpus: str) -> str:
    for one in published():
        if (one.ours, one.corpus, one.source) == (method, corpus, SOURCE):
            return precisions(one.figures, 2)
    return NOT_MEASURED


def _cell(figures: Figures | None) -> str:
    return NOT_MEASURED if figures is None else precisions(figures, 2)


def _both(figures: Figures) -> str:
    rare = "/".join(f"{figures[f'PSP@{k}']:.1f}" for k in (1, 3, 5))
    return f"{precisions(figures, 2)}; PSP {rare}; {figures['train_cpu_s']:.1f} s"


def _difference(figures: Figures | None, usual: Figures | None) -> str:
    if figures is None or usual is None:
        return NOT_MEASURED
    added, rare = (_mean(figures, name) - _mean(usual, name) for name in ("P", "PSP"))
    return f"{added:+.2f}; PSP {rare:+.2f}".replace("-", "−")


def _mean(figures: Figures, name: str) -> float:
    return float(np.mean([figures[f"{name}@{k}"] for k in (1, 3, 5)]))


def _told(changed: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}={value}`" for name, value in changed.items())
