"""Tables and plot of DXML's page, from the lines of ``dxml`` and of the benchmarks."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.ablations import dxml_consistency
from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.marked import put
from benchmarks.render.references import published
from benchmarks.render.tables import markdown
from benchmarks.results import DONE, latest
from benchmarks.results import read_lines as read_runs

LINES = ROOT / "benchmarks" / "results" / "ablations" / "dxml.jsonl"
PAGE = ROOT / "docs" / "methods" / "dxml.md"
PLOT = ROOT / "docs" / "assets" / "dxml.svg"
CORPORA = ("bibtex", "delicious")
PROBES = (1, 2, 4, 8, 64)
NEIGHBORS = (1, 2, 3, 5, 10, 20, 40)
WHICH = ("P@1", "P@3", "P@5")
TABLES = (*WHICH, "nDCG@3", "nDCG@5")

Runs = dict[str, list[dict[str, Any]]]

ONE: dict[str, Any] = {"n_learners": 1}
PAPER: dict[str, Any] = {"preset": "paper"}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "as it is, but one network": [ONE],
    "non-linearity": [ONE | {"activation": "linear"}],
    "label vectors": [ONE | {"targets": kind} for kind in ("random", "svd", "neighbors")],
    "the paper": [PAPER],
    "the paper without the non-linearity": [PAPER | {"activation": "linear"}],
    "the paper, label vectors": [PAPER | {"targets": kind} for kind in ("random", "svd")],
    "loss": [ONE | {"loss": kind} for kind in ("smooth-l1", "contrastive", "triplet")],
    "labels stay where they are": [ONE | {"label_weight": 0.0}],
    "edges": [ONE | {"edges": kind} for kind in ("binary", "pmi")],
    "plain counts": [ONE | {"voting": "counts"}],
    "the paper, four times as long": [PAPER | {"n_epochs": 160}],
}


def read_lines() -> list[dict[str, Any]]:
    """Return what has been measured."""
    if not LINES.exists():
        return []
    return [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]


def render() -> None:
    """Write the tables of the method's page."""
    found: Runs = defaultdict(list)
    for line in read_lines():
        found[_setting(line["corpus"], line["parameters"])].append(line)
    appended = [line for lines in found.values() for line in lines if "first half" in line]
    put(PAGE, "ablations", _choices(found))
    put(PAGE, "placed", _placed(found))
    put(PAGE, "clusters", _clusters(found))
    put(PAGE, "neighbors", _neighbors(found))
    plot(found)
    runs = [line for line in latest(read_runs()) if line["status"] == DONE]
    put(PAGE, "append", _appended(appended, runs))
    put(PAGE, "papers", _beside_the_paper(runs))
    put(PAGE, "consistency", dxml_consistency.table(runs, CORPORA))
    put(PAGE, "times", _beside_others(runs))


def _choices(found: Runs) -> str:
    rows = ["| what | " + " | ".join(f"{name}: P@1, P@3, P@5" for name in CORPORA) + " |"]
    rows.append("|---" * (len(CORPORA) + 1) + "|")
    for what, variants in VARIANTS.items():
        for parameters in variants:
            lines = [found.get(_setting(name, parameters), []) for name in CORPORA]
            if not any(lines):
                continue
            cells = [
                " / ".join(_spread(some, which) for which in WHICH) if some else "–"
                for some in lines
            ]
            given = parameters.items() - (ONE | PAPER).items()
            text = ", ".join(f"{name}={value}" for name, value in sorted(given))
            title = f"{what}: `{text}`" if text else what
            rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _placed(found: Runs) -> str:
    """Return how good votes are of the neighbours of where rows are put, and ought to be."""
    rows = ["| P@1, P@3, P@5 | where the network puts rows | where their labels say |"]
    rows.append("|---|---|---|")
    for corpus, title, lines in _plain(found):
        put = " / ".join(_spread(lines, which) for which in WHICH)
        ought = " / ".join(_spread(lines, which, "placed by labels") for which in WHICH)
        rows.append(f"| {corpus}, {title} | {put} | {ought} |")
    return "\n".join(rows)


def _clusters(found: Runs) -> str:
    rows = ["| clusters searched | " + " | ".join(map(str, PROBES)) + " |"]
    rows.append("|---" * (len(PROBES) + 1) + "|")
    for corpus, title, lines in _plain(found):
        cells = [f"{value:.2f}" for value in _by_probes(lines)]
        rows.append(f"| {corpus}, {title}: P@1 | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _neighbors(found: Runs) -> str:
    rows = ["| rows that vote: P@1 / P@5 | " + " | ".join(map(str, NEIGHBORS)) + " |"]
    rows.append("|---" * (len(NEIGHBORS) + 1) + "|")
    for corpus, title, lines in _plain(found):
        cells = []
        for n in NEIGHBORS:
            means = (
                np.mean([line["neighbors"][str(n)][which] for line in lines])
                for which in ("P@1", "P@5")
            )
            cells.append(" / ".join(f"{mean:.2f}" for mean in means))
        rows.append(f"| {corpus}, {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _plain(found: Runs) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Give the runs without a change: corpus, title, lines."""
    for corpus in CORPORA:
        for title, parameters in (("one network", ONE), ("the paper", PAPER)):
            if lines := found.get(_setting(corpus, parameters)):
                yield corpus, title, lines


def _by_probes(lines: list[dict[str, Any]]) -> list[float]:
    return [float(np.mean([line["probes"][str(n)]["P@1"] for line in lines])) for n in PROBES]


def plot(found: Runs) -> None:
    """Draw the paper's Figure 2, and P@1 by the number of clusters searched."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "labelspace"
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(2, len(CORPORA), figsize=(8, 6), layout="constrained")
    for column, corpus in enumerate(CORPORA):
        above, below = panels[:, column]
        for title, parameters, color in (
            ("one network", ONE, "tab:blue"),
            ("the paper", PAPER, "tab:orange"),
        ):
            for name, change, style in (
                ("", {}, "o-"),
                (", linear", {"activation": "linear"}, "o--"),
            ):
                if lines := found.get(_setting(corpus, parameters | change)):
                    heights = [np.mean([line["test"][which] for line in lines]) for which in WHICH]
                    above.plot((1, 3, 5), heights, style, color=color, label=title + name)
            if lines := found.get(_setting(corpus, parameters)):
                below.plot(PROBES, _by_probes(lines), "o-", color=color)
        above.set(title=corpus, xlabel="k", ylabel="P@k", xticks=(1, 3, 5))
        below.set(xlabel="clusters searched", ylabel="P@1", xscale="log")
        below.set_xticks(PROBES, map(str, PROBES), minor=False)
        below.minorticks_off()
        for panel in (above, below):
            panel.grid(alpha=0.25)
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(PLOT, metadata={"Date": None})
    plt.close(figure)


def _appended(lines: list[dict[str, Any]], runs: list[dict[str, Any]]) -> str:
    rows = ["| corpus | learned | P@1 | P@3 | P@5 | CPU s |", "|---|---|--:|--:|--:|--:|"]
    for line in lines:
        head = line["corpus"]
        for name in ("first half", "second half on top", "all at once"):
            one = line.get(name) or next(
                run["metrics"] | {"cpu_s": run["train_cpu_s"]}
                for run in runs
                if (run["corpus"], run["method"], run["split"]) == (line["corpus"], "dxml", "given")
                and not run["parameters"]
            )
            cells = " | ".join(f"{one[which]:.2f}" for which in WHICH)
            rows.append(f"| {head} | {name} | {cells} | {one['cpu_s']:.0f} |")
            head = ""
    return "\n".join(rows)


def _beside_the_paper(runs: list[dict[str, Any]]) -> str:
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
                body.append([f"{title}{splits}", *(_mean(lines, name) for name in TABLES)])
    return markdown(["ten random splits", *TABLES], body)


def _beside_others(runs: list[dict[str, Any]]) -> str:
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


def _mean(lines: list[dict[str, float]], name: str) -> str:
    values = [line[name] for line in lines]
    return (
        f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"
        if len(values) > 1
        else (f"{values[0]:.2f}")
    )


def _spread(lines: list[dict[str, Any]], which: str, part: str = "test") -> str:
    values = np.array([line[part][which] for line in lines])
    return f"{values.mean():.2f} ± {values.std():.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def _setting(corpus: str, parameters: dict[str, Any]) -> str:
    return f"{corpus} {json.dumps(parameters, sort_keys=True)}"


def key(line: dict[str, Any]) -> str:
    return f"{_setting(line['corpus'], line['parameters'])} {line['seed']}"
