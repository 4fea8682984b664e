"""Tables and plots of the page of ``Hyperbolic``, from the lines that were kept.

Each table stands between ``<!-- hyperbolic: name -->`` and ``<!-- end -->`` on the page. A dash is
what was not measured.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.ablations import hyperbolic as studies
from benchmarks.corpora import ROOT
from benchmarks.results import read_lines
from labelspace import plots
from labelspace.models.hyperbolic.metric_index import SPACES
from labelspace.spaces import poincare

PAGE = ROOT / "docs" / "methods" / "hyperbolic.md"
ASSETS = ROOT / "docs" / "assets"
BLOCK = re.compile(r"(<!-- hyperbolic: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
CORPORA = ("bibtex", "delicious", "wordnet", "eurlex57k", "tibkat")
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
PAPER = {
    (5, 1): "78.9/54.1/43.1, 77.0/53.5/42.5",
    (5, 3): "81.3/60.0/50.0, 81.1/59.2/48.7",
    (5, 6): "81.1/61.5/52.0, 81.3/60.3/50.4",
    (5, 15): "81.2/61.6/53.1, 81.2/60.6/50.9",
    (10, 1): "81.5/61.6/50.9, 79.1/61.4/50.4",
    (10, 3): "82.8/66.5/56.0, 83.0/66.2/55.0",
    (10, 6): "82.6/67.4/57.5, 83.2/67.3/56.9",
    (10, 15): "82.6/67.6/58.0, 83.1/67.5/57.5",
    (25, 1): "82.9/67.7/57.1, 82.5/67.8/57.5",
    (25, 3): "84.8/70.1/59.7, 84.8/71.0/60.5",
    (25, 6): "84.6/71.0/60.3, 85.6/71.7/61.5",
}
"""The publication's table 4, wiki10: ball, and cosine."""
PAPER_LEARNERS = {
    1: "83.9/70.1/59.7",
    3: "85.3/72.3/61.6",
    6: "85.7/72.6/62.1",
    9: "85.6/72.8/62.4",
    12: "85.5/73.0/62.5",
    15: "85.6/72.9/62.4",
}
"""The publication's table 5, wiki10."""

Line = dict[str, Any]


def render(lines: list[Line]) -> None:
    """Fill the blocks of the page and draw its plots."""
    tables: dict[str, Callable[[list[Line]], str]] = {
        "results": _results,
        "grid": _grid,
        "full": _full,
        "learners": _learners,
        "answers": _answers,
        "order": _order,
        "norms": _norms,
        "search": _search,
    }
    PAGE.write_text(
        BLOCK.sub(
            lambda block: f"{block[1]}\n{tables[block[2]](lines)}\n\n{block[3]}", PAGE.read_text()
        )
    )
    _draw(lines)


def _results(_: list[Line]) -> str:
    lines = [one for one in read_lines() if one["status"] == "done" and one["split"] == "given"]
    rows = []
    for name, (method, parameters) in METHODS.items():
        cells = []
        for corpus in CORPORA:
            what = {"method": method, "corpus": corpus, "parameters": parameters}
            found = [one for one in lines if what.items() <= one.items()]
            cells.append(_figures(found[-1]["metrics"]) if found else "–")
        rows.append([name, *cells])
    return _table(["P@1/3/5", *CORPORA], rows)


def _grid(lines: list[Line]) -> str:
    return "\n\n".join(_grid_of(lines, corpus) for corpus in studies.CORPORA)


def _grid_of(lines: list[Line], corpus: str) -> str:
    rows = []
    for dim in studies.DIMS:
        for n in (1, 3, 6, 15):
            cells = [_cell(lines, corpus, space, dim, n) for space in SPACES]
            rows.append([f"{dim}, {n}", *cells, PAPER.get((dim, n), "–")])
    return _table(
        [f"{corpus}: dimension, learners", *NAMES.values(), "paper, wiki10: ball, cosine"],
        [row for row in rows if any(cell != "–" for cell in row[1:4])],
    )


def _full(lines: list[Line]) -> str:
    rows = []
    for corpus in studies.CORPORA:
        for dim in (5, 10):
            for n in (1, 3):
                cells = [_cell(lines, corpus, space, dim, n, "full") for space in SPACES]
                rows.append([f"{corpus}: {dim}, {n}", *cells])
    return _table(
        ["all rows: dimension, learners", *NAMES.values()],
        [row for row in rows if any(cell != "–" for cell in row[1:])],
    )


def _cell(lines: list[Line], corpus: str, space: str, dim: int, n: int, study: str = "grid") -> str:
    line = _trained(lines, corpus, space, dim, study)
    found = line["found"]["both"].get(str(n)) if line else None
    return _spread(found["groups"]) if found else "–"


def _trained(
    lines: list[Line], corpus: str, space: str, dim: int, study: str = "grid"
) -> Line | None:
    """Return the model with the step size that rows to choose by like best."""
    what = {"study": study, "corpus": corpus, "space": space, "dim": dim}
    return max(
        (line for line in lines if what.items() <= line.items()),
        key=lambda line: line["found"]["both"][str(line["n_learners"])]["chosen_by"],
        default=None,
    )


def _learners(lines: list[Line]) -> str:
    whole = _find(lines, study="learners")
    rows = []
    for n in studies.LEARNERS:
        few = [_cell(lines, corpus, "poincare", 5, n) for corpus in studies.CORPORA]
        many = _figures(whole["found"][str(n)]) if whole else "–"
        rows.append([str(n), many, *few, PAPER_LEARNERS[n]])
    head = [f"{studies.N_ROWS:,} rows of {corpus}, 5" for corpus in studies.CORPORA]
    return _table(["learners", "all of wordnet, 50 dimensions", *head, "paper, wiki10, 50"], rows)


def _answers(lines: list[Line]) -> str:
    rows = []
    for answer in studies.ANSWERS:
        for dim in (5, 50):
            cells = []
            for corpus in studies.CORPORA:
                line = _trained(lines, corpus, "poincare", dim)
                cells.append(_spread(line["found"][answer]["3"]["groups"]) if line else "–")
            rows.append([f"{answer}, dimension {dim}, 3 learners", *cells, "–"])
    for line in (one for one in lines if one["study"] == "search"):
        for answer, figures in line["answers"].items():
            rows.append([f"{answer}, dimension 50, 1 learner", "–", "–", _figures(figures)])
    measured = [row for row in rows if any(cell != "–" for cell in row[1:])]
    return _table(["who votes", *studies.CORPORA, "tibkat"], measured)


def _order(lines: list[Line]) -> str:
    rows = []
    for dim in (2, 5, 10):
        for space in ("poincare", "euclidean"):
            found = [
                one
                for one in lines
                if (one["study"], one.get("space"), one.get("dim")) == ("order", space, dim)
            ]
            if found:
                rows.append(
                    [
                        f"{NAMES[space]}, {dim}",
                        _mean([one["rho"] for one in found], 2),
                        _mean([100 * one["ordered"] for one in found], 1) + " %",
                        _mean([one["map"] for one in found], 3),
                    ]
                )
    head = ["space, dimension", "norm and frequency, ρ", "pairs in order", "MAP of edges"]
    return _table(head, rows)


def _norms(lines: list[Line]) -> str:
    line = _mapped(lines)
    if line is None:
        return "–"
    counts = np.array(line["counts"])
    far = poincare.distance(np.array(line["places"]), np.zeros(2))
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


def _search(lines: list[Line]) -> str:
    rows = []
    for study, name in (("search", ""), ("together", ", 3 learners and labels")):
        line = _find(lines, study=study)
        rows += _searches(line, name) if line else []
    head = ["search", "lists looked into", "P@1/3/5", "most lost", "CPU ms", "times as fast"]
    return _table(head, rows)


def _searches(line: Line, name: str) -> list[list[str]]:
    exact = line["found"][0]
    rows = []
    for one in line["found"]:
        per_list = 3000 if one["search"] == "centroids" else line["n_rows"] ** 0.5
        rows.append(
            [
                one["search"] + name,
                "all" if one is exact else f"{one['n_probes']} of {line['n_rows'] / per_list:.0f}",
                _figures(one, 2),
                f"{max(exact[f'P@{k}'] - one[f'P@{k}'] for k in (1, 3, 5)):.2f}",
                f"{one['ms']:.3f}",
                f"{exact['ms'] / one['ms']:.1f}",
            ]
        )
    return rows


def _draw(lines: list[Line]) -> None:
    line = _mapped(lines)
    if line is None:
        return
    from matplotlib import pyplot as plt

    places, counts = np.array(line["places"]), np.array(line["counts"])
    plots.label_map(
        places,
        counts,
        [""] * len(counts),
        ASSETS / "hyperbolic-map.png",
        disk=True,
        title=f"wordnet: {len(counts):,} labels of {line['n_rows']:,} rows",
    )
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    far = poincare.distance(places, np.zeros(2))
    axes.scatter(counts, far, s=4, alpha=0.4, linewidths=0)
    axes.set_xscale("log")
    axes.set_xlabel("rows of the label")
    axes.set_ylabel("distance from the middle")
    axes.set_title(f"Spearman's ρ = {line['rho']:.2f}", fontsize="medium")
    figure.savefig(ASSETS / "hyperbolic-norms.png", dpi=110)
    plt.close(figure)


def _mapped(lines: list[Line]) -> Line | None:
    return next((one for one in lines if "places" in one and one["space"] == "poincare"), None)


def _find(lines: list[Line], **what: Any) -> Line | None:
    return next((line for line in lines if what.items() <= line.items()), None)


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def _figures(figures: Line, digits: int = 1) -> str:
    return "/".join(f"{figures[f'P@{k}']:.{digits}f}" for k in (1, 3, 5))


def _spread(groups: list[dict[str, float]]) -> str:
    """Write P@1/3/5 as means over groups of learners, with their mean deviation."""
    means = _figures({name: np.mean([one[name] for one in groups]) for name in groups[0]})
    if len(groups) == 1:
        return means
    spread = np.mean([np.std([one[name] for one in groups], ddof=1) for name in groups[0]])
    return f"{means} ± {spread:.1f}"


def _mean(values: list[float], digits: int) -> str:
    text = f"{np.mean(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ± {np.std(values, ddof=1):.{digits}f}"
