"""What each part of DXML is worth: ``python -m benchmarks.ablations.dxml``.

The paper's Figure 2 (with and without the non-linearity), where label vectors come from, which
loss, how many clusters are searched, how many rows vote: each changed alone, on the given
files, over some seeds. Of delicious 4,000 training rows are used, for the time that it takes.
``--append`` learns the second half of a corpus on top of the first instead. Every run adds a line
to ``results/ablations/dxml.jsonl`` and is not made again; ``--render`` only writes the tables of
the method's page. ``--corpora``, ``--seeds`` and ``--budget`` (minutes) choose what to run.

Variants of the default have one network, so that a network is what is measured.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz

from benchmarks.ablations import dxml_page
from benchmarks.ablations.dxml_page import (
    CORPORA,
    LINES,
    NEIGHBORS,
    ONE,
    PAPER,
    PROBES,
    VARIANTS,
    WHICH,
)
from benchmarks.corpora import prepare
from benchmarks.measure import Stopwatch
from labelspace import metrics
from labelspace.models import DXML
from labelspace.models.dxml.task import label_shares
from labelspace.search.result import SearchResult
from labelspace.spaces import sphere
from labelspace.topk import TopK
from labelspace.voting import Votes

MOST_ROWS = {"delicious": 4000}


def measure(corpus: str, parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    """Train once and return figures on the test rows, by the number of clusters searched."""
    X, Y, X_test, Y_test = _rows(corpus)
    X, Y = X[: MOST_ROWS.get(corpus)], Y[: MOST_ROWS.get(corpus)]
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
        line["placed by labels"] = _placed_by_labels(model, Y_test)
        line["probes"], line["neighbors"] = {}, {}
        (learner,) = model.learners_
        chosen = learner.rows.n_probes
        for n_probes in PROBES:
            learner.rows.n_probes = n_probes
            line["probes"][str(n_probes)] = _figures(model, X_test, Y_test)
        learner.rows.n_probes = chosen
        for n_neighbors in NEIGHBORS:
            model.settings_["n_neighbors"] = n_neighbors
            line["neighbors"][str(n_neighbors)] = _figures(model, X_test, Y_test)
    return line


def _placed_by_labels(model: DXML, Y: csr_matrix) -> dict[str, float]:
    """Return figures if rows lay where their labels say, instead of where a network puts them."""
    (learner,) = model.learners_
    V = learner.labels.vectors(np.arange(learner.labels.n_keys))[:, :-1]
    T = sphere.queries(np.asarray(label_shares(Y) @ V, dtype=np.float32))
    found = learner.rows.search(T, model.settings_["n_neighbors"])
    if model.settings_["voting"] == "counts":
        return _measured(Y, Votes.counted(found).top(model.Y_, 5))
    none = SearchResult.none(len(T), 0)
    ballot = Votes.weighted(found, none, model.settings_["vote_gamma"], 0.0)
    return _measured(Y, ballot.top(model.Y_, 5))


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
    there = {dxml_page.key(line) for line in dxml_page.read_lines()}
    for variants in VARIANTS.values():
        for parameters in variants:
            for seed in seeds:
                for corpus in corpora:
                    line = {"corpus": corpus, "parameters": parameters, "seed": seed}
                    if dxml_page.key(line) in there:
                        continue
                    if time.monotonic() - started > budget_s:
                        print("The time for one command is over: run it again to go on.")
                        return
                    line = measure(corpus, parameters, seed)
                    _write(line)
                    print(corpus, seed, parameters, line["test"], line["cpu_s"], flush=True)


def _figures(model: DXML, X: csr_matrix, Y: csr_matrix) -> dict[str, float]:
    return _measured(Y, model.predict_topk(X, k=5))


def _measured(Y: csr_matrix, top: TopK) -> dict[str, float]:
    figures = metrics.evaluate(Y, top)
    return {which: round(figures[which], 3) for which in (*WHICH, "nDCG@3", "nDCG@5")}


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
    dxml_page.render()
