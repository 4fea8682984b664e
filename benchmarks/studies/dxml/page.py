"""Tables and plot of DXML's page, from the study's lines and those of the benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.plots import svg_pyplot
from benchmarks.render.references import published
from benchmarks.render.tables import markdown
from benchmarks.results import DONE, Line, latest, read_lines
from benchmarks.studies.dxml import consistency
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.tables import NOT_MEASURED, of_variants, spread, titled

PAGE = ROOT / "docs" / "methods" / "dxml.md"
CORPORA = ("bibtex", "delicious")
GRAPHS = ("bibtex", "delicious", "eurlex57k", "wordnet")
"""Corpora whose label graphs are walked."""
PROBES = (1, 2, 4, 8, 64)
NEIGHBORS = (1, 2, 3, 5, 10, 20, 40)
WHICH = ("P@1", "P@3", "P@5")
TABLES = (*WHICH, "nDCG@3", "nDCG@5")

TABLE_6 = {
    "bibtex": {"DXML": (353, 2.1), "SLEEC": (307, 1.5)},
    "delicious": {"DXML": (1630, 7.8), "SLEEC": (1763, 6.1)},
}
"""The paper's seconds: training, DXML's on a GPU, and asking, on a CPU."""

ONE: dict[str, Any] = {"n_learners": 1}
PAPER: dict[str, Any] = {"preset": "paper"}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "as it is, but one network": [ONE],
    "non-linearity": [ONE | {"activation": "linear"}],
    "label vectors": [ONE | {"targets": kind} for kind in ("random", "svd", "neighbors")],
    "the paper, scaled": [PAPER],
    "the paper, scaled, without the non-linearity": [PAPER | {"activation": "linear"}],
    "the paper, scaled, label vectors": [PAPER | {"targets": kind} for kind in ("random", "svd")],
    "loss": [ONE | {"loss": kind} for kind in ("smooth-l1", "contrastive", "triplet")],
    "labels stay where they are": [ONE | {"label_weight": 0.0}],
    "edges": [ONE | {"edges": kind} for kind in ("binary", "pmi")],
    "plain counts": [ONE | {"voting": "counts"}],
    "the paper, scaled, four times as long": [PAPER | {"n_epochs": 160}],
}


FIRST: dict[str, dict[str, Any]] = {
    'as printed, `preset="paper"`': PAPER,
    "the default: eight networks on bibtex, four on delicious": {},
    "the same, only labels' own vectors vote": {"label_votes": 1000.0},
}
FIRST_PARTS: dict[str, dict[str, Any]] = {
    "one network": ONE,
    "one network, label vectors at random": ONE | {"targets": "random"},
    "one network, labels that do not learn along": ONE | {"label_weight": 0.0},
    "one network, plain counts": ONE | {"voting": "counts"},
}
"""On the given files: of bibtex from ``parts``, of delicious from ``whole``."""

SCALING: dict[str, dict[str, Any]] = {
    'as printed, `preset="paper"`': PAPER,
    "label vectors centred and of length one: `unit_labels=True`": PAPER | {"unit_labels": True},
    "rows of length one: `normalize=True`": PAPER | {"normalize": True},
    "both": PAPER | {"unit_labels": True, "normalize": True},
}
"""The paper's preset, and the same with label vectors or rows of length one."""


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    parts = select(lines, part="parts")
    runs = [line for line in latest(read_lines()) if line["status"] == DONE]
    return {
        "first": _first(lines, runs),
        "scaling": _scaling(select(lines, part="scaling")),
        "parts": _choices(parts),
        "placed": _placed(parts),
        "clusters": _clusters(parts),
        "neighbors": _neighbors(parts),
        "append": _appended(select(lines, part="append"), runs),
        "deepwalk": _deep_walk(select(lines, part="deep_walk")),
        "papers": _beside_the_paper(runs),
        "consistency": consistency.table(runs, CORPORA),
        "times": _beside_others(runs),
        "seconds": _seconds(runs),
    }


def _first(lines: list[Measured], runs: list[Line]) -> str:
    printed = {one.corpus: one.figures for one in published() if one.ours == "dxml"}
    rows = [["the paper's figure, ten random splits", *(_one(printed[name]) for name in CORPORA)]]
    for title, parameters in FIRST.items():
        cells = []
        for corpus in CORPORA:
            what = {"method": "dxml", "corpus": corpus, "split": "given", "parameters": parameters}
            found = [line for line in runs if what.items() <= line.items() and not line["seed"]]
            cells.append(_one(found[-1]["metrics"]) if found else NOT_MEASURED)
        rows.append([title, *cells])
    for title, parameters in FIRST_PARTS.items():
        own = [
            select(lines, part=part, corpus=corpus, parameters=parameters)
            for part, corpus in (("parts", "bibtex"), ("whole", "delicious"))
        ]
        rows.append([title, *map(_three, own)])
    return of_variants(["P@1 / P@3 / P@5", *CORPORA], rows)


def _scaling(lines: list[Measured]) -> str:
    rows = []
    for title, parameters in SCALING.items():
        own = [select(lines, corpus=name, parameters=parameters) for name in CORPORA]
        rows.append([title, *map(_three, own)])
    return of_variants(["P@1 / P@3 / P@5, given files", *CORPORA], rows)


def _one(figures: Mapping[str, float]) -> str:
    return " / ".join(f"{figures[which]:.2f}" for which in WHICH)


def _choices(lines: list[Measured]) -> str:
    head = ["what", *(f"{name}: P@1, P@3, P@5" for name in CORPORA)]
    rows = []
    for what, variants in VARIANTS.items():
        for parameters in variants:
            given = sorted(parameters.items() - (ONE | PAPER).items())
            found = [select(lines, corpus=name, parameters=parameters) for name in CORPORA]
            rows.append([titled(what, dict(given)), *map(_three, found)])
    return of_variants(head, rows)


def _placed(lines: list[Measured]) -> str:
    """Return how good votes are of the neighbours of where rows are put, and ought to be."""
    head = ["P@1, P@3, P@5", "where the network puts rows", "where their labels say"]
    rows = [
        [f"{corpus}, {title}", _three(found), _three(found, "placed by labels")]
        for corpus, title, found in _plain(lines)
    ]
    return markdown(head, rows, numbers=False)


def _clusters(lines: list[Measured]) -> str:
    rows = [
        [f"{corpus}, {title}: P@1", *(f"{value:.2f}" for value in _by_probes(found))]
        for corpus, title, found in _plain(lines)
    ]
    return markdown(["clusters searched", *map(str, PROBES)], rows, numbers=False)


def _neighbors(lines: list[Measured]) -> str:
    rows = []
    for corpus, title, found in _plain(lines):
        cells = []
        for n in NEIGHBORS:
            means = (
                np.mean([line.figures["neighbors"][str(n)][which] for line in found])
                for which in ("P@1", "P@5")
            )
            cells.append(" / ".join(f"{mean:.2f}" for mean in means))
        rows.append([f"{corpus}, {title}", *cells])
    return markdown(["rows that vote: P@1 / P@5", *map(str, NEIGHBORS)], rows, numbers=False)


def _plain(lines: list[Measured]) -> Iterator[tuple[str, str, list[Measured]]]:
    """Give the trials without a change: corpus, title, lines."""
    for corpus in CORPORA:
        for title, parameters in (("one network", ONE), ("the paper, scaled", PAPER)):
            if found := select(lines, corpus=corpus, parameters=parameters):
                yield corpus, title, found


def _by_probes(lines: list[Measured]) -> list[float]:
    return [
        float(np.mean([line.figures["probes"][str(n)]["P@1"] for line in lines])) for n in PROBES
    ]


def _three(lines: list[Measured], kind: str = "test") -> str:
    if not lines:
        return NOT_MEASURED
    return " / ".join(
        spread([line.figures[kind][which] for line in lines], ddof=0) for which in WHICH
    )


def draw(lines: list[Measured], folder: Path) -> None:
    """Draw the paper's Figure 2, and P@1 by the number of clusters searched."""
    plt = svg_pyplot()
    figure, panels = plt.subplots(2, len(CORPORA), figsize=(8, 6), layout="constrained")
    for column, corpus in enumerate(CORPORA):
        above, below = panels[:, column]
        for title, parameters, color in (
            ("one network", ONE, "tab:blue"),
            ("the paper, scaled", PAPER, "tab:orange"),
        ):
            for name, change, style in (
                ("", {}, "o-"),
                (", linear", {"activation": "linear"}, "o--"),
            ):
                if found := select(
                    lines, part="parts", corpus=corpus, parameters={**parameters, **change}
                ):
                    heights = [
                        np.mean([line.figures["test"][which] for line in found]) for which in WHICH
                    ]
                    above.plot((1, 3, 5), heights, style, color=color, label=title + name)
            if found := select(lines, part="parts", corpus=corpus, parameters=parameters):
                below.plot(PROBES, _by_probes(found), "o-", color=color)
        above.set(title=corpus, xlabel="k", ylabel="P@k", xticks=(1, 3, 5))
        below.set(xlabel="clusters searched", ylabel="P@1", xscale="log")
        below.set_xticks(PROBES, map(str, PROBES), minor=False)
        below.minorticks_off()
        for panel in (above, below):
            panel.grid(alpha=0.25)
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(folder / "dxml.svg", metadata={"Date": None})
    plt.close(figure)


def _deep_walk(lines: list[Measured]) -> str:
    rows = [
        "| corpus | labels | edges | steps of walks | | CPU s | AUC | nearest are neighbours |",
        "|---|--:|--:|--:|---|--:|--:|--:|",
    ]
    for line in lines:
        told = line.figures
        head = f"{line.corpus} | {told['n_labels']:,} | {told['n_edges']:,} | {told['n_walked']:,}"
        for name, one in told["learners"].items():
            rows.append(
                f"| {head} | {name} | {one['cpu_s']} | {one['auc']:.3f} | {one['nearest']:.1%} |"
            )
            head = " | | | "
    return "\n".join(rows)


def _appended(lines: list[Measured], runs: list[Line]) -> str:
    rows = ["| corpus | learned | P@1 | P@3 | P@5 | CPU s |", "|---|---|--:|--:|--:|--:|"]
    for line in lines:
        head = line.corpus
        for name in ("first half", "second half on top", "all at once"):
            one = line.figures.get(name) or next(
                run["metrics"] | {"cpu_s": run["train_cpu_s"]}
                for run in runs
                if (run["corpus"], run["method"], run["split"]) == (line.corpus, "dxml", "given")
                and not run["parameters"]
            )
            cells = " | ".join(f"{one[which]:.2f}" for which in WHICH)
            rows.append(f"| {head} | {name} | {cells} | {one['cpu_s']:.0f} |")
            head = ""
    return "\n".join(rows)


def _beside_the_paper(runs: list[Line]) -> str:
    """Return tables 2 to 5: the paper's figures, and ours over ten random splits."""
    body = []
    for corpus in CORPORA:
        for one in published():
            if one.corpus == corpus and one.ours == "dxml":
                cells = [f"{one.figures[name]:.2f}" for name in TABLES]
                body.append([f"{corpus}: the paper", *cells])
        for title, method, parameters in (
            ("DXML", "dxml", {}),
            ('DXML, `preset="paper"`', "dxml", PAPER),
            ("AnnexML", "annexml", {}),
        ):
            lines = [
                line["metrics"]
                for line in runs
                if (line["corpus"], line["method"], line["parameters"])
                == (corpus, method, parameters)
                and line["split"] != "given"
            ]
            if lines:
                splits = "" if len(lines) == 10 else f" ({len(lines)} splits)"
                body.append(
                    [f"{title}{splits}", *(spread([one[name] for one in lines]) for name in TABLES)]
                )
    return markdown(["ten random splits", *TABLES], body)


def _seconds(runs: list[Line]) -> str:
    """Return table 6: the paper's seconds of training and of all test rows, and ours."""
    body = []
    for corpus in CORPORA:
        for system, (training, asking) in TABLE_6[corpus].items():
            body.append([f"{corpus}: {system}, the paper", f"{training:,}", f"{asking:.1f}"])
        for title, method, parameters in (
            ('DXML, `preset="paper"`', "dxml", PAPER),
            ("DXML", "dxml", {}),
            ("SLEEC", "sleec", {}),
        ):
            identity = corpus, method, parameters, "given"
            for line in runs:
                found = line["corpus"], line["method"], line["parameters"], line["split"]
                if found == identity and not line["seed"]:
                    asking = 0.001 * line["batch_cpu_ms"] * line["n_test"]
                    body.append(
                        [f"{corpus}: {title}", f"{line['train_cpu_s']:.0f}", f"{asking:.1f}"]
                    )
    return markdown(["", "training s", "all test rows, s"], body)


def _beside_others(runs: list[Line]) -> str:
    """Return figures and times on the given files beside those of other methods (table 6)."""
    body = []
    for corpus in BY_SIZE:
        for method in ("dxml", "annexml", "glas", "labelspace"):
            for line in runs:
                if (line["corpus"], line["method"], line["split"]) != (corpus, method, "given"):
                    continue
                if line["parameters"] or line["seed"]:
                    continue
                figures = [f"{line['metrics'][name]:.2f}" for name in (*WHICH, "nDCG@5", "PSP@5")]
                costs = [f"{line['train_cpu_s']:.0f}", f"{line['batch_cpu_ms']:.2f}"]
                body.append([f"{corpus}: {method}", *figures, *costs])
    head = ["given files", *WHICH, "nDCG@5", "PSP@5", "training CPU s", "ms per row"]
    return markdown(head, body)
