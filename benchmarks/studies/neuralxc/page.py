"""Tables and pictures of NeuralXC's page, from the study's lines and those of the benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.plots import svg_pyplot
from benchmarks.results import DONE, latest, read_lines
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.tables import (
    NOT_MEASURED,
    of_variants,
    precisions,
    spread,
    titled,
)

PAGE = ROOT / "docs" / "methods" / "neuralxc.md"
KS = (1, 2, 3, 4, 5)

# Corpus: training rows.
PART_CORPORA = {"bibtex": None, "delicious": 4000}
PARTS: dict[str, list[dict[str, Any]]] = {
    "as it is": [{}],
    "reconstructions": [{"alpha": 0.0}, {"beta": 0.0}, {"alpha": 0.0, "beta": 0.0}],
    "linear map": [{"linear_dim": 0}, {"linear_dim": 512}],
    "α": [{"alpha": 0.1}, {"alpha": 10.0}],
    "β": [{"beta": 0.1}, {"beta": 10.0}],
    "dimension": [{"dim": dim, "label_dim": dim} for dim in (32, 64, 128, 512)],
    "sampling": [{"n_zeros": 64}, {"n_sampled": 64}, {"n_rebuilt": 256, "n_zeros": 2048}],
    "shown to encoders": [{"keep_features": 1.0}, {"keep_labels": 1.0}],
    "scores": [{"cosine": 0.0}],
    "network": [{"hidden": ()}, {"hidden": (512,)}, {"regressor_hidden": (256,)}],
}
SEVERAL_SEEDS = {"as it is": 3, "reconstructions": 3}
# What the default has there anyway.
NOTHING_NEW: dict[str, list[dict[str, Any]]] = {
    "bibtex": [{"linear_dim": 512}, {"hidden": ()}],
    "delicious": [{"linear_dim": 0}, {"hidden": (512,)}],
}

FIGURE_CORPORA = {"bibtex": None, "delicious": None, "eurlex57k": 5_000, "wordnet": 5_000}
FIGURE_METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "NeuralXC": ("neuralxc", {}),
    "NeuralXC, paper": ("neuralxc", {"preset": "paper"}),
    "NeuralXC, repaired": ("neuralxc", {"preset": "repaired"}),
    "one-vs-all": ("one-vs-all", {}),
    "knn": ("knn", {}),
    "random": ("random", {}),
}
MEASURED = {
    "NeuralXC": "neuralxc",
    "one-vs-all": "one-vs-all",
    "napkinXC, one-vs-all": "napkinxc-br",
    "PECOS XR-Linear": "pecos-xr-linear",
}
TEXTS: dict[str, dict[str, Any]] = {
    "words": {},
    "words, and vectors of texts": {"encoder": "multilingual"},
    "Word2Vec": {},
    "words, and Word2Vec": {},
}
WORD_VECTORS = ("Word2Vec", "words, and Word2Vec")
TEXT_ROWS = 4000
# Too slow, or of no use, at this size.
LEFT_OUT = {
    (f"NeuralXC, {preset}", corpus)
    for preset in ("paper", "repaired")
    for corpus in ("eurlex57k", "wordnet")
}

# What is between the report's program and what makes it learn; both ends are among the figures.
REPAIRS: dict[str, dict[str, Any]] = {
    "outputs that begin at log-odds": {"preset": "paper", "label_priors": True},
    "no L2 term": {"preset": "paper", "weight_decay": 0.0},
    "thirty passes, nothing else": {"preset": "paper", "n_epochs": 30},
}
# Thirty passes take long, and are tried on the corpus that ten do not learn.
REPAIR_CORPORA = {"bibtex": tuple(REPAIRS), "delicious": tuple(REPAIRS)[:-1]}
MAP_ALONE = "the linear map alone"
FIRST_CORPORA = ("bibtex", "delicious")
FIRST: dict[str, tuple[str, dict[str, Any]]] = {
    "most common labels": ("most-common", {}),
    'as printed, `preset="paper"`': ("neuralxc", {"preset": "paper"}),
    '`preset="repaired"`': ("neuralxc", {"preset": "repaired"}),
    "the default": ("neuralxc", {}),
}
"""Of the common benchmarks, on the files as given."""
FIRST_PARTS: dict[str, dict[str, Any]] = {
    "the default, but one network": {},
    "one network, without the linear map": {"linear_dim": 0},
    "one network, without the reconstructions": {"alpha": 0.0, "beta": 0.0},
}
"""Of the study, which has the given files of bibtex, and fewer rows of delicious."""

PICTURES = {"P": "3 and 4", "nDCG": "5 and 6"}
"""Measures that are drawn, and the report's figures of them."""


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    figures = select(lines, part="figures")
    links = []
    for name, numbers in PICTURES.items() if figures else ():
        links.append(f"![{name}@k on training and test rows](../assets/{_picture(name)})")
        links.append(f"*{name}@k, as in the report's figures {numbers}.*")
    return {
        "first": _first_table(lines),
        "repairs": _repair_table(figures, select(lines, part="repairs")),
        "measured": _measured_table(),
        "figures": "\n\n".join([_figure_table(figures), *links]),
        "parts": _part_table(select(lines, part="parts")),
        "texts": _text_table(select(lines, part="texts")),
    }


def _first_table(lines: list[Measured]) -> str:
    """Return what the figures come from: as printed, repaired, the default, its parts."""
    runs = [line for line in latest(read_lines()) if line["status"] == DONE and not line["seed"]]
    rows = []
    for title, (method, parameters) in FIRST.items():
        what = {"method": method, "split": "given", "parameters": parameters}
        own = {line["corpus"]: line["metrics"] for line in runs if what.items() <= line.items()}
        rows.append([title, *(_three(own.get(corpus)) for corpus in FIRST_CORPORA)])
    for title, parameters in FIRST_PARTS.items():
        found = select(lines, part="parts", corpus="bibtex", parameters=parameters)
        seeds = f", {len(found)} seeds" if len(found) > 1 else ""
        rows.append([title + seeds, _three_of_seeds(found), NOT_MEASURED])
    alone = {line.corpus: line.figures["test"] for line in select(lines, part="map")}
    rows.append([MAP_ALONE, *(_three(alone.get(corpus)) for corpus in FIRST_CORPORA)])
    return of_variants(["given files, P@1 / P@3 / P@5", *FIRST_CORPORA], rows)


def _three(figures: Mapping[str, float] | None) -> str:
    return NOT_MEASURED if figures is None else precisions(figures, 2, " / ")


def _three_of_seeds(found: list[Measured]) -> str:
    if not found:
        return NOT_MEASURED
    return " / ".join(spread([line.figures["test"][f"P@{k}"] for line in found]) for k in (1, 3, 5))


def _repair_table(figures: list[Measured], lines: list[Measured]) -> str:
    steps = {"as printed": select(figures, variant="NeuralXC, paper")}
    steps |= {name: select(lines, variant=name) for name in REPAIRS}
    steps["both: `repaired`"] = select(figures, variant="NeuralXC, repaired")
    rows = [
        [name, *(_with_seconds(select(found, corpus=corpus)) for corpus in REPAIR_CORPORA)]
        for name, found in steps.items()
    ]
    head = [f"{corpus}: P@1 / P@3 / P@5, CPU s" for corpus in REPAIR_CORPORA]
    return of_variants(["given files", *head], rows)


def _with_seconds(found: list[Measured]) -> str:
    if not found:
        return NOT_MEASURED
    [line] = found
    return f"{_three(line.figures['test'])}, {line.figures['cpu_s']:.0f}"


def _text_table(lines: list[Measured]) -> str:
    rows = []
    for variant in TEXTS:
        for line in select(lines, variant=variant):
            told = line.figures
            rows.append([variant, precisions(told, 2, " | "), f"{told['cpu_s']:.0f}"])
    if not rows:
        return NOT_MEASURED
    head = "| wordnet, from texts | P@1 | P@3 | P@5 | training, CPU s |"
    body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|---|--:|--:|--:|--:|", *body])


def _measured_table() -> str:
    """Return the benchmark runs of the default, beside those of other systems."""
    head = "| corpus | system | P@1 | P@3 | P@5 | training, CPU s | peak MiB | splits |"
    rows = [head, "|---|---|--:|--:|--:|--:|--:|---|"]
    runs = [line for line in read_lines() if line.get("metrics") and not line["parameters"]]
    for corpus in BY_SIZE:
        done = [line for line in runs if line["corpus"] == corpus]
        for title, method in MEASURED.items():
            latest = {line["split"]: line for line in done if line["method"] == method}
            drawn = [line for split, line in latest.items() if split.startswith("random")]
            some = drawn or list(latest.values())
            if not some or not any(line["method"] == "neuralxc" for line in done):
                continue
            figures = {
                f"P@{k}": float(np.mean([line["metrics"][f"P@{k}"] for line in some]))
                for k in (1, 3, 5)
            }
            cells = [
                precisions(figures, 2, " | "),
                f"{np.mean([line['train_cpu_s'] for line in some]):.0f}",
                f"{max(line['train_peak_mib'] for line in some):,.0f}",
                f"{len(drawn)} random" if drawn else "given",
            ]
            rows.append(f"| {corpus} | {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _figure_table(lines: list[Measured]) -> str:
    rows = []
    for corpus, n_rows in FIGURE_CORPORA.items():
        size = f", {n_rows:,} rows" if n_rows else ""
        for title in FIGURE_METHODS:
            for line in select(lines, corpus=corpus, variant=title):
                for part in ("train", "test"):
                    cells = [
                        " ".join(f"{line.figures[part][f'{name}@{k}']:.1f}" for k in KS)
                        for name in ("P", "nDCG")
                    ]
                    rows.append([f"{corpus}{size}", title, part, *cells])
    return of_variants(["corpus", "method", "rows", "P@1 … P@5", "nDCG@1 … nDCG@5"], rows)


def _part_table(lines: list[Measured]) -> str:
    names = [name for name in PART_CORPORA if select(lines, corpus=name)]
    head = ["what", *(f"{name}: P@1 / P@3 / P@5, train P@1, CPU s" for name in names)]
    rows = [
        [
            titled(what, parameters),
            *(_cell(select(lines, corpus=name, parameters=parameters)) for name in names),
        ]
        for what, variants in PARTS.items()
        for parameters in variants
    ]
    return of_variants(head, rows)


def _cell(found: list[Measured]) -> str:
    if not found:
        return NOT_MEASURED
    known = np.mean([line.figures["train"]["P@1"] for line in found])
    cpu = np.mean([line.figures["cpu_s"] for line in found])
    return f"{_three_of_seeds(found)}, {known:.1f}, {cpu:.1f}"


def draw(lines: list[Measured], folder: Path) -> None:
    """Draw P@k and nDCG@k on training and test rows, a picture each."""
    pyplot = svg_pyplot()
    lines = select(lines, part="figures")
    corpora = [corpus for corpus in FIGURE_CORPORA if select(lines, corpus=corpus)]
    for name in PICTURES if corpora else ():
        figure, grid = pyplot.subplots(
            2, len(corpora), figsize=(3.1 * len(corpora), 5.6), layout="constrained", squeeze=False
        )
        for column, corpus in enumerate(corpora):
            for row, part in enumerate(("train", "test")):
                axes = grid[row][column]
                for color, title in enumerate(FIGURE_METHODS):
                    for line in select(lines, corpus=corpus, variant=title):
                        values = [line.figures[part][f"{name}@{k}"] for k in KS]
                        axes.plot(KS, values, "o-", color=f"C{color}", ms=3, label=title)
                axes.set(title=f"{corpus}, {part}", xticks=KS, ylim=(0, 100))
                axes.grid(alpha=0.25)
        grid[0][0].legend(fontsize=7, frameon=False)
        grid[1][0].set(xlabel="k", ylabel=f"{name}@k")
        figure.savefig(folder / _picture(name), metadata={"Date": None})
        pyplot.close(figure)


def _picture(name: str) -> str:
    return f"neuralxc-{name.lower()}.svg"
