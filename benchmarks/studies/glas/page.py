"""Tables and pictures of GLaS' page, from the study's lines and those of the benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import results
from benchmarks.corpora import BY_SIZE, ROOT
from benchmarks.render.plots import svg_pyplot
from benchmarks.studies.glas import cost, theory
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.tables import NOT_MEASURED, of_variants, precisions, spread, titled

PAGE = ROOT / "docs" / "methods" / "glas.md"

# Beside whom GLaS stands in the table of figures.
BESIDE = {
    "glas": "**GLaS**",
    "one-vs-all": "one-vs-all",
    "annexml": "AnnexML",
    "knn": "nearest rows",
    "pecos-xr-linear": "PECOS XR-Linear",
    "omikuji-parabel": "omikuji (Parabel)",
}
FIGURES = ("P@1", "P@3", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@3", "PSP@5")

# Corpus: (training rows, parameters that all its runs share).
CORPORA: dict[str, tuple[int | None, dict[str, Any]]] = {
    "bibtex": (None, {}),
    "delicious": (None, {"dim": 256, "hidden": (256,)}),
    "wordnet": (
        5_000,
        {"dim": 128, "hidden": (128,), "n_sampled": 1024, "n_epochs": 5, "batch_size": 256},
    ),
}
# Softmax of one label drawn for each row, no biases, weight norm, at a size that CPUs can train. λ
# and steps are as they did best on held-out training rows of delicious and wordnet, so this is not
# the paper's base setting, which is in ``sources``.
ONE_DRAWN: dict[str, Any] = {
    "preset": "paper",
    "dim": 256,
    "hidden": (256,),
    "batch_size": 256,
    "n_epochs": 10,
    "learning_rate": 3e-3,
    "row_learning_rate": 3e-3,
    "loss": "softmax",
    "all_positives": False,
    "regularizer_weight": 300.0,
}
MINING = ONE_DRAWN | {"loss": "mining"}
PLAIN = {"regularizer": "none", "keep_features": 1.0}
SEEDS = (0, 1, 2)
BOTH = ("bibtex", "delicious")
# What the figures come from: title, parameters, and the corpora that have it. Delicious has too few
# features for a linear map, so there the network alone is the default.
MAP_ALONE = "the linear map of the default alone"
AS_PRINTED = 'the paper\'s base setting, `preset="paper"`'
SOURCES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    AS_PRINTED: ({"preset": "paper"}, BOTH),
    "the same without regulariser": (
        {"preset": "paper", "regularizer_weight": 0.0},
        BOTH,
    ),
    "the same by PMI": ({"preset": "paper", "settings": {"similarity": "pmi"}}, BOTH),
    "the same by Jaccard": ({"preset": "paper", "settings": {"similarity": "jaccard"}}, BOTH),
    "the same without weight normalisation": (
        {"preset": "paper", "settings": {"weight_norm": False}},
        BOTH,
    ),
    "the same with softmax for the margin loss": (
        {"preset": "paper", "settings": {"loss": "softmax"}},
        BOTH,
    ),
    "the same with softmax, without regulariser": (
        {"preset": "paper", "regularizer_weight": 0.0, "settings": {"loss": "softmax"}},
        BOTH,
    ),
    "the network of the default alone": ({"settings": {"linear_dim": 0}}, ("bibtex",)),
    "the network of the default alone, without regulariser": (
        {"settings": {"linear_dim": 0}, "regularizer_weight": 0.0},
        BOTH,
    ),
    MAP_ALONE: ({}, ("bibtex",)),
    "the default": ({}, BOTH),
}
# The paper's own comparisons of one choice, which have one seed on both corpora.
ONE_SEED = (
    "the same by PMI",
    "the same by Jaccard",
    "the same without weight normalisation",
    "the same with softmax for the margin loss",
    "the same with softmax, without regulariser",
)
# What is compared by PSP: title, method and parameters. The paper's base setting is there from
# ``sources``, and peers from the lines of ``benchmarks run``. On the larger corpora the default is
# trained once for both ways, and whoever stands beside it is there from ``benchmarks run`` too.
TAIL_CORPORA = (*BOTH, "wordnet", "eurlex57k", "tibkat")
DEFAULT, NOTHING_ADDED = "GLaS", "GLaS, nothing added"
TAIL: dict[str, tuple[str, dict[str, Any]]] = {
    DEFAULT: ("glas", {}),
    NOTHING_ADDED: ("glas", {"tail": 0.0}),
    "the network alone, nothing added": ("glas", {"tail": 0.0, "linear_dim": 0}),
    "one-vs-all": ("one-vs-all", {}),
    "AnnexML": ("annexml", {}),
    "nearest rows": ("knn", {}),
}
AS_THEY_COME = {title: method for title, (method, parameters) in TAIL.items() if not parameters}
OTHERS = tuple(method for method in BESIDE if method != "glas")

# What is compared over all seeds, as the paper's own claim.
REGULARIZERS: list[dict[str, Any]] = [
    {},
    {"regularizer": "none"},
    {"regularizer": "spread-out"},
    ONE_DRAWN,
    ONE_DRAWN | {"regularizer": "none"},
    ONE_DRAWN | {"regularizer": "spread-out"},
    ONE_DRAWN | PLAIN,
    MINING,
    MINING | {"regularizer": "none"},
    MINING | {"regularizer": "spread-out"},
]

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "as it is": [{}],
    "regulariser": [
        {"regularizer": kind} for kind in ("none", "spread-out", "laplacian", "gravity")
    ],
    "likeness": [{"similarity": kind} for kind in ("geometric", "pmi", "jaccard")],
    "weight": [{"regularizer_weight": weight} for weight in (1.0, 10.0, 1000.0)],
    "input dropout": [{"keep_features": keep} for keep in (1.0, 0.6, 0.4)],
    "batch": [{"batch_size": size} for size in (256, 1024)],
    "dimension": [{"dim": dim} for dim in (64, 128)],
    "network": [{"hidden": ()}, {"hidden": (256,)}, {"activation": "linear"}],
    "weight normalisation": [{"weight_norm": True}],
    "loss": [{"loss": "softmax"}, {"biases": False}, {"tail": 0.0}],
    "one label drawn, λ = 300": [
        ONE_DRAWN,
        ONE_DRAWN | {"regularizer": "none"},
        ONE_DRAWN | {"regularizer": "spread-out"},
        ONE_DRAWN | PLAIN,
        ONE_DRAWN | {"regularizer_weight": 10.0},
        ONE_DRAWN | {"regularizer_weight": 1000.0},
        ONE_DRAWN | {"all_positives": True},
        ONE_DRAWN | {"all_positives": True, "regularizer": "none"},
        MINING,
        MINING | {"regularizer": "none"},
        ONE_DRAWN | {"loss": "margin"},
    ],
    "a linear map beside it": [{"linear_dim": 512}],
}


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the tables of the page."""
    parts = select(lines, part="parts")
    links = [
        f"![P@1 of training and test rows over epochs on {corpus}](../assets/{_picture(corpus)})"
        for corpus in CORPORA
        if _curves(parts, corpus)
    ]
    return {
        "parts": "\n\n".join([_choices(parts), _seeds(parts), _gaps(parts), *links]),
        "sources": _sources(select(lines, part="sources")),
        "figures": _figures(lines),
        "tail": _tail(lines),
        "theory": theory.table(select(lines, part="theory")),
        "cost": cost.table(select(lines, part="cost")),
    }


def _figures(lines: list[Measured]) -> str:
    """The paper's tables 3, 4 and 6 on our corpora."""
    rows = ["| corpus | | " + " | ".join(FIGURES) + " | train CPU s |"]
    rows.append("|---|---" + "|--:" * (len(FIGURES) + 1) + "|")
    for corpus in BY_SIZE:
        of = _as_they_come(lines, corpus)
        for method, name in BESIDE.items():
            if method not in of or "glas" not in of:
                continue
            figures, seconds = of[method]
            cells = [f"{figures[figure]:.2f}" for figure in FIGURES]
            first = corpus if method == "glas" else ""
            rows.append(f"| {first} | {name} | " + " | ".join([*cells, f"{seconds:.0f}"]) + " |")
    return "\n".join(rows)


def _as_they_come(lines: list[Measured], corpus: str) -> dict[str, tuple[dict[str, float], float]]:
    """Figures and CPU seconds of methods as they come, of a run or of ``tail``: the newest."""
    runs = _runs(corpus)
    found = {method: (run["metrics"], run["train_cpu_s"]) for method, run in runs.items()}
    for line in select(lines, part="tail", corpus=corpus):
        method = AS_THEY_COME.get(line.variant)
        if method and (method not in runs or (line.date or "") > runs[method]["date"]):
            found[method] = line.figures["test"], line.figures["cpu_s"]
    return found


def _runs(corpus: str) -> dict[str, results.Line]:
    """The newest runs of methods and peers as they come on the files as given."""
    return {
        line["method"]: line
        for line in results.latest(results.read_lines())
        if line["corpus"] == corpus
        and line["split"] == "given"
        and not line["parameters"]
        and line["status"] == results.DONE
    }


def _sources(lines: list[Measured]) -> str:
    """What the paper's setting reaches, the default, and each of the default's parts alone."""
    common = [_runs(corpus)["most-common"]["metrics"] for corpus in BOTH]
    cells = [precisions(figures, digits=2, between=" / ") for figures in common]
    rows = [["the most common labels", *cells]]
    for title in SOURCES:
        cells = []
        for corpus in BOTH:
            found = select(lines, corpus=corpus, variant=title)
            figures = (_spread(found, f"P@{k}") for k in (1, 3, 5) if found)
            cells.append(" / ".join(figures) or NOT_MEASURED)
        rows.append([title, *cells])
    return of_variants(["", *(f"{corpus}: P@1, P@3, P@5" for corpus in BOTH)], rows)


def _tail(lines: list[Measured]) -> str:
    """PSP with and without what is added to rare labels' scores, and as the paper computes it."""
    which = ["P@1", "P@5", *(f"PSP@{k}" for k in (1, 3, 5))]
    of_test = [f"PSP@{k} by test labels" for k in (1, 3, 5)]
    rows = ["| corpus | | " + " | ".join([*which, *of_test]) + " |"]
    rows.append("|---|---" + "|--:" * (len(which) + len(of_test)) + "|")
    for corpus in TAIL_CORPORA:
        printed = select(lines, part="sources", corpus=corpus, variant=AS_PRINTED, seed=SEEDS[0])
        shown = [('GLaS, `preset="paper"`', line.figures["test"]) for line in printed]
        for title, (method, _) in TAIL.items():
            found = select(lines, part="tail", corpus=corpus, variant=title)
            shown += [(title, line.figures["test"]) for line in found if method == "glas"]
        if not shown:
            continue
        of = _as_they_come(lines, corpus)
        shown += [(BESIDE[other], of[other][0]) for other in OTHERS if other in of]
        for title, figures in shown:
            cells = [
                f"{figures[name]:.2f}" if name in figures else NOT_MEASURED
                for name in [*which, *of_test]
            ]
            rows.append(f"| {corpus} | {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _seeds(lines: list[Measured]) -> str:
    """Regularisers over three seeds."""
    which = ("P@1", "P@5", "nDCG@5", "PSP@1", "PSP@5")
    rows = ["| corpus | setting | seeds | " + " | ".join(which) + " |"]
    rows.append("|---|---|--:" + "|--:" * len(which) + "|")
    for corpus in CORPORA:
        for parameters in REGULARIZERS:
            found = select(lines, corpus=corpus, parameters=parameters)
            if found:
                cells = [_spread(found, figure) for figure in which]
                head = f"| {corpus} | {_title(parameters)} | {len(found)} | "
                rows.append(head + " | ".join(cells) + " |")
    return "\n".join(rows)


def _choices(lines: list[Measured]) -> str:
    names = [name for name in CORPORA if select(lines, corpus=name)]
    head = ["what", *(f"{name}: P@1, nDCG@5, PSP@1" for name in names)]
    rows = []
    for what, variants in VARIANTS.items():
        for parameters in variants:
            # Where one label is drawn only what differs from the first such row.
            given = {
                name: value
                for name, value in parameters.items()
                if ONE_DRAWN.get(name) != value or "preset" not in parameters
            }
            cells = []
            for name in names:
                # One seed, the same for all: seeds differ by more than many of the choices.
                found = select(lines, corpus=name, parameters=parameters, seed=SEEDS[0])
                figures = (_spread(found, which) for which in ("P@1", "nDCG@5", "PSP@1") if found)
                cells.append(" / ".join(figures) or NOT_MEASURED)
            rows.append([titled(what, given), *cells])
    return of_variants(head, rows)


def _gaps(lines: list[Measured]) -> str:
    rows = ["| corpus | setting | train P@1 | test P@1 | gap |", "|---|---|--:|--:|--:|"]
    for corpus in CORPORA:
        for parameters in [
            {},
            {"regularizer": "none"},
            ONE_DRAWN,
            ONE_DRAWN | {"regularizer": "none"},
            ONE_DRAWN | PLAIN,
        ]:
            found = select(lines, corpus=corpus, parameters=parameters)
            if not found:
                continue
            train_end = [line.figures["train_curve"][-1] for line in found]
            test_end = [line.figures["test_curve"][-1] for line in found]
            gaps = [train - test for train, test in zip(train_end, test_end, strict=True)]
            cells = [spread(one) for one in (train_end, test_end, gaps)]
            rows.append(f"| {corpus} | {_title(parameters)} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def draw(lines: list[Measured], folder: Path) -> None:
    """Draw P@1 of training and test rows over epochs, a picture for each corpus."""
    pyplot = svg_pyplot()
    for corpus in CORPORA:
        drawn = _curves(select(lines, part="parts"), corpus)
        if not drawn:
            continue
        figure, axes = pyplot.subplots(figsize=(9.0, 4.0), layout="constrained")
        for title, found, color in drawn:
            for which, style in (("train_curve", "--"), ("test_curve", "-")):
                curves = np.array([line.figures[which] for line in found])
                epochs = np.arange(1, curves.shape[1] + 1)
                name = f"{title}, {which.removesuffix('_curve')}"
                axes.plot(epochs, curves.mean(axis=0), style, color=color, label=name)
        axes.set(xlabel="epoch", ylabel="P@1", title=corpus)
        axes.grid(alpha=0.25)
        figure.legend(loc="outside right upper", fontsize=8, frameon=False)
        figure.savefig(folder / _picture(corpus), metadata={"Date": None})
        pyplot.close(figure)


def _curves(lines: list[Measured], corpus: str) -> list[tuple[str, list[Measured], str]]:
    """Return what is drawn of a corpus: title, lines and colour."""
    colours: list[tuple[dict[str, Any], str]] = [
        (ONE_DRAWN, "#1f5fa8"),
        (ONE_DRAWN | PLAIN, "#c2571a"),
        ({}, "#3a8a4d"),
        ({"regularizer": "none"}, "#8a8a8a"),
    ]
    return [
        (_title(parameters), found, colour)
        for parameters, colour in colours
        if (found := select(lines, corpus=corpus, parameters=parameters))
    ]


def _picture(corpus: str) -> str:
    return f"glas-epochs-{corpus}.svg"


def _title(parameters: dict[str, Any]) -> str:
    name = f"one label drawn, {parameters['loss']}" if "preset" in parameters else "default"
    kind = parameters.get("regularizer", "GLaS").replace("none", "no regulariser")
    return f"{name}, {kind}" + (", no dropout" if "keep_features" in parameters else "")


def _spread(lines: list[Measured], which: str) -> str:
    return spread([line.figures["test"][which] for line in lines])
