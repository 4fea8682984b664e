"""What each part of DXML is worth: ``python -m benchmarks.ablations.dxml``.

The paper's Figure 2 (with and without the non-linearity), where label vectors come from, which
loss, how many clusters are searched, how many networks vote: each changed alone, on the given
files, over three seeds. ``--append`` learns the second half of a corpus on top of the first
instead. Every run adds a line to ``results/ablations/dxml.jsonl`` and is not made again; the tables
of the method's page are written from these lines alone (``--render`` does only that).
``--corpora``, ``--seeds`` and ``--budget`` (minutes) choose what to run.

Variants of the default have one network, so that a network is what is measured.
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
from scipy.sparse import csr_matrix, load_npz

from benchmarks.corpora import BY_SIZE, ROOT, prepare
from benchmarks.measure import Stopwatch
from benchmarks.render.marked import put
from benchmarks.render.references import published
from benchmarks.render.tables import markdown
from benchmarks.results import DONE, latest
from benchmarks.results import read_lines as read_runs
from labelspace import metrics
from labelspace.models import DXML

LINES = ROOT / "benchmarks" / "results" / "ablations" / "dxml.jsonl"
PAGE = ROOT / "docs" / "methods" / "dxml.md"
CORPORA = ("bibtex", "delicious")
PROBES = (1, 2, 4, 8, 64)
WHICH = ("P@1", "P@3", "P@5")
TABLES = (*WHICH, "nDCG@3", "nDCG@5")

ONE: dict[str, Any] = {"n_learners": 1}
PAPER: dict[str, Any] = {"preset": "paper"}
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "as it is, but one network": [ONE],
    "four networks (the default)": [{}],
    "label vectors": [ONE | {"targets": kind} for kind in ("random", "svd", "neighbors")],
    "the paper": [PAPER],
    "the paper without the non-linearity": [PAPER | {"activation": "linear"}],
    "the paper, label vectors": [PAPER | {"targets": kind} for kind in ("random", "svd")],
    "non-linearity": [ONE | {"activation": "linear"}, ONE | {"hidden": ()}],
    "labels stay where they are": [ONE | {"label_weight": 0.0}],
    "loss": [ONE | {"loss": kind} for kind in ("smooth-l1", "contrastive", "triplet")],
    "edges": [ONE | {"edges": kind} for kind in ("binary", "pmi")],
    "plain counts": [ONE | {"voting": "counts"}],
}


def measure(corpus: str, parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Train once and return figures on the test rows, by the number of clusters searched."""
    X, Y, X_test, Y_test = _rows(corpus)
    model = DXML(**parameters, random_state=seed, n_threads=1)
    with Stopwatch() as watch:
        model.fit(X, Y)
    line = {
        "corpus": corpus,
        "parameters": parameters,
        "seed": seed,
        "test": _figures(model, X_test, Y_test),
        "n_neighbors": model.settings_["n_neighbors"],
        "cpu_s": round(watch.cpu_s, 2),
    }
    if parameters in (ONE, PAPER):
        line["probes"] = {}
        for n_probes in PROBES:
            for learner in model.learners_:
                learner.rows.n_probes = n_probes
            line["probes"][str(n_probes)] = _figures(model, X_test, Y_test)
    return line


def append(corpus: str, seed: int = 0) -> dict[str, Any]:
    """Learn half of the rows, then the other half on top; the benchmarks learn all at once."""
    X, Y, X_test, Y_test = _rows(corpus)
    rows = np.random.default_rng(seed).permutation(X.shape[0])
    first, second = (np.sort(half) for half in np.array_split(rows, 2))
    line: dict[str, Any] = {"corpus": corpus, "parameters": {"append": True}, "seed": seed}
    model = DXML(random_state=seed, n_threads=1)
    seen = np.flatnonzero(np.bincount(Y[first].indices, minlength=Y.shape[1]))
    # Labels that only the second half has are new to the model: they come last.
    order = np.concatenate((seen, np.setdiff1d(np.arange(Y.shape[1]), seen)))
    Y, Y_test = csr_matrix(Y[:, order]), csr_matrix(Y_test[:, order])
    for name, learn in (
        ("first half", lambda: model.fit(X[first], Y[first][:, : seen.size])),
        ("second half on top", lambda: model.partial_fit(X[second], Y[second])),
    ):
        with Stopwatch() as watch:
            learn()
        line[name] = _figures(model, X_test, Y_test) | {"cpu_s": round(watch.cpu_s, 1)}
        print(name, line[name], flush=True)
    line["new_labels"] = int(Y.shape[1] - seen.size)
    return line


def run(corpora: Iterable[str], seeds: Iterable[int], budget_s: float) -> None:
    """Make the runs that are not there yet, the plain ones of every corpus first."""
    started = time.monotonic()
    there = {_key(line) for line in read_lines()}
    for variants in VARIANTS.values():
        for parameters in variants:
            for seed in seeds:
                for corpus in corpora:
                    line = {"corpus": corpus, "parameters": parameters, "seed": seed}
                    if _key(line) in there:
                        continue
                    if time.monotonic() - started > budget_s:
                        print("The time for one command is over: run it again to go on.")
                        return
                    line = measure(corpus, parameters, seed)
                    _write(line)
                    print(corpus, seed, parameters, line["test"], line["cpu_s"], flush=True)


def read_lines() -> list[dict[str, Any]]:
    """Return what has been measured."""
    if not LINES.exists():
        return []
    return [json.loads(line) for line in LINES.read_text(encoding="utf-8").splitlines()]


def render() -> None:
    """Write the tables of the method's page."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in read_lines():
        found[_setting(line["corpus"], line["parameters"])].append(line)
    appended = [line for lines in found.values() for line in lines if "first half" in line]
    put(PAGE, "ablations", "\n\n".join((_choices(found), _clusters(found))))
    runs = [line for line in latest(read_runs()) if line["status"] == DONE]
    put(PAGE, "append", _appended(appended, runs))
    put(PAGE, "papers", _beside_the_paper(runs))
    put(PAGE, "times", _beside_others(runs))


def _choices(found: dict[str, list[dict[str, Any]]]) -> str:
    rows = ["| what | " + " | ".join(f"{name}: P@1, P@3, P@5" for name in CORPORA) + " |"]
    rows.append("|---" * (len(CORPORA) + 1) + "|")
    for what, variants in VARIANTS.items():
        for parameters in variants:
            cells = []
            for name in CORPORA:
                lines = found.get(_setting(name, parameters), [])
                cells.append(" / ".join(_spread(lines, which) for which in WHICH) if lines else "–")
            given = parameters.items() - (ONE | PAPER).items()
            text = ", ".join(f"{name}={value}" for name, value in sorted(given))
            title = f"{what}: `{text}`" if text else what
            rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _clusters(found: dict[str, list[dict[str, Any]]]) -> str:
    rows = ["| clusters searched | " + " | ".join(map(str, PROBES)) + " |"]
    rows.append("|---" * (len(PROBES) + 1) + "|")
    for name in CORPORA:
        for title, parameters in (("one network", ONE), ("the paper", PAPER)):
            lines = found.get(_setting(name, parameters), [])
            if lines:
                cells = [
                    f"{np.mean([line['probes'][str(n)]['P@1'] for line in lines]):.2f}"
                    for n in PROBES
                ]
                rows.append(f"| {name}, {title}: P@1 | " + " | ".join(cells) + " |")
    return "\n".join(rows)


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


def _figures(model: DXML, X: csr_matrix, Y: csr_matrix) -> dict[str, float]:
    figures = metrics.evaluate(Y, model.predict_topk(X, k=5))
    return {which: round(figures[which], 3) for which in (*WHICH, "nDCG@3", "nDCG@5")}


def _spread(lines: list[dict[str, Any]], which: str) -> str:
    values = np.array([line["test"][which] for line in lines])
    return f"{values.mean():.2f} ± {values.std():.2f}" if len(values) > 1 else f"{values[0]:.2f}"


def _setting(corpus: str, parameters: dict[str, Any]) -> str:
    return f"{corpus} {json.dumps(parameters, sort_keys=True)}"


def _key(line: dict[str, Any]) -> str:
    return f"{_setting(line['corpus'], line['parameters'])} {line['seed']}"


def _write(line: dict[str, Any]) -> None:
    LINES.parent.mkdir(parents=True, exist_ok=True)
    with open(LINES, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _rows(corpus: str) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]:
    folder = Path(prepare(corpus).folder)
    X, Y, X_test, Y_test = (
        csr_matrix(load_npz(folder / f"{part}_{which}.npz"), dtype=np.float32)
        for part in ("train", "test")
        for which in "XY"
    )
    return X, Y, X_test, Y_test


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--render", action="store_true", help="only write the tables")
    parser.add_argument("--append", metavar="CORPUS", help="learn this corpus in two halves")
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--budget", type=float, default=55.0, help="minutes")
    chosen = parser.parse_args()
    if chosen.append:
        _write(append(chosen.append))
    elif not chosen.render:
        seeds = [int(seed) for seed in chosen.seeds.split(",")]
        run(chosen.corpora.split(","), seeds, 60.0 * chosen.budget)
    render()
