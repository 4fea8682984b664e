"""Tables and plot of the page of label trees, from the study's lines and the benchmarks'."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import results
from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.plots import svg_pyplot
from benchmarks.render.presets import since
from benchmarks.render.tables import markdown
from benchmarks.studies.label_trees.changes import (
    CHANGES,
    MOST_COMMON,
    OBJECTIVE,
    PAPER,
    PASSES,
    REPAIRED,
    SEQUENCES,
)
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.tables import NOT_MEASURED, of_variants, precisions

PAGE = ROOT / "docs" / "methods" / "label-trees.md"
FEWEST_ROWS = {"wordnet-parent": 5, "wordnet-parent-50": 50}
"""Rows that a class has to have."""
SINGLE = ("digits", *FEWEST_ROWS)
CORPORA = (
    "digits",
    "wordnet-parent-50",
    "bibtex",
    "delicious",
    "wordnet-parent",
    "wordnet",
    "eurlex57k",
)
N_LABELS = {"bibtex": 159, "delicious": 983}
"""Corpora whose one-vs-all is that of the common benchmarks."""
N_ROWS = {"wordnet": (8000, 2000), "eurlex57k": (8000, 2000)}
"""Training and test rows that are drawn, where all would take too long."""
BEAMS = (1, 10)

SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "one-vs-all": ("one-vs-all", {}),
    "random tree": ("label-tree", {"affinity": "random"}),
    "relaxation 1": ("label-tree", {"affinity": "centroid", "relaxation": 1}),
    "relaxation 2, a slack per row": ("label-tree", {"affinity": "centroid", "slack": "row"}),
    "relaxation 2, a slack per child": ("label-tree", {"affinity": "centroid", "slack": "node"}),
    "tree from confusions": ("label-tree", {"affinity": "confusion"}),
    "tree as clusters come": ("label-tree", {"affinity": "centroid", "balance": 0.0}),
    "embedding": ("label-embedding", {}),
    "embedding, in sequence as printed": (
        "label-embedding",
        {"learning": "sequence", "n_epochs": 30},
    ),
    "embedding tree": ("label-embedding-tree", {"affinity": "centroid"}),
    "embedding tree, 300 dimensions": (
        "label-embedding-tree",
        {"affinity": "centroid", "dim": 300},
    ),
    "balanced tree, ambiguity 1": ("balanced-label-tree", {"ambiguity": 1.0}),
    "balanced tree, ambiguity 1.5": ("balanced-label-tree", {"ambiguity": 1.5}),
    "balanced tree, ambiguity 2": ("balanced-label-tree", {"ambiguity": 2.0}),
    "balanced tree, ambiguity 3": ("balanced-label-tree", {"ambiguity": 3.0}),
}
MOST_SHOWN = 20  # points of P@1 below the best that the plot shows
OURS = ("label-tree", "label-embedding", "label-embedding-tree", "balanced-label-tree")
FIRST = ("as printed", "repaired", "default")
FIRST_BESIDE = ("one-vs-all", "most-common")
"""What there is without a tree or an embedding, and without learning."""
BESIDE = ("one-vs-all", "omikuji-parabel", "omikuji-bonsai", "napkinxc-plt", "pecos-xr-linear")
"""Methods as they come, and what they are compared with: all but the first are trees, too."""


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


ROW_PER_LABEL = "a row for each label"
READINGS = ("the worst pair of a row", ROW_PER_LABEL)
"""What one label to a row may mean for rows that have several."""
READ = "bibtex"
"""The corpus of which training rows are held out to choose a reading."""


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    others = {
        "first": _first(select(lines, part="changes")),
        "changes": _changes(select(lines, part="changes")),
        "readings": _readings(select(lines, part="readings")),
        "sequence": _sequence(select(lines, part="sequence")),
        "objective": _objective(select(lines, part="objective")),
    }
    lines = _with_one_vs_all(select(lines, part="systems"))
    text = (
        f"{_beside_peers()}\n\nEach system, one tree each:\n\n{_systems(lines)}\n\n"
        f"The three limits, along the best child:\n\n{_limits(lines)}"
    )
    return {**others, "measured": text}


def _first(lines: list[Measured]) -> str:
    """Return P@1/3/5 as printed, repaired and as it comes, on the files as given."""
    done = [line for line in results.latest(results.read_lines()) if line["status"] == results.DONE]
    head = ["given files", *(f"{corpus}, {title}" for corpus in N_LABELS for title in FIRST)]
    rows = []
    for method in (*OURS, *FIRST_BESIDE):
        cells = []
        for corpus in N_LABELS:
            what = {"method": method, "corpus": corpus, "split": "given", "seed": 0}
            for told in (PAPER, REPAIRED, {}):
                asked = {**what, "parameters": told}
                runs = [line for line in done if asked.items() <= line.items()]
                runs = [line for line in runs if line["date"] >= since(method, told, corpus)]
                found = select(lines, corpus=corpus, parameters={"name": method, **told})
                figures = found[-1].figures if found else runs[-1]["metrics"] if runs else None
                cells.append(precisions(figures) if figures else NOT_MEASURED)
        rows.append([f"`{method}`", *cells])
    return markdown(head, rows, numbers=False)


def _changes(lines: list[Measured]) -> str:
    """Return P@1/3/5 with each change by itself and with several."""
    rows = []
    for method, changes in CHANGES.items():
        for change, told in changes.items():
            asked = {"name": method, **told}
            found = [select(lines, corpus=corpus, parameters=asked) for corpus in N_LABELS]
            cells = [precisions(one[-1].figures) if one else NOT_MEASURED for one in found]
            rows.append([f"`{method}`, {change}", *cells])
    return of_variants(["P@1/3/5, given files", *N_LABELS], rows)


def _sequence(lines: list[Measured]) -> str:
    """Return objectives and P@1/3/5 of the sequence, as printed and changed."""
    head = ["a fifth of the training rows, held out"]
    for corpus in N_LABELS:
        head += [f"{corpus}: objective, at W = 0", f"{corpus}: P@1/3/5"]
    rows = []
    for method in ("label-embedding", "label-embedding-tree"):
        for variant, told in SEQUENCES.items():
            name = {} if variant == MOST_COMMON else {"name": method}
            cells = []
            for corpus in N_LABELS:
                asked = {"variant": variant, "parameters": {**name, **told}}
                found = select(lines, corpus=corpus, **asked)
                figures = found[-1].figures if found else {}
                there = "objective" in figures
                both = [figures[one] for one in ("objective", "objective_at_zero") if there]
                cells.append(", ".join(f"{one:.3f}" for one in both) or NOT_MEASURED)
                cells.append(precisions(figures) if figures else NOT_MEASURED)
            if name or method == "label-embedding":
                rows.append([f"`{method}`, {variant}" if name else variant, *cells])
    return of_variants(head, rows)


def _objective(lines: list[Measured]) -> str:
    """Return what the solver of relaxation 2 ends at, beside weights of zero."""
    rows = []
    for corpus in N_LABELS:
        cells = []
        for passes, n_passes in PASSES.items():
            asked = {"variant": passes, "parameters": {**OBJECTIVE, "max_iter": n_passes}}
            found = select(lines, corpus=corpus, **asked)
            cells.append(f"{found[-1].figures['objective']:.1f}" if found else NOT_MEASURED)
        here = select(lines, corpus=corpus)
        cells.append(f"{here[-1].figures['objective_at_zero']:.1f}" if here else NOT_MEASURED)
        rows.append([corpus, *cells])
    return of_variants(["3,000 training rows", *PASSES, "weights of zero"], rows)


def _readings(lines: list[Measured]) -> str:
    """Return P@1/3/5 of each method as printed, by what it makes of rows with several labels."""
    rows = []
    for method in OURS:
        cells = []
        for reading in READINGS:
            parameters = {"name": method, "preset": "paper"}
            found = select(lines, corpus=READ, variant=reading, parameters=parameters)
            cells.append(precisions(found[0].figures) if found else NOT_MEASURED)
        rows.append([method, *cells])
    return markdown(["P@1/3/5", *READINGS], rows, numbers=False)


def _with_one_vs_all(lines: list[Measured]) -> list[Measured]:
    """Return the lines behind those of one-vs-all that were measured for all methods."""
    asked = {"method": "one-vs-all", "split": "given", "status": results.DONE, "parameters": {}}
    found = []
    for line in results.latest(results.read_lines()):
        if line["corpus"] in N_LABELS and asked.items() <= line.items():
            n_labels = N_LABELS[line["corpus"]]
            figures = {name: line["metrics"][name] for name in ("P@1", "P@3", "P@5")}
            figures |= {"n_labels": n_labels, "cost": n_labels}
            figures |= {"train_cpu_s": line["train_cpu_s"], "cpu_ms": line["batch_cpu_ms"]}
            found.append(
                Measured("systems", line["corpus"], "one-vs-all", {}, line["seed"], figures)
            )
    return found + lines


def _beside_peers() -> str:
    """Return the four methods with their defaults and others that have trees, on the test rows."""
    lines = [
        line
        for line in results.latest(results.read_lines())
        if line["split"] == "given"
        and line["seed"] == 0
        and line["status"] == results.DONE
        and not line["parameters"]
    ]
    head = ["corpus", "system", "P@1", "P@3", "P@5", "ms", "training, CPU s", "model, MB"]
    rows = []
    for corpus in BY_SIZE:
        by_name = {line["method"]: line for line in lines if line["corpus"] == corpus}
        if not by_name.keys() & set(OURS):
            continue
        for name in (*OURS, *BESIDE):
            if name in by_name:
                line = by_name[name]
                cells = [f"{line['metrics'][figure]:.2f}" for figure in ("P@1", "P@3", "P@5")]
                cells += [f"{line['batch_cpu_ms']:.3f}", f"{line['train_cpu_s']:.1f}"]
                cells.append(f"{line['model_mib'] * 1.048576:.1f}")
                rows.append([corpus, name, *cells])
    return markdown(head, rows, numbers=False)


def _systems(lines: list[Measured]) -> str:
    """Return a table for each corpus, means over seeds."""
    parts = []
    for corpus in CORPORA:
        here = select(lines, corpus=corpus)
        if all(one.variant == "one-vs-all" for one in here):
            continue
        figure = "P@1" if corpus in SINGLE else "P@1 / P@3 / P@5"
        head = ["system", f"best child: {figure}", "cost, speed-up", f"beam of ten: {figure}"]
        rows = []
        for system in SYSTEMS:
            first, last = (_mean(here, system, beam) for beam in BEAMS)
            only = _mean(here, system, None)
            if only:
                cells = [NOT_MEASURED, NOT_MEASURED, _precision(only, corpus), _cost(only)]
                last = only
            elif first and last:
                cells = [_precision(first, corpus), _cost(first)]
                cells += [_precision(last, corpus), _cost(last)]
            else:
                continue
            rows.append([system, *cells, f"{last['cpu_ms']:.3f}", f"{last['train_cpu_s']:.1f}"])
        table = markdown([*head, "cost, speed-up", "ms", "training, CPU s"], rows, numbers=False)
        parts.append(
            f"**{corpus}**, {here[0].figures['n_labels']:,} labels{_rows(corpus)}\n\n{table}"
        )
    return "\n\n".join(parts)


def _limits(lines: list[Measured]) -> str:
    """Return a table of what the three limits of label trees cost, along the best child."""
    head = ["corpus", "system", "leaves of a label", "largest child", "depth", "P@1", "cost"]
    shapes = ("copies", "largest_child", "depth")
    rows = []
    for corpus in CORPORA:
        for system in LIMITS:
            found = _mean(select(lines, corpus=corpus), system, BEAMS[0], shapes)
            if found:
                cells = [f"{found['copies']:.2f}", f"{found['largest_child']:.2f}"]
                cells += [f"{found['depth']:.0f}", f"{found['P@1']:.2f}", f"{found['cost']:,.0f}"]
                rows.append([corpus, system, *cells, f"{found['train_cpu_s']:.1f}"])
    return markdown([*head, "training, CPU s"], rows, numbers=False)


def _mean(
    lines: list[Measured], system: str, beam: int | None, more: tuple[str, ...] = ()
) -> dict[str, float]:
    found = [
        one.figures for one in select(lines, variant=system) if one.parameters.get("beam") == beam
    ]
    if not found:
        return {}
    names = ("P@1", "P@3", "P@5", "n_labels", "cost", "train_cpu_s", "cpu_ms", *more)
    return {name: float(np.mean([one[name] for one in found])) for name in names}


def _precision(line: Mapping[str, float], corpus: str) -> str:
    return f"{line['P@1']:.2f}" if corpus in SINGLE else precisions(line, 2, " / ")


def _cost(line: Mapping[str, float]) -> str:
    return f"{line['cost']:,.0f}, {line['n_labels'] / line['cost']:.3g}×"


def _rows(corpus: str) -> str:
    if corpus not in N_ROWS:
        return ""
    n_train, n_test = N_ROWS[corpus]
    return f" in {n_train:,} training rows, {n_test:,} test rows"


def draw(lines: list[Measured], folder: Path) -> None:
    """Draw P@1 against cost, a panel for each corpus."""
    plt = svg_pyplot()
    lines = _with_one_vs_all(select(lines, part="systems"))
    shown = [
        corpus
        for corpus in CORPORA
        if any(one.variant != "one-vs-all" for one in select(lines, corpus=corpus))
    ]
    figure, panels = plt.subplots(2, 4, figsize=(15, 7.5), layout="constrained")
    for panel, corpus in zip(panels.ravel(), shown, strict=False):
        here = select(lines, corpus=corpus)
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
        best = max(one.figures["P@1"] for one in here)
        panel.set_ylim(bottom=max(panel.get_ylim()[0], best - MOST_SHOWN))
        panel.set(title=corpus, xscale="log", xlabel="inner products per answer", ylabel="P@1")
    for panel in panels.ravel()[len(shown) :]:
        panel.axis("off")
    handles, names = panels.ravel()[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4)
    figure.savefig(folder / "label-trees.svg", metadata={"Date": None})
    plt.close(figure)
