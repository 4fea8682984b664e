"""Tables of SMCE's page."""

from __future__ import annotations

from typing import Any

from benchmarks.corpora import ROOT
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.smce.clusterers import CLUSTERERS
from benchmarks.studies.smce.shapes import SHAPES
from benchmarks.studies.tables import NOT_MEASURED, mean_figures, of_variants, precisions

PAGE = ROOT / "docs" / "methods" / "smce.md"
PENALTIES = (10.0, 100.0)
FIRST = {
    "default: the nearest 50, λ = 10": "SMCE",
    "`paper`: all others, λ = 10": "SMCE, all points (`paper`)",
    "all others, λ = 400": "SMCE, all points, λ = 400",
}
"""What the default and the paper's preset differ in, and the names that tables have for them."""
EMBEDDINGS = ("SMCE", "LLE", "Laplacian eigenmaps", "Isomap", "SNE", "t-SNE")
CORPORA = {"bibtex": (0, 1, 2), "delicious": (0,), "wordnet": (0,)}
"""Corpora and the seeds that each can afford."""
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is: k-NN graph, no partition": {},
    "SMCE's graph": {"similarity": "smce"},
    "4 parts, learned": {"partition": "learned"},
    "4 parts, k-means": {"partition": "kmeans"},
    "4 parts, SMCE": {"partition": "smce"},
    "4 parts, SMCE, and SMCE's graph": {"partition": "smce", "similarity": "smce"},
}


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "first": _first(select(lines, part="clustering")),
        "clustering": _clustering(select(lines, part="clustering")),
        "dimensions": _dimensions(select(lines, part="dimensions")),
        "timing": _timing(select(lines, part="timing")),
        "embedding": _embedding(select(lines, part="embedding")),
        "annexml": _annexml(select(lines, part="annexml")),
    }


def _first(lines: list[Measured]) -> str:
    rows = [[title, *_errors(lines, method)] for title, method in FIRST.items()]
    return of_variants(["wrong, %", *SHAPES], rows)


def _clustering(lines: list[Measured]) -> str:
    rows = [[method, *_errors(lines, method)] for method in CLUSTERERS]
    return of_variants(["wrong, %", *SHAPES], rows)


def _errors(lines: list[Measured], method: str) -> list[str]:
    cells = []
    for shape in SHAPES:
        found = [line.figures for line in select(lines, corpus=shape, variant=method)]
        cells.append(f"{mean_figures(found)['error']:.1f}" if found else NOT_MEASURED)
    return cells


def _dimensions(lines: list[Measured]) -> str:
    rows = []
    for name in dict.fromkeys(line.corpus for line in lines):
        here = select(lines, corpus=name)
        cells = [here[0].figures["truth"], *(line.figures["found"] for line in here)]
        rows.append([name, *(", ".join(map(str, cell)) for cell in cells)])
    return of_variants(["shape", "dimensions", *(f"λ = {one:.0f}" for one in PENALTIES)], rows)


def _timing(lines: list[Measured]) -> str:
    rows = []
    for line in lines:
        seconds = [f"{line.figures[name]:.1f}" for name in ("weights_cpu_s", "cpu_s")]
        size = line.parameters
        rows.append([f"{size['n_points']:,}", str(size["n_features"]), *seconds])
    return markdown(["points", "dimensions", "weights, CPU s", "everything, CPU s"], rows)


def _embedding(lines: list[Measured]) -> str:
    rows = []
    for line in lines:
        kept, taken = line.figures["trust"], line.figures["cpu_s"]
        rows.append([line.corpus, *(f"{kept[name]:.1f}, {taken[name]:.1f}" for name in EMBEDDINGS)])
    return markdown(["kept, %, and CPU s", *EMBEDDINGS], rows)


def _annexml(lines: list[Measured]) -> str:
    head = ["", *(f"{name}: P@1/3/5, CPU s" for name in CORPORA)]
    rows = [
        [variant, *(_cell(select(lines, corpus=name, variant=variant)) for name in CORPORA)]
        for variant in VARIANTS
    ]
    return of_variants(head, rows)


def _cell(found: list[Measured]) -> str:
    if not found:
        return NOT_MEASURED
    names = ("P@1", "P@3", "P@5", "train_cpu_s")
    mean = mean_figures([{name: line.figures[name] for name in names} for line in found])
    return f"{precisions(mean, 2)}, {mean['train_cpu_s']:.0f}"
