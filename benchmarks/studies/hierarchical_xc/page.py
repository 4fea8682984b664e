"""Tables and plot of HierarchicalXC's page, from the study's lines and those of the benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
Run = tuple[str, str, dict[str, Any], str]
"""Title, method, parameters, and since when runs are of that."""
MOST_COMMON: Run = ("most common labels", "most-common", {}, "")
RUNS: tuple[Run, ...] = (
    (
        'as printed, the rest inferred: `preset="paper"`',
        "hierarchicalxc",
        {"preset": "paper"},
        SINCE["hierarchicalxc"],
    ),
    ('`preset="repaired"`', "hierarchicalxc", {"preset": "repaired"}, SINCE["hierarchicalxc"]),
    ("the default", "hierarchicalxc", {}, ""),
)

REPAIRED_WITH_FEATURES = '`preset="repaired"`, features'
REPAIRED_AND_WEIGHED = '`preset="repaired"`, all paths weighed'
NO_TREE = "no tree: `leaf_size=1000`"
WITH_CODES = '`projection="autoencoder"`, 300'
ADDED_PARTS = (REPAIRED_WITH_FEATURES, REPAIRED_AND_WEIGHED, NO_TREE, WITH_CODES)
ADDED = (
    ("`repaired` with the features in place of codes", REPAIRED_WITH_FEATURES),
    ("`repaired` with all paths weighed in place of decisions", REPAIRED_AND_WEIGHED),
    ("the default with codes in place of the features", WITH_CODES),
    ("the default with decisions, found labels in no order", "yes or no at each node"),
    ("the default's classifiers alone: all labels below the root, no tree", NO_TREE),
)
"""What the default adds, by itself and left out: titles and variants."""


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    figures = sorted(select(lines, part="figures"), key=_place)
    variants = _defaults(lines) + select(lines, part="variants")
    return {
        "first": _first(select(lines, part="variants")),
        "corpora": _beside(),
        "report": _report(select(lines, part="report")),
        "faults": _faults(select(lines, part="faults")),
        "variants": _variants(sorted(variants, key=_place)),
        "figures": _figures(figures),
        "clusters": _clusters(select(lines, part="clusters")),
    }


def _place(line: Measured) -> tuple[int, bool]:
    """Smaller corpora first, and the method itself before others."""
    return BY_SIZE.index(line.corpus), line.variant not in ("hierarchicalxc", "default")


def _first(lines: Sequence[Measured]) -> str:
    """Return the report's figure, its presets, the default, and what that adds, by itself."""
    asked = {"split": "given", "status": results.DONE, "seed": 0}
    runs = [line for line in results.latest(results.read_lines()) if asked.items() <= line.items()]

    def row(title: str, found: Mapping[str, Mapping[str, float]]) -> list[str]:
        cells = [
            precisions(found[one], 2, " / ") if one in found else NOT_MEASURED for one in SMALL
        ]
        return [title, *cells]

    def run(title: str, method: str, parameters: dict[str, Any], since: str) -> list[str]:
        found = {
            line["corpus"]: line["metrics"]
            for line in runs
            if (line["method"], line["parameters"]) == (method, parameters)
            and line["date"] >= since
        }
        return row(title, found)

    rows = [run(*MOST_COMMON)]
    rows.append(["the report, on its own files", f"– / – / {REPORTED:.2f}", NOT_MEASURED])
    rows += [run(*one) for one in RUNS]
    for title, variant in ADDED:
        found = {line.corpus: line.figures["test"] for line in select(lines, variant=variant)}
        rows.append(row(title, found))
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


def _faults(lines: Sequence[Measured]) -> str:
    head = ["bibtex", "taught as both, %", "right, %", "labels found", "with right targets"]
    head += ["mean depth", "features of a row", "least likeness"]
    rows = []
    for line in lines:
        found = line.figures
        cells = [f"{found[name]:.1f}" for name in ("both_published", "both_right")]
        cells += [
            f"{found[name]:.1f}" if name in found else NOT_MEASURED
            for name in ("labels_published", "labels_right")
        ]
        cells += [f"{found[name]:.1f}" for name in ("mean_depth", "features_of_a_row")]
        rows.append([line.variant, *cells, f"{found['least_likeness']:.2f}"])
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
