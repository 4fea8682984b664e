"""Tables and plot of the page of label trees, from the lines of ``label_trees`` and ``run``."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import corpora, results
from benchmarks.ablations.label_trees import BEAMS, CORPORA, N_ROWS, SINGLE, SYSTEMS

PAGE = corpora.ROOT / "docs" / "methods" / "label-trees.md"
MARKS = "<!-- measured -->\n", "<!-- end -->\n"
PLOT = corpora.ROOT / "docs" / "assets" / "label-trees.svg"
MOST_SHOWN = 20  # points of P@1 below the best that the plot shows
OURS = ("label-tree", "label-embedding", "label-embedding-tree", "balanced-label-tree")
BESIDE = ("one-vs-all", "omikuji-parabel", "omikuji-bonsai", "napkinxc-plt", "pecos-xr-linear")
"""Methods as they come, and what they are compared with: all but the first are trees, too."""


def render(lines: list[dict[str, Any]]) -> None:
    """Write the tables into the page, between its two marks, and draw the plot."""
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    tables = (
        f"\n{beside_peers()}\n\nEach system, one tree each:\n\n{table(lines)}\n\n"
        f"The three limits, along the best child:\n\n{limits(lines)}\n\n"
    )
    PAGE.write_text(before + MARKS[0] + tables + MARKS[1] + after, encoding="utf-8")
    plot(lines)


def beside_peers() -> str:
    """Return the four methods with their defaults and others that have trees, on the test rows."""
    lines = [
        line
        for line in results.latest(results.read_lines())
        if line["split"] == "given"
        and line["seed"] == 0
        and line["status"] == results.DONE
        and not line["parameters"]
    ]
    rows = [
        "| corpus | system | P@1 | P@3 | P@5 | ms | training, CPU s | model, MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for corpus in corpora.BY_SIZE:
        by_name = {line["method"]: line for line in lines if line["corpus"] == corpus}
        if not by_name.keys() & set(OURS):
            continue
        for name in (*OURS, *BESIDE):
            if name in by_name:
                line = by_name[name]
                cells = [f"{line['metrics'][figure]:.2f}" for figure in ("P@1", "P@3", "P@5")]
                cells += [f"{line['batch_cpu_ms']:.3f}", f"{line['train_cpu_s']:.1f}"]
                cells.append(f"{line['model_mib'] * 1.048576:.1f}")
                rows.append(f"| {corpus} | {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def table(lines: list[dict[str, Any]]) -> str:
    """Return the tables as Markdown, means over seeds; a dash where nothing was measured."""
    parts = []
    for corpus in CORPORA:
        here = [one for one in lines if one["corpus"] == corpus]
        if all(one["system"] == "one-vs-all" for one in here):
            continue
        figure = "P@1" if corpus in SINGLE else "P@1 / P@3 / P@5"
        rows = [
            f"**{corpus}**, {here[0]['n_labels']:,} labels{_rows(corpus)}",
            "",
            f"| system | best child: {figure} | cost, speed-up | beam of ten: {figure} "
            "| cost, speed-up | ms | training, CPU s |",
            "|---|---|---|---|---|---|---|",
        ]
        for system in SYSTEMS:
            first, last = (_mean(here, system, beam) for beam in BEAMS)
            only = _mean(here, system, None)
            if only:
                cells = ["–", "–", _precision(only, corpus), _cost(only)]
                last = only
            elif first and last:
                cells = [_precision(first, corpus), _cost(first)]
                cells += [_precision(last, corpus), _cost(last)]
            else:
                continue
            cells += [f"{last['cpu_ms']:.3f}", f"{last['train_cpu_s']:.1f}"]
            rows.append(f"| {system} | " + " | ".join(cells) + " |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


LIMITS = (
    "tree from confusions",
    "relaxation 2, a slack per child",
    "tree as clusters come",
    "balanced tree, ambiguity 1",
    "balanced tree, ambiguity 1.5",
    "balanced tree, ambiguity 2",
    "balanced tree, ambiguity 3",
)
"""Systems that say something of the three limits: one-vs-all first, no overlap, no balance."""


def limits(lines: list[dict[str, Any]]) -> str:
    """Return a table of what the three limits of label trees cost, along the best child."""
    rows = [
        "| corpus | system | leaves of a label | largest child | depth | P@1 | cost "
        "| training, CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    shapes = ("copies", "largest_child", "depth")
    for corpus in CORPORA:
        for system in LIMITS:
            here = [one for one in lines if one["corpus"] == corpus]
            found = _mean(here, system, BEAMS[0], shapes)
            if found:
                cells = [f"{found['copies']:.2f}", f"{found['largest_child']:.2f}"]
                cells += [f"{found['depth']:.0f}", f"{found['P@1']:.2f}", f"{found['cost']:,.0f}"]
                cells.append(f"{found['train_cpu_s']:.1f}")
                rows.append(f"| {corpus} | {system} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _mean(
    lines: list[dict[str, Any]], system: str, beam: int | None, more: tuple[str, ...] = ()
) -> dict[str, float]:
    found = [one for one in lines if one["system"] == system and one["beam"] == beam]
    if not found:
        return {}
    names = ("P@1", "P@3", "P@5", "n_labels", "cost", "train_cpu_s", "cpu_ms", *more)
    return {name: float(np.mean([one[name] for one in found])) for name in names}


def _precision(line: dict[str, float], corpus: str) -> str:
    names = ("P@1",) if corpus in SINGLE else ("P@1", "P@3", "P@5")
    return " / ".join(f"{line[name]:.2f}" for name in names)


def _cost(line: dict[str, float]) -> str:
    return f"{line['cost']:,.0f}, {line['n_labels'] / line['cost']:.3g}×"


def _rows(corpus: str) -> str:
    if corpus not in N_ROWS:
        return ""
    n_train, n_test = N_ROWS[corpus]
    return f" in {n_train:,} training rows, {n_test:,} test rows"


def plot(lines: list[dict[str, Any]]) -> None:
    """Draw P@1 against cost, a panel for each corpus."""
    from matplotlib import pyplot as plt

    shown = [
        corpus
        for corpus in CORPORA
        if any(one["corpus"] == corpus and one["system"] != "one-vs-all" for one in lines)
    ]
    figure, panels = plt.subplots(2, 4, figsize=(15, 7.5), layout="constrained")
    for panel, corpus in zip(panels.ravel(), shown, strict=False):
        here = [one for one in lines if one["corpus"] == corpus]
        for number, system in enumerate(SYSTEMS):
            points = [_mean(here, system, beam) for beam in (*BEAMS, None)]
            points = [point for point in points if point]
            panel.plot(
                [point["cost"] for point in points],
                [point["P@1"] for point in points],
                marker="os^Dvp*"[number % 7],
                color=plt.cm.tab20(number % 20),
                label=system,
            )
        best = max(one["P@1"] for one in here)
        panel.set_ylim(bottom=max(panel.get_ylim()[0], best - MOST_SHOWN))
        panel.set(title=corpus, xscale="log", xlabel="inner products per answer", ylabel="P@1")
    for panel in panels.ravel()[len(shown) :]:
        panel.axis("off")
    handles, names = panels.ravel()[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    figure.savefig(PLOT, metadata={"Date": None})
