"""What each part of GLaS is worth: ``python -m benchmarks.ablations.glas``.

The paper's Table 1 (one choice changed at a time), Table 2 (gap between training and test) and
Figure 1 (both over epochs), on our corpora. Regularisers are compared over three seeds, other
choices with one. Every run adds a line to ``results/ablations/glas.jsonl`` and is not made again;
tables and plots of the method's page are written from these lines alone (``--render`` does only
that). ``--corpora`` and ``--budget`` (minutes) choose what to run.

All but the last variant are the network alone, without the linear map beside it. Runs on wordnet
see 5,000 rows in 128 dimensions, so that all of them fit into an hour.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix, load_npz

from benchmarks import results
from benchmarks.corpora import BY_SIZE, ROOT, prepare
from benchmarks.measure import Stopwatch
from benchmarks.render.marked import put
from labelspace import metrics, threads
from labelspace.deep.loop import train
from labelspace.encoders.unit_rows import UnitRows
from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.models import GLaS
from labelspace.models.glas.settings import task_settings
from labelspace.models.glas.task import GLaSTask
from labelspace.topk import TopK

LINES = ROOT / "benchmarks" / "results" / "ablations" / "glas.jsonl"
PAGE = ROOT / "docs" / "methods" / "glas.md"
PICTURES = ROOT / "docs" / "assets"

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
# The paper's algorithm at a size that CPUs can train: one label drawn for each row, no biases,
# weight norm; λ and steps as they did best on held-out training rows of delicious and wordnet.
PAPER: dict[str, Any] = {
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
MINING = PAPER | {"loss": "mining"}
PLAIN = {"regularizer": "none", "keep_features": 1.0}
MEASURED_ROWS = 2000
SEEDS = (0, 1, 2)

# What is compared over all seeds, as the paper's own claim.
REGULARIZERS: list[dict[str, Any]] = [
    {},
    {"regularizer": "none"},
    {"regularizer": "spread-out"},
    PAPER,
    PAPER | {"regularizer": "none"},
    PAPER | {"regularizer": "spread-out"},
    PAPER | PLAIN,
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
    "the paper's algorithm": [
        PAPER,
        PAPER | {"regularizer": "none"},
        PAPER | {"regularizer": "spread-out"},
        PAPER | PLAIN,
        PAPER | {"regularizer_weight": 10.0},
        PAPER | {"regularizer_weight": 1000.0},
        PAPER | {"all_positives": True},
        PAPER | {"all_positives": True, "regularizer": "none"},
        MINING,
        MINING | {"regularizer": "none"},
        PAPER | {"loss": "margin"},
    ],
    "a linear map beside it": [{"linear_dim": 512}],
}


def measure(corpus: str, parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Train once and return what every epoch gives on training and test rows."""
    X, Y, X_test, Y_test = _rows(corpus)
    given = {"linear_dim": 0} | CORPORA[corpus][1] | parameters
    model = GLaS(**given, random_state=seed, n_threads=1)
    if given["linear_dim"]:
        with Stopwatch() as watch:
            model.fit(X, Y)
        top = model.predict_topk(X_test, 5)
        return _line(corpus, parameters, seed, top, Y, Y_test, watch)
    model.settings_ = model._chosen(*X.shape)
    asked = np.random.default_rng(1).permutation(X_test.shape[0])[:MEASURED_ROWS]
    with threads.limit(1), Stopwatch() as watch:
        task = GLaSTask(
            X,
            Y,
            task_settings(model.settings_),
            likeness=similarity(cooccurrence(Y), Y.shape[0], model.similarity),
            held_out=(X_test[asked], Y_test[asked]),
            seed=seed,
        )
        history = train(task, X.shape[0], model._training(seed))
    if model.settings_["loss"] == "binary":
        rarity = metrics.inverse_propensity(task.counts, X.shape[0])
        task.biases.values[:, 0] += torch.from_numpy(
            (model.settings_["tail"] * np.log(rarity)).astype(np.float32)
        )
    top = task.rank(X_test, 5)
    return _line(corpus, parameters, seed, top, Y, Y_test, watch) | {
        "train_curve": [round(value, 2) for value in history["train P@1"]],
        "test_curve": [round(value, 2) for value in history["P@1"]],
    }


def _line(
    corpus: str,
    parameters: dict[str, Any],
    seed: int,
    top: TopK,
    Y: csr_matrix,
    Y_test: csr_matrix,
    watch: Stopwatch,
) -> dict[str, Any]:
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    figures = metrics.evaluate(Y_test, top, label_counts=counts, n_examples=Y.shape[0])
    figures |= {f"GLaS {name}": value for name, value in metrics.psp_glas(Y_test, top).items()}
    return {
        "corpus": corpus,
        "parameters": parameters,
        "seed": seed,
        "test": {name: round(value, 3) for name, value in figures.items()},
        "cpu_s": round(watch.cpu_s, 2),
    }


def run(corpora: Iterable[str], budget_s: float) -> None:
    """Make the runs that are not there yet, the comparison of regularisers first."""
    started = time.monotonic()
    there = {_key(line) for line in read_lines()}
    names = list(corpora)
    todo = [(one, corpus, seed) for one in REGULARIZERS for corpus in names for seed in SEEDS]
    todo += [
        (one, corpus, SEEDS[0]) for many in VARIANTS.values() for one in many for corpus in names
    ]
    for parameters, corpus, seed in todo:
        key = _key({"corpus": corpus, "parameters": parameters, "seed": seed})
        if key in there:
            continue
        if time.monotonic() - started > budget_s:
            print("The time for one command is over: run it again to go on.")
            return
        line = measure(corpus, parameters, seed)
        there.add(key)
        LINES.parent.mkdir(parents=True, exist_ok=True)
        with open(LINES, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        print(corpus, seed, parameters, line["test"]["P@1"], line["cpu_s"], flush=True)


def read_lines() -> list[dict[str, Any]]:
    """Return what has been measured."""
    if not LINES.exists():
        return []
    return [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]


def render() -> None:
    """Write the tables and plots of the method's page."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in read_lines():
        found[_setting(line["corpus"], line["parameters"])].append(line)
    text = "\n\n".join([_choices(found), _seeds(found), _gaps(found), *_pictures(found)])
    put(PAGE, "ablations", text)
    put(PAGE, "figures", _figures())


def _figures() -> str:
    """The paper's tables 3, 4 and 6 on our corpora: all from the lines of ``benchmarks run``."""
    lines = [
        line
        for line in results.latest(results.read_lines())
        if line["split"] == "given" and not line["parameters"] and line["status"] == results.DONE
    ]
    rows = ["| corpus | | " + " | ".join(FIGURES) + " | train CPU s |"]
    rows.append("|---|---" + "|--:" * (len(FIGURES) + 1) + "|")
    for corpus in BY_SIZE:
        of = {line["method"]: line for line in lines if line["corpus"] == corpus}
        for method, name in BESIDE.items():
            if method not in of or "glas" not in of:
                continue
            cells = [f"{of[method]['metrics'][figure]:.2f}" for figure in FIGURES]
            first = corpus if method == "glas" else ""
            seconds = f"{of[method]['train_cpu_s']:.0f}"
            rows.append(f"| {first} | {name} | " + " | ".join([*cells, seconds]) + " |")
    return "\n".join(rows)


def _seeds(found: dict[str, list[dict[str, Any]]]) -> str:
    """Regularisers over three seeds; PSP also as the paper computes it."""
    which = ("P@1", "P@5", "nDCG@5", "PSP@1", "PSP@5", "GLaS PSP@1", "GLaS PSP@5")
    rows = ["| corpus | setting | seeds | " + " | ".join(which) + " |"]
    rows.append("|---|---|--:" + "|--:" * len(which) + "|")
    for corpus in CORPORA:
        for parameters in REGULARIZERS:
            lines = found.get(_setting(corpus, parameters), [])
            if lines:
                cells = [_spread(lines, figure) for figure in which]
                head = f"| {corpus} | {_title(parameters)} | {len(lines)} | "
                rows.append(head + " | ".join(cells) + " |")
    return "\n".join(rows)


def _choices(found: dict[str, list[dict[str, Any]]]) -> str:
    names = [name for name in CORPORA if any(key.startswith(name) for key in found)]
    rows = ["| what | " + " | ".join(f"{name}: P@1, nDCG@5, PSP@1" for name in names) + " |"]
    rows.append("|---" * (len(names) + 1) + "|")
    for what, variants in VARIANTS.items():
        for parameters in variants:
            # Of the paper's algorithm only what differs from its first row.
            given = ", ".join(
                f"{name}={value}"
                for name, value in parameters.items()
                if PAPER.get(name) != value or "preset" not in parameters
            )
            cells = []
            for name in names:
                # One seed, the same for all: seeds differ by more than many of the choices.
                lines = [
                    line
                    for line in found.get(_setting(name, parameters), [])
                    if line["seed"] == SEEDS[0]
                ]
                cells.append(
                    " / ".join(_spread(lines, which) for which in ("P@1", "nDCG@5", "PSP@1"))
                    if lines
                    else "–"
                )
            if set(cells) == {"–"}:
                continue  # not run yet
            title = f"{what}: `{given}`" if given else what
            rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _gaps(found: dict[str, list[dict[str, Any]]]) -> str:
    rows = ["| corpus | setting | train P@1 | test P@1 | gap |", "|---|---|--:|--:|--:|"]
    for corpus in CORPORA:
        for parameters in [
            {},
            {"regularizer": "none"},
            PAPER,
            PAPER | {"regularizer": "none"},
            PAPER | PLAIN,
        ]:
            lines = found.get(_setting(corpus, parameters), [])
            if not lines:
                continue
            train_end = np.array([line["train_curve"][-1] for line in lines])
            test_end = np.array([line["test_curve"][-1] for line in lines])
            cells = [
                f"{one.mean():.2f} ± {one.std():.2f}"
                for one in (train_end, test_end, train_end - test_end)
            ]
            rows.append(f"| {corpus} | {_title(parameters)} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _pictures(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "labelspace"
    from matplotlib import pyplot

    links = []
    for corpus in CORPORA:
        drawn = [
            (_title(parameters), found[_setting(corpus, parameters)], color)
            for parameters, color in (
                (PAPER, "#1f5fa8"),
                (PAPER | PLAIN, "#c2571a"),
                ({}, "#3a8a4d"),
                ({"regularizer": "none"}, "#8a8a8a"),
            )
            if _setting(corpus, parameters) in found
        ]
        if not drawn:
            continue
        figure, axes = pyplot.subplots(figsize=(9.0, 4.0), layout="constrained")
        for title, lines, color in drawn:
            for which, style in (("train_curve", "--"), ("test_curve", "-")):
                curves = np.array([line[which] for line in lines])
                epochs = np.arange(1, curves.shape[1] + 1)
                name = f"{title}, {which.removesuffix('_curve')}"
                axes.plot(epochs, curves.mean(axis=0), style, color=color, label=name)
        axes.set(xlabel="epoch", ylabel="P@1", title=corpus)
        axes.grid(alpha=0.25)
        figure.legend(loc="outside right upper", fontsize=8, frameon=False)
        path = PICTURES / f"glas-epochs-{corpus}.svg"
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
        links.append(
            f"![P@1 of training and test rows over epochs on {corpus}](../assets/{path.name})"
        )
    return links


def _title(parameters: dict[str, Any]) -> str:
    name = f"paper, {parameters['loss']}" if "preset" in parameters else "default"
    kind = parameters.get("regularizer", "GLaS").replace("none", "no regulariser")
    return f"{name}, {kind}" + (", no dropout" if "keep_features" in parameters else "")


def _spread(lines: list[dict[str, Any]], which: str) -> str:
    values = np.array([line["test"][which] for line in lines])
    return f"{values.mean():.2f} ± {values.std():.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def _setting(corpus: str, parameters: dict[str, Any]) -> str:
    return f"{corpus} {json.dumps(parameters, sort_keys=True)}"


def _key(line: dict[str, Any]) -> str:
    return f"{_setting(line['corpus'], line['parameters'])} {line['seed']}"


def _rows(corpus: str) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]:
    folder = Path(prepare(corpus).folder)
    parts = [
        csr_matrix(load_npz(folder / f"{part}_{which}.npz"), dtype=np.float32)
        for part in ("train", "test")
        for which in "XY"
    ]
    X, Y, X_test, Y_test = parts
    kept = np.flatnonzero(np.diff(Y.indptr))
    n_rows = CORPORA[corpus][0]
    kept = np.random.default_rng(0).permutation(kept)[:n_rows]
    unit = UnitRows().learn(X)
    return unit.encode(csr_matrix(X[kept])), csr_matrix(Y[kept]), unit.encode(X_test), Y_test


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render", action="store_true", help="only write tables and plots")
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--budget", type=float, default=55.0, help="minutes")
    chosen = parser.parse_args()
    if not chosen.render:
        run(chosen.corpora.split(","), 60.0 * chosen.budget)
    render()
