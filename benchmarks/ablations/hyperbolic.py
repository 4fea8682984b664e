"""What the ball is worth: ``python -m benchmarks.ablations.hyperbolic [grid] [order] [search]``.

Three studies of ``Hyperbolic``, each of many small trainings; finished ones are not repeated.

``grid``    the same model in the ball, on the sphere and in euclidean space, by dimension and
            learners, on a sample of the rows. A model of 15 learners is also 15 models of one,
            five of three and two of six: means and deviations are over those groups.
``order``   wordnet's labels are hypernyms: do general ones lie nearer to the middle, and are the
            nearest labels of a label its hypernyms?
``search``  approximate search against exact search on tibkat.

``--learners 6`` makes the grid cheaper; ``--table`` prints the tables of the method's page from the
lines that are there.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz
from scipy.stats import spearmanr

from benchmarks import corpora
from labelspace import metrics
from labelspace.models import Hyperbolic
from labelspace.search.found import Found
from labelspace.search.places import SPACES, PlaceIndex
from labelspace.space import poincare

LINES = Path(__file__).parent / "results" / "hyperbolic.jsonl"
N_ROWS = {"wordnet": 2000, "delicious": 2000}
"""Rows of train that the grid learns from, drawn once: all of them would take days."""
N_TEST = 1000
DIMS = (5, 10, 25, 50)
LEARNERS = (1, 3, 6, 15)
ANSWERS = ("both", "rows", "labels")
Line = dict[str, Any]


def grid(n_learners: int = max(LEARNERS)) -> None:
    """Train every space and dimension on a sample of both corpora, low dimensions first."""
    samples = {corpus: _sampled(corpus, n_rows) for corpus, n_rows in N_ROWS.items()}
    for dim in (5, 10, 50, 25):
        for corpus, (X, Y, X_test, Y_test) in samples.items():
            for space in SPACES:
                what = {"study": "grid", "corpus": corpus, "space": space, "dim": dim}
                what["n_learners"] = n_learners
                if _done(what):
                    continue
                model = Hyperbolic(
                    space=space, dim=dim, n_learners=n_learners, random_state=0, n_threads=1
                )
                began = time.process_time()
                model.fit(X, Y)
                cost = time.process_time() - began
                norms = np.linalg.norm(model.label_vectors_, axis=1)
                seen = model.label_counts_ > 0
                rho = spearmanr(model.label_counts_[seen], norms[seen])[0]
                model.learners_ = [Remembering(learner) for learner in model.learners_]
                found = {
                    answer: {str(n): _by_groups(model, answer, n, X_test, Y_test) for n in LEARNERS}
                    for answer in ANSWERS
                }
                _keep(what | {"n_rows": X.shape[0], "cpu_s": cost, "rho": rho, "found": found})


def order(seeds: tuple[int, ...] = (0, 1, 2), n_rows: int = 5000) -> None:
    """See whether wordnet's hierarchy is in the places of its labels."""
    X, Y, *_ = _sampled("wordnet", n_rows)
    above, parents = hypernyms(Y)
    for dim in (2, 5, 10):
        for space in ("poincare", "euclidean"):
            for seed in seeds:
                what = {"study": "order", "space": space, "dim": dim, "seed": seed}
                if _done(what):
                    continue
                model = Hyperbolic(
                    space=space,
                    dim=dim,
                    n_learners=1,
                    random_state=seed,
                    n_threads=1,
                ).fit(X, Y)
                places = _centred(model)
                norms = np.linalg.norm(places, axis=1)
                seen = model.label_counts_ > 0
                _keep(
                    what
                    | {
                        "n_rows": X.shape[0],
                        "n_pairs": len(above),
                        "rho": spearmanr(model.label_counts_[seen], norms[seen])[0],
                        "ordered": np.mean(norms[above[:, 1]] < norms[above[:, 0]]),
                        "map": edge_precision(places, parents, np.flatnonzero(seen), space),
                    }
                )


def search(n_queries: int = 2000) -> None:
    """Compare searches among the rows of tibkat by one learner's places."""
    what = {"study": "search"}
    if _done(what):
        return
    X, Y, X_test, Y_test = _sampled("tibkat", None, n_queries)
    model = Hyperbolic(n_learners=1, answer="rows", random_state=0, n_threads=1)
    began = time.process_time()
    model.fit(X, Y)
    cost = time.process_time() - began
    learner = model.learners_[0]
    exact = learner.rows
    found = []
    for kind, n_probes in (
        ("exact", 1),
        ("centroids", 1),
        ("centroids", 2),
        ("centroids", 4),
        ("clustered", 8),
        ("clustered", 16),
        ("clustered", 32),
    ):
        learner.rows = PlaceIndex(
            model.space, exact.places, exact.ids, search=kind, n_probes=n_probes
        )
        points = learner.encoder.encode(model.rows_.encode(X_test))
        learner.rows.search(points[:10], 30)  # compiled before the clock starts
        began = time.process_time()
        learner.rows.search(points, 30)
        seconds = time.process_time() - began
        top = model.predict_topk(X_test, 5)
        found.append(
            {"search": kind, "n_probes": n_probes, "ms": 1000 * seconds / len(points)}
            | _precisions(Y_test, top)
        )
    _keep(what | {"n_rows": X.shape[0], "cpu_s": cost, "found": found})


def hypernyms(Y: csr_matrix, fewest: int = 5) -> tuple[NDArray[np.int64], dict[int, list[int]]]:
    """Return pairs (label, label above it), and the labels right above each label.

    A label is above another if it is on every row that has the other, and on more. Labels of fewer
    than ``fewest`` rows are left out below, since little can be said about them.
    """
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    together = csr_matrix((Y.T @ Y).astype(np.int64))
    lower = np.repeat(np.arange(Y.shape[1]), np.diff(together.indptr))
    upper = together.indices
    kept = (together.data == counts[lower]) & (counts[upper] > counts[lower])
    kept &= counts[lower] >= fewest
    pairs = np.column_stack((lower[kept], upper[kept]))
    above: dict[int, set[int]] = {}
    for label, higher in pairs.tolist():
        above.setdefault(label, set()).add(higher)
    parents = {
        label: [one for one in highers if not any(one in above.get(c, ()) for c in highers)]
        for label, highers in above.items()
    }
    return pairs, parents


def edge_precision(
    places: NDArray[Any], parents: dict[int, list[int]], seen: NDArray[np.int64], space: str
) -> float:
    """Return the mean average precision of finding a label's parents among its nearest labels."""
    labels = sorted(parents)
    distances = SPACES[space].distance
    precisions = []
    for label in labels:
        far = distances(places[label], places[seen])
        far[seen == label] = np.inf
        ranks = np.sort([1 + int((far < far[seen == one]).sum()) for one in parents[label]])
        precisions.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return float(np.mean(precisions))


def tables() -> str:
    """Return all tables as Markdown; a dash where nothing was measured."""
    lines = _lines()
    return "\n\n".join(
        [*_grid_tables(lines), _answer_table(lines), _order_table(lines), _search_table(lines)]
    )


def _grid_tables(lines: list[Line]) -> Iterator[str]:
    for corpus in N_ROWS:
        rows = [
            f"| {corpus}: dimension, learners | ball | sphere | euclidean |",
            "|---|---|---|---|",
        ]
        for dim in DIMS:
            for n in LEARNERS:
                cells = [_grid_cell(lines, corpus, space, dim, n) for space in SPACES]
                rows.append(f"| {dim}, {n} | " + " | ".join(cells) + " |")
        yield "\n".join(rows)


def _grid_cell(lines: list[Line], corpus: str, space: str, dim: int, n: int) -> str:
    line = _find(lines, {"study": "grid", "corpus": corpus, "space": space, "dim": dim})
    return "–" if line is None else _spread(line["found"]["both"][str(n)])


def _answer_table(lines: list[Line]) -> str:
    rows = ["| who votes in the ball | " + " | ".join(N_ROWS) + " |"]
    rows.append("|---" * (1 + len(N_ROWS)) + "|")
    for dim in (5, 50):
        for answer in ANSWERS:
            cells = []
            for corpus in N_ROWS:
                what = {"study": "grid", "corpus": corpus, "space": "poincare", "dim": dim}
                line = _find(lines, what)
                cells.append(
                    "–" if line is None else _spread(line["found"][answer][str(line["n_learners"])])
                )
            rows.append(f"| {answer}, dimension {dim} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _order_table(lines: list[Line]) -> str:
    rows = ["| space, dimension | norm and frequency, ρ | pairs in order | MAP of edges |"]
    rows.append("|---|---|---|---|")
    for dim in (2, 5, 10):
        for space in ("poincare", "euclidean"):
            what = {"study": "order", "space": space, "dim": dim}
            found = [line for line in lines if what.items() <= line.items()]
            cells = ["–"] * 3
            if found:
                cells = [
                    _mean([one["rho"] for one in found], 2),
                    _mean([100 * one["ordered"] for one in found], 1) + " %",
                    _mean([one["map"] for one in found], 3),
                ]
            rows.append(f"| {space}, {dim} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _search_table(lines: list[Line]) -> str:
    rows = ["| search | lists looked into | P@1 | P@3 | P@5 | CPU ms per row |", "|---" * 6 + "|"]
    line = _find(lines, {"study": "search"})
    for one in line["found"] if line else []:
        probes = "all" if one["search"] == "exact" else one["n_probes"]
        figures = " | ".join(f"{one[f'P@{k}']:.2f}" for k in (1, 3, 5))
        rows.append(f"| {one['search']} | {probes} | {figures} | {one['ms']:.3f} |")
    return "\n".join(rows)


def _spread(groups: list[dict[str, float]]) -> str:
    """Write P@1/3/5 as means over groups of learners, with the deviation of P@1."""
    if not groups:
        return "–"
    means = "/".join(f"{np.mean([one[f'P@{k}'] for one in groups]):.1f}" for k in (1, 3, 5))
    if len(groups) == 1:
        return means
    return f"{means} ± {np.std([one['P@1'] for one in groups], ddof=1):.1f}"


def _mean(values: list[float], digits: int) -> str:
    text = f"{np.mean(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ± {np.std(values, ddof=1):.{digits}f}"


def _centred(model: Hyperbolic) -> NDArray[Any]:
    """Return the labels' places, moved so that their weighted middle is that of the space."""
    places, counts = model.label_vectors_, model.label_counts_
    if model.space == "poincare":
        return poincare.mobius_add(-poincare.midpoint(places, counts), places)
    return places - np.average(places, axis=0, weights=counts)


class Remembering:
    """A learner that is always asked about the same rows, and searches once."""

    def __init__(self, learner: Any) -> None:
        self._learner = learner
        self._found: tuple[Found, Found] | None = None

    def search(self, X: csr_matrix, n_rows: int, n_labels: int) -> tuple[Found, Found]:
        if self._found is None:
            self._found = self._learner.search(X, 30, 50)
        rows, labels = self._found
        return (
            Found(rows.ids[:, :n_rows], rows.products[:, :n_rows]),
            Found(labels.ids[:, :n_labels], labels.products[:, :n_labels]),
        )


def _by_groups(
    model: Hyperbolic, answer: str, n: int, X: csr_matrix, Y: csr_matrix
) -> list[dict[str, float]]:
    """Return the precision of each disjoint group of ``n`` learners."""
    every, settings = model.learners_, model.settings_
    model.settings_ = settings | {"answer": answer}
    groups = []
    for start in range(0, len(every) - n + 1, n):
        model.learners_ = every[start : start + n]
        groups.append(_precisions(Y, model.predict_topk(X, 5)))
    model.learners_, model.settings_ = every, settings
    return groups


def _precisions(Y: csr_matrix, top: Any) -> dict[str, float]:
    figures = metrics.evaluate(Y, top, ks=(1, 3, 5))
    return {f"P@{k}": figures[f"P@{k}"] for k in (1, 3, 5)}


def _sampled(corpus: str, n_rows: int | None, n_test: int = N_TEST) -> list[csr_matrix]:
    folder = corpora.prepare(corpus).folder
    parts = []
    for part, size in (("train", n_rows), ("test", n_test)):
        X, Y = (csr_matrix(load_npz(folder / f"{part}_{name}.npz")) for name in "XY")
        rows = np.random.default_rng(0).permutation(X.shape[0])[:size]
        parts += [csr_matrix(X[np.sort(rows)]), csr_matrix(Y[np.sort(rows)])]
    return parts


def _lines() -> list[Line]:
    if not LINES.exists():
        return []
    return [json.loads(line) for line in LINES.read_text().splitlines()]


def _find(lines: list[Line], what: Line) -> Line | None:
    """Return the line of a study, that of most learners if there are several."""
    found = [line for line in lines if what.items() <= line.items()]
    return max(found, key=lambda line: line.get("n_learners", 0), default=None)


def _done(what: Line) -> bool:
    return _find(_lines(), what) is not None


def _keep(line: Line) -> None:
    LINES.parent.mkdir(exist_ok=True)
    with LINES.open("a") as file:
        file.write(json.dumps(line, default=float) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", choices=["grid", "order", "search", []])
    parser.add_argument("--learners", type=int, default=max(LEARNERS))
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if not asked.table:
        studies = {"grid": lambda: grid(asked.learners), "order": order, "search": search}
        for name in asked.studies or studies:
            studies[name]()
    print(tables())
