"""Tables and plots of the page of Hyperbolic; a dash is what was not measured."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.plots import svg_pyplot
from benchmarks.render.presets import SINCE
from benchmarks.render.tables import markdown
from benchmarks.results import Line, read_lines
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.study import Figures
from benchmarks.studies.tables import NOT_MEASURED, mean_figures, of_variants, precisions, spread
from labelspace import plots
from labelspace.models.hyperbolic.metric_index import SPACES
from labelspace.spaces import poincare

PAGE = ROOT / "docs" / "methods" / "hyperbolic.md"
CORPORA = ("wordnet", "delicious")
N_ROWS = 2000
"""Rows of a sample that are learned from."""
DIMS = (5, 10, 25, 50)
LEARNERS = (1, 3, 6, 9, 12, 15)
ANSWERS = ("both", "rows", "labels")
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "most frequent labels": ("most-common", {}),
    "Hyperbolic": ("hyperbolic", {}),
    "Hyperbolic, 15 learners": ("hyperbolic", {"n_learners": 15}),
    "AnnexML": ("annexml", {}),
    "one-vs-all": ("one-vs-all", {}),
    "omikuji's Parabel": ("omikuji-parabel", {}),
    "PECOS XR-Linear": ("pecos-xr-linear", {}),
}
NAMES = {"poincare": "ball", "sphere": "sphere", "euclidean": "euclidean"}
PAPER_LEARNERS = {
    1: "83.9/70.1/59.7",
    3: "85.3/72.3/61.6",
    6: "85.7/72.6/62.1",
    9: "85.6/72.8/62.4",
    12: "85.5/73.0/62.5",
    15: "85.6/72.9/62.4",
}
"""The publication's table 5, wiki10."""
PAPER = {
    (5, 1): "78.9/54.1/43.1, 77.0/53.5/42.5",
    (5, 3): "81.3/60.0/50.0, 81.1/59.2/48.7",
    (5, 6): "81.1/61.5/52.0, 81.3/60.3/50.4",
    (5, 9): "81.2/61.8/52.6, 81.2/60.6/50.7",
    (5, 12): "81.2/61.8/53.0, 81.2/60.6/50.9",
    (5, 15): "81.2/61.6/53.1, 81.2/60.6/50.9",
    (10, 1): "81.5/61.6/50.9, 79.1/61.4/50.4",
    (10, 3): "82.8/66.5/56.0, 83.0/66.2/55.0",
    (10, 6): "82.6/67.4/57.5, 83.2/67.3/56.9",
    (10, 9): "82.6/67.6/57.7, 83.1/67.5/57.4",
    (10, 12): "82.5/67.4/57.7, 83.1/67.4/57.6",
    (10, 15): "82.6/67.6/58.0, 83.1/67.5/57.5",
    (25, 1): "82.9/67.7/57.1, 82.5/67.8/57.5",
    (25, 3): "84.8/70.1/59.7, 84.8/71.0/60.5",
    (25, 6): "84.6/71.0/60.3, 85.6/71.7/61.5",
    (25, 9): "84.5/71.0/60.5, 85.5/77.9/61.7",
    (25, 12): "84.5/71.1/60.7, 85.8/71.9/61.7",
    (25, 15): "84.6/71.3/60.7, 85.8/72.0/67.9",
    **{(50, n): f"{figures}, –" for n, figures in PAPER_LEARNERS.items()},
}
"""The publication's table 4, wiki10: ball, and AnnexML's loss of rows; in 50 dimensions table 5,
which has the ball only. 77.9 and 67.9 are as printed."""


CHANGED_ON = ("bibtex", "delicious")
CHANGED: dict[str, dict[str, Any]] = {
    "the preset": {},
    "α = 6": {"alpha": 6.0},
    "α = 12": {"alpha": 12.0},
    "α = 25": {"alpha": 25.0},
    "α = 40": {"alpha": 40.0},
    "α = 90": {"alpha": 90.0},
    "α = 6 and steps of 0.0003": {"alpha": 6.0, "learning_rate": 0.0003},
    "steps of 0.0003": {"learning_rate": 0.0003},
    "steps of 0.003": {"learning_rate": 0.003},
    "steps of 0.01": {"learning_rate": 0.01},
    "32 labels drawn": {"n_negatives": 32},
    "512 labels drawn": {"n_negatives": 512},
    "and labels of the batch": {"batch_negatives": True},
    "the mean over labels": {"label_loss": "mean"},
    "rows as they are": {"normalize": False},
    "variances 0.001 and 0.0001": {"label_scale": 0.0316, "map_scale": 0.01},
    "rows with similar labels, weight 1": {"row_similarity": 1.0},
    "rows' factors on the map's steps": {"row_factor": "step"},
    "the same and steps of 0.003": {"row_factor": "step", "learning_rate": 0.003},
    "nothing held out, 100 passes": {"validation_fraction": 0.0},
}
"""What is changed of ``preset="paper"``."""
BACK: dict[str, dict[str, Any]] = {
    "the default": {},
    "rows clipped at the edge": {"way": "clip"},
    "the map starts at N(0, 1e-4)": {"map_scale": 1e-4},
    "labels start at N(0, 1e-3)": {"label_scale": 1e-3},
    "Adam, constant steps of 0.001, 100 passes": {
        "optimizer": "adam",
        "learning_rate": 0.001,
        "constant_steps": True,
        "n_epochs": 100,
        "patience": 25,
    },
    "α = 60": {"alpha": 60.0},
    "the sum over labels": {"label_loss": "sum"},
    "only labels that are drawn": {"batch_negatives": False},
    "rows vote, labels do not": {"answer": "rows"},
    "ten rows vote, each counts one": {"answer": "rows", "voting": "counts", "n_neighbors": 10},
    "euclidean space": {"space": "euclidean"},
}
"""What is changed of the default: to what ``preset="paper"`` has, but for the last."""
ALONE: dict[str, dict[str, Any]] = {
    "the default, three learners, only rows vote": {"answer": "rows"},
    "the default, three learners, only labels vote": {"answer": "labels"},
}
CHANGED_SEEDS = (0, 1, 2)
EDGE = 0.999
"""Norm above which a row is at the edge."""
FIRST_ON = (*CHANGED_ON, "wordnet")
FIRST: dict[str, tuple[str, dict[str, Any]]] = {
    'as printed, `preset="paper"`, 15 learners': ("hyperbolic", {"preset": "paper"}),
    "the same with three learners": ("hyperbolic", {"preset": "paper", "n_learners": 3}),
    "the default, three learners": ("hyperbolic", {}),
    "the same with 15 learners": ("hyperbolic", {"n_learners": 15}),
    "the default in euclidean space, three learners": ("hyperbolic", {"space": "euclidean"}),
    'AnnexML as printed, `preset="paper"`, 15 learners': ("annexml", {"preset": "paper"}),
    "AnnexML's default": ("annexml", {}),
}


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "first": _first(lines),
        "paper": _changed(lines, "paper", CHANGED),
        "passes": _passes(lines),
        "back": _changed(lines, "back", BACK),
        "results": _results(),
        "grid": "\n\n".join(_grid_of(lines, corpus) for corpus in CORPORA),
        "sizes": _sizes(lines),
        "full": _full(lines),
        "learners": _learners(lines),
        "answers": _answers(lines),
        "order": _order(lines),
        "norms": _norms(lines),
        "lists": _lists(lines),
        "search": _search(lines),
    }


def _first(lines: list[Measured]) -> str:
    runs = _given()
    rows = [
        [name, *(_of_run(runs, method, corpus, told) for corpus in FIRST_ON)]
        for name, (method, told) in FIRST.items()
    ]
    for at, (name, told) in enumerate(ALONE.items(), start=list(FIRST).index(_BEFORE_ALONE) + 1):
        rows.insert(at, [name, *(_of_alone(lines, corpus, told) for corpus in FIRST_ON)])
    missing = any(_NOT_RUN in row for row in rows)
    below = "\n\n[1] Not run yet." if missing else ""
    return _table(["given files, P@1/3/5", *FIRST_ON], rows) + below


_BEFORE_ALONE = "the same with 15 learners"
_NOT_RUN = f"{NOT_MEASURED} [1]"


def _of_run(runs: list[Line], method: str, corpus: str, told: dict[str, Any]) -> str:
    # Runs from before a preset was what it says do not count.
    since = SINCE[method] if "preset" in told else ""
    cell = _latest([run for run in runs if run["date"] >= since], method, corpus, told, 2)
    return _NOT_RUN if cell == NOT_MEASURED else cell


def _of_alone(lines: list[Measured], corpus: str, told: dict[str, Any]) -> str:
    found = select(lines, part="alone", corpus=corpus, parameters=told)
    return precisions(found[-1].figures, 2) if found else _NOT_RUN


def _passes(lines: list[Measured]) -> str:
    """Return how long learning took, for what was trained since passes are counted."""
    rows = []
    for name, told in CHANGED.items():
        cells = []
        for corpus in CHANGED_ON:
            found = select(lines, part="paper", corpus=corpus, parameters=told)
            counted = [line.figures for line in found if "passes" in line.figures]
            for figure in ("passes", "best_pass"):
                made = sorted({one[figure] for one in counted} - {0})
                ends = (str(made[0]), str(made[-1])) if made else (NOT_MEASURED,)
                cells.append(" to ".join(dict.fromkeys(ends)))
        rows.append([name, *cells])
    head = [title for corpus in CHANGED_ON for title in (f"{corpus}, passes", "best after")]
    return of_variants(["changed", *head], rows)


def _sizes(lines: list[Measured]) -> str:
    rows = []
    for dim in DIMS:
        for n in LEARNERS:
            cells = []
            for corpus in CORPORA:
                what = {"preset": "paper", "dim": dim}
                found = select(lines, part="sizes", corpus=corpus, parameters=what)
                groups = found[-1].figures["found"].get(str(n)) if found else None
                cells.append(_spread(groups) if groups else NOT_MEASURED)
            if set(cells) != {NOT_MEASURED}:
                rows.append([f"{dim}, {n}", *cells, PAPER[dim, n]])
    head = ["dimension, learners", *CORPORA, "paper, wiki10: ball, AnnexML's loss"]
    return _table(head, rows)


def _lists(lines: list[Measured]) -> str:
    rows = []
    for line in select(lines, part="lists"):
        whole, *few = line.figures["found"]
        for one in (*few, whole):
            lost = max(whole[f"P@{k}"] - one[f"P@{k}"] for k in (1, 3, 5))
            looked = f"{one['n_probes']} of {line.figures['n_lists']}"
            rows.append([looked, precisions(one, 2), f"{lost:.2f}", f"{one['ms']:.2f}"])
    return _table(["lists looked into", "P@1/3/5", "most lost", "CPU ms a row"], rows)


def _changed(lines: list[Measured], part: str, changes: dict[str, dict[str, Any]]) -> str:
    rows = []
    for name, changed in changes.items():
        cells = []
        for corpus in CHANGED_ON:
            found = select(lines, part=part, corpus=corpus, parameters=changed)
            figures = [line.figures for line in found]
            cells += [_seeds(figures), _at_edge(figures)] if figures else [NOT_MEASURED] * 2
        rows.append([name, *cells])
    head = [title for corpus in CHANGED_ON for title in (f"{corpus}, P@1/3/5", "at the edge")]
    return _table(["changed", *head], rows)


def _seeds(figures: list[Figures]) -> str:
    return _spread([{f"P@{k}": one[f"P@{k}"] for k in (1, 3, 5)} for one in figures])


def _at_edge(figures: list[Figures]) -> str:
    shares = [one["at_edge"] for one in figures if "at_edge" in one]
    return f"{100 * np.mean(shares):.1f} %" if shares else NOT_MEASURED


def _results() -> str:
    lines = _given()
    rows = [
        [name, *(_latest(lines, method, corpus, parameters) for corpus in BY_SIZE)]
        for name, (method, parameters) in METHODS.items()
    ]
    return _table(["P@1/3/5", *BY_SIZE], rows)


def _given() -> list[Line]:
    """Return the finished runs on the files as given, of the seed that all methods have."""
    done = [one for one in read_lines() if one["status"] == "done"]
    return [one for one in done if one["split"] == "given" and one["seed"] == 0]


def _latest(
    lines: list[Line], method: str, corpus: str, parameters: dict[str, Any], digits: int = 1
) -> str:
    what = {"method": method, "corpus": corpus, "parameters": parameters}
    found = [one for one in lines if what.items() <= one.items()]
    return precisions(found[-1]["metrics"], digits) if found else NOT_MEASURED


def _grid_of(lines: list[Measured], corpus: str) -> str:
    rows = []
    for dim in DIMS:
        for n in (1, 3, 6, 15):
            cells = [_cell(lines, corpus, space, dim, n) for space in SPACES]
            if set(cells) != {NOT_MEASURED}:
                rows.append([f"{dim}, {n}", *cells, PAPER.get((dim, n), NOT_MEASURED)])
    head = [
        f"{corpus}: dimension, learners",
        *NAMES.values(),
        "paper, wiki10: ball, AnnexML's loss",
    ]
    return _table(head, rows)


def _full(lines: list[Measured]) -> str:
    rows = []
    for corpus in CORPORA:
        for dim in (5, 10):
            for n in (1, 3):
                cells = [_cell(lines, corpus, space, dim, n, "full") for space in SPACES]
                if set(cells) != {NOT_MEASURED}:
                    rows.append([f"{corpus}: {dim}, {n}", *cells])
    return _table(["all rows: dimension, learners", *NAMES.values()], rows)


def _cell(
    lines: list[Measured], corpus: str, space: str, dim: int, n: int, part: str = "grid"
) -> str:
    line = _trained(lines, corpus, space, dim, part)
    found = line.figures["found"]["both"].get(str(n)) if line else None
    return _spread(found["groups"]) if found else NOT_MEASURED


def _trained(
    lines: list[Measured], corpus: str, space: str, dim: int, part: str = "grid"
) -> Measured | None:
    """Return the model with the step size that rows to choose by like best."""
    what = {"space": space, "dim": dim}
    return max(
        (
            line
            for line in select(lines, part=part, corpus=corpus)
            if what.items() <= line.parameters.items()
        ),
        key=_chosen_by,
        default=None,
    )


def _chosen_by(line: Measured) -> float:
    together = line.figures["found"]["both"][str(line.figures["n_learners"])]
    return float(together["chosen_by"])


def _learners(lines: list[Measured]) -> str:
    whole = select(lines, part="learners")
    rows = []
    for n in LEARNERS:
        few = [_cell(lines, corpus, "poincare", 5, n) for corpus in CORPORA]
        many = precisions(whole[0].figures["found"][str(n)]) if whole else NOT_MEASURED
        rows.append([str(n), many, *few, PAPER_LEARNERS[n]])
    head = [f"{N_ROWS:,} rows of {corpus}, 5" for corpus in CORPORA]
    return _table(["learners", "all of wordnet, 50 dimensions", *head, "paper, wiki10, 50"], rows)


def _answers(lines: list[Measured]) -> str:
    rows = []
    for answer in ANSWERS:
        for dim in (5, 50):
            cells = []
            for corpus in CORPORA:
                line = _trained(lines, corpus, "poincare", dim)
                found = line.figures["found"][answer]["3"]["groups"] if line else None
                cells.append(_spread(found) if found else NOT_MEASURED)
            if set(cells) != {NOT_MEASURED}:
                rows.append([f"{answer}, dimension {dim}, 3 learners", *cells, NOT_MEASURED])
    for line in select(lines, part="search"):
        for answer, figures in line.figures["answers"].items():
            title = f"{answer}, dimension 50, 1 learner"
            rows.append([title, NOT_MEASURED, NOT_MEASURED, precisions(figures)])
    return _table(["who votes", *CORPORA, "tibkat"], rows)


def _order(lines: list[Measured]) -> str:
    rows = []
    for dim in (2, 5, 10):
        for space in ("poincare", "euclidean"):
            found = select(lines, part="order", parameters={"space": space, "dim": dim})
            if found:
                figures = [line.figures for line in found]
                rows.append(
                    [
                        f"{NAMES[space]}, {dim}",
                        spread([one["rho"] for one in figures], 2),
                        spread([100 * one["ordered"] for one in figures], 1) + " %",
                        spread([one["map"] for one in figures], 3),
                    ]
                )
    head = ["space, dimension", "norm and frequency, ρ", "pairs in order", "MAP of edges"]
    return _table(head, rows)


def _norms(lines: list[Measured]) -> str:
    mapped = _mapped(lines)
    if mapped is None:
        return NOT_MEASURED
    counts = np.array(mapped["counts"])
    far = poincare.distance(np.array(mapped["places"]), np.zeros(2))
    bounds = [1, 2, 5, 10, 100, 1000, counts.max() + 1]
    rows = []
    for low, high in pairwise(bounds):
        some = (counts >= low) & (counts < high)
        if some.any():
            rows.append(
                [
                    f"{low:,}" if high == low + 1 else f"{low:,} to {high - 1:,}",
                    f"{some.sum():,}",
                    f"{np.median(far[some]):.2f}",
                    f"{np.quantile(far[some], 0.1):.2f} to {np.quantile(far[some], 0.9):.2f}",
                ]
            )
    head = ["rows of a label", "labels", "distance from the middle, median", "most of them"]
    return _table(head, rows)


def _search(lines: list[Measured]) -> str:
    rows = []
    for part, name in (("search", ""), ("together", ", 3 learners and labels")):
        for line in select(lines, part=part):
            rows += _searches(line.figures, name)
    head = ["search", "lists looked into", "P@1/3/5", "most lost", "CPU ms", "times as fast"]
    return _table(head, rows)


def _searches(line: Figures, name: str) -> list[list[str]]:
    exact = line["found"][0]
    rows = []
    for one in line["found"]:
        per_list = 3000 if one["search"] == "centroids" else line["n_rows"] ** 0.5
        rows.append(
            [
                one["search"] + name,
                "all" if one is exact else f"{one['n_probes']} of {line['n_rows'] / per_list:.0f}",
                precisions(one, 2),
                f"{max(exact[f'P@{k}'] - one[f'P@{k}'] for k in (1, 3, 5)):.2f}",
                f"{one['ms']:.3f}",
                f"{exact['ms'] / one['ms']:.1f}",
            ]
        )
    return rows


def draw(lines: list[Measured], folder: Path) -> None:
    """Draw the labels of wordnet in the disk, and their distances from the middle."""
    mapped = _mapped(lines)
    if mapped is None:
        return
    places, counts = np.array(mapped["places"]), np.array(mapped["counts"])
    plots.label_map(
        places,
        counts,
        [""] * len(counts),
        folder / "hyperbolic-map.png",
        disk=True,
        title=f"wordnet: {len(counts):,} labels of {mapped['n_rows']:,} rows",
    )
    plt = svg_pyplot()
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    far = poincare.distance(places, np.zeros(2))
    axes.scatter(counts, far, s=4, alpha=0.4, linewidths=0)
    axes.set_xscale("log")
    axes.set_xlabel("rows of the label")
    axes.set_ylabel("distance from the middle")
    axes.set_title(f"Spearman's ρ = {mapped['rho']:.2f}", fontsize="medium")
    figure.savefig(folder / "hyperbolic-norms.png", dpi=110)
    plt.close(figure)


def _mapped(lines: list[Measured]) -> Figures | None:
    """Return the figures of the ball whose places were kept."""
    found = select(lines, part="order", parameters={"space": "poincare", "dim": 2})
    return next((one.figures for one in found if "places" in one.figures), None)


def _table(head: list[str], rows: list[list[str]]) -> str:
    return markdown(head, rows, numbers=False)


def _spread(groups: list[dict[str, float]]) -> str:
    """Write P@1/3/5 as means over groups of learners, with their mean deviation."""
    means = precisions(mean_figures(groups))
    if len(groups) == 1:
        return means
    deviation = np.mean([np.std([one[name] for one in groups], ddof=1) for name in groups[0]])
    return f"{means} ± {deviation:.1f}"
