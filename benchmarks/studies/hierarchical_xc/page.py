"""Tables and plot of HierarchicalXC's page, from the study's lines and those of the benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import results
from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.plots import svg_pyplot
from benchmarks.render.presets import SINCE
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.tables import NOT_MEASURED, of_variants, precisions

PAGE = ROOT / "docs" / "methods" / "hierarchicalxc.md"
KS = (1, 2, 3, 4, 5)
BESIDE = ("hierarchicalxc", "label-tree", "one-vs-all", "omikuji-parabel", "napkinxc-plt")
"""Methods of the common benchmarks that are shown: trees of labels, and no tree."""


SMALL = ("bibtex", "delicious")
REPORTED = 4.10  # P@5 on bibtex
FIRST: tuple[tuple[str, dict[str, Any], str], ...] = (
    ('`preset="paper"`', {"preset": "paper"}, SINCE["hierarchicalxc"]),
    ('`preset="repaired"`', {"preset": "repaired"}, SINCE["hierarchicalxc"]),
    ("the default", {}, ""),
)
"""Titles, parameters, and since when runs are of that."""


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    figures = sorted(select(lines, part="figures"), key=_place)
    variants = _defaults(lines) + select(lines, part="variants")
    return {
        "first": _first(),
        "corpora": _beside(),
        "report": _report(select(lines, part="report")),
        "variants": _variants(sorted(variants, key=_place)),
        "figures": _figures(figures),
        "clusters": _clusters(select(lines, part="clusters")),
    }


def _place(line: Measured) -> tuple[int, bool]:
    """Smaller corpora first, and the method itself before others."""
    return BY_SIZE.index(line.corpus), line.variant not in ("hierarchicalxc", "default")


def _first() -> str:
    """Return the report's figure, its preset and the default, on the files as given."""
    asked = {"method": "hierarchicalxc", "split": "given", "status": results.DONE, "seed": 0}
    lines = [line for line in results.latest(results.read_lines()) if asked.items() <= line.items()]
    rows = [["the report, on its own files", f"– / – / {REPORTED:.2f}", NOT_MEASURED]]
    for title, parameters, since in FIRST:
        own = {
            line["corpus"]: line["metrics"]
            for line in lines
            if line["parameters"] == parameters and line["date"] >= since
        }
        cells = [precisions(own[name], 2, " / ") if name in own else NOT_MEASURED for name in SMALL]
        rows.append([title, *cells])
    return of_variants(["given files, P@1 / P@3 / P@5", *SMALL], rows)


def _beside() -> str:
    """Return a table of this method and others on all corpora, from the common benchmarks."""
    head = ["corpus", "method", "P@1", "P@3", "P@5", "training, CPU s", "training, MiB"]
    head += ["model, MiB", "ms a row"]
    asked = {"split": "given", "status": results.DONE, "parameters": {}, "seed": 0}
    lines = [line for line in results.latest(results.read_lines()) if asked.items() <= line.items()]
    rows = []
    for corpus in BY_SIZE:
        for method in BESIDE:
            for line in lines:
                if (line["corpus"], line["method"]) == (corpus, method):
                    cells = [f"{line['metrics'][name]:.2f}" for name in ("P@1", "P@3", "P@5")]
                    cells += [f"{line['train_cpu_s']:.1f}", f"{line['train_peak_mib']:,.0f}"]
                    cells += [f"{line['model_mib']:,.0f}", f"{line['batch_cpu_ms']:.3f}"]
                    rows.append([corpus, method, *cells])
    return markdown(head, rows, numbers=False)


def _report(lines: Sequence[Measured]) -> str:
    head = [
        "bibtex, 1,200 rows",
        "train P@5",
        "train nDCG@5",
        "test P@1",
        "test P@5",
        "test nDCG@5",
    ]
    rows = [["*the report, all rows*", "*3.96*", "*2.66*", NOT_MEASURED, "*4.10*", "*2.69*"]]
    for line in sorted(lines, key=lambda line: line.variant in ("most-common", "random")):
        train, test = line.figures["train"], line.figures["test"]
        cells = [train["P@5"], train["nDCG@5"], test["P@1"], test["P@5"], test["nDCG@5"]]
        rows.append([line.variant, *(f"{cell:.2f}" for cell in cells)])
    return markdown(head, rows, numbers=False)


def _variants(lines: Sequence[Measured]) -> str:
    parts = []
    for corpus in dict.fromkeys(line.corpus for line in lines):
        head = [corpus, "P@1", "P@3", "P@5", "ECE", "nodes visited", "of all", "depth"]
        rows = []
        for line in (one for one in lines if one.corpus == corpus):
            found = line.figures
            cells = [f"{found['test'][name]:.2f}" for name in ("P@1", "P@3", "P@5")]
            cells.append(f"{found['ECE']:.1f}" if "ECE" in found else NOT_MEASURED)
            share = 100.0 * found["visited"] / found["n_nodes"]
            cells += [f"{found['visited']:,.0f}", f"{share:.1f} %", str(found["depth"])]
            seconds = f"{found['train_cpu_s']:.1f}" if "train_cpu_s" in found else NOT_MEASURED
            rows.append([line.variant, *cells, seconds])
        parts.append(markdown([*head, "training, CPU s"], rows, numbers=False))
    return "\n\n".join(parts)


def _figures(lines: Sequence[Measured]) -> str:
    parts = []
    for measure in ("P", "nDCG"):
        head = [f"{measure}@k", "rows", "method", *(f"@{k}" for k in KS)]
        rows = []
        for line in lines:
            for side in ("train", "test"):
                cells = [f"{line.figures[side][f'{measure}@{k}']:.2f}" for k in KS]
                rows.append([line.corpus, side, line.variant, *cells])
        parts.append(markdown(head, rows, numbers=False))
    return "\n\n".join(parts)


def _clusters(lines: Sequence[Measured]) -> str:
    head = ["corpus", "labels", "linked pairs", "likeness", "merges without a link"]
    head += ["depth, plain", "depth, balanced", "mean depth, balanced"]
    rows = []
    for line in lines:
        found = line.figures
        cells = [line.corpus, f"{found['n_labels']:,}", f"{found['n_links']:,}", line.variant]
        cells += [f"{found['n_unlinked']:,}", f"{found['plain_depth']:,}"]
        cells += [str(found["balanced_depth"]), f"{found['balanced_mean_depth']:.1f}"]
        cells += [f"{found[f'{kind}_cpu_s']:.2f}" for kind in ("plain", "balanced")]
        rows.append(cells)
    return markdown([*head, "CPU s, plain", "CPU s, balanced"], rows, numbers=False)


def draw(lines: list[Measured], folder: Path) -> None:
    """Draw P@k and nDCG@k on train and test, a panel for each corpus and measure."""
    lines = sorted(select(lines, part="figures"), key=_place)
    shown = list(dict.fromkeys(line.corpus for line in lines))
    if not shown:
        return
    plt = svg_pyplot()
    figure, panels = plt.subplots(
        2, len(shown), figsize=(3 * len(shown), 5.5), layout="constrained", squeeze=False
    )
    for row, measure in enumerate(("P", "nDCG")):
        for panel, corpus in zip(panels[row], shown, strict=True):
            for line in (one for one in lines if one.corpus == corpus):
                colour = "tab:gray" if line.variant == "random" else "tab:blue"
                for side, style in (("train", "o--"), ("test", "o-")):
                    heights = [line.figures[side][f"{measure}@{k}"] for k in KS]
                    name = f"{line.variant}, {side}"
                    panel.plot(KS, heights, style, color=colour, label=name, markersize=3)
            panel.set(title=f"{corpus}, {measure}@k", xticks=KS, ylim=(0, 100))
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    figure.savefig(folder / "hierarchicalxc.svg", metadata={"Date": None})
    plt.close(figure)


def _defaults(lines: list[Measured]) -> list[Measured]:
    """Return the default as measured for the figures, where no variant says so."""
    done = {line.corpus for line in select(lines, part="variants", variant="default")}
    return [
        replace(line, variant="default")
        for line in select(lines, part="figures", variant="hierarchicalxc")
        if line.corpus not in done
    ]
