"""What the ball is worth: ``python -m benchmarks.ablations.hyperbolic [grid] [order] ...``.

Studies of ``Hyperbolic``, each of many small trainings; what is there is not repeated. At the end
``hyperbolic_page`` writes the tables and plots of the method's page.

``grid``    the same model in the ball, on the sphere and in euclidean space, by dimension and
            learners, on a sample of the rows. A model of 15 learners is also 15 models of one,
            five of three and two of six: means and deviations are over those groups, which share
            nothing but the rows. The weights of votes are chosen for every cell of the table on
            rows that are neither learned from nor tested on, and so is the step size on wordnet.
``full``    the same on all rows, with three learners.
``order``   wordnet's labels are hypernyms: do general ones lie nearer to the middle, and are the
            nearest labels of a label its hypernyms?
``learners`` how many are needed, on all of wordnet in 50 dimensions.
``search``  approximate search against exact search on tibkat, and who should vote.
``together`` the same with three learners and votes of labels.
``paper``   the publication's map, steps and votes on the same samples as the grid.

``--dims 5,10`` restricts the grid and ``--render`` only writes the page.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz
from scipy.stats import spearmanr

import labelspace
from benchmarks import corpora
from benchmarks.results import RESULTS
from labelspace import metrics
from labelspace.models import Hyperbolic
from labelspace.models.hyperbolic.metric_index import SPACES, MetricIndex
from labelspace.search.result import SearchResult
from labelspace.spaces import poincare
from labelspace.voting import Votes

FILE = RESULTS / "ablations" / "hyperbolic.jsonl"
CORPORA = ("wordnet", "delicious")
N_ROWS, N_CHOOSE, N_TEST = 2000, 500, 2000
"""Rows to learn from, to choose the weights of votes by, both of train, and to test on."""
DIMS = (5, 10, 25, 50)
TRAINED = {5: 15, 10: 6, 25: 3, 50: 3}
"""Learners by dimension: the claim is about few dimensions."""
STEPS = {"wordnet": (0.4, 1.0), "delicious": (0.4,)}
"""Step sizes, of which each space gets the better one: long ones fit rare words, not dense rows."""
LEARNERS = (1, 3, 6, 9, 12, 15)
ANSWERS = ("both", "rows", "labels")
WEIGHTS = [(factor, votes) for factor in (0.25, 0.5, 1.0, 2.0, 4.0) for votes in (0.0, 0.5)]
"""What is tried for every cell: α of the rows' votes by that of the loss, and what all labels count
against all rows."""

Line = dict[str, Any]
Near = list[tuple[SearchResult, SearchResult]]


def grid(dims: tuple[int, ...] = DIMS) -> None:
    """Train every space and dimension on samples of both corpora."""
    for dim in dims:
        for corpus in CORPORA:
            for space, pace in product(SPACES, STEPS[corpus]):
                what = {"study": "grid", "corpus": corpus, "space": space, "dim": dim}
                _compare(what | {"learning_rate": pace}, N_ROWS, TRAINED[dim])


def full(dims: tuple[int, ...] = (5, 10), n_learners: int = 3) -> None:
    """Train every space on all rows but those to choose by, with a few learners."""
    for dim, corpus, space in product(dims, CORPORA, SPACES):
        what = {"study": "full", "corpus": corpus, "space": space, "dim": dim}
        _compare(what | {"learning_rate": STEPS[corpus][0]}, None, n_learners)


def _compare(what: Line, n_rows: int | None, n_learners: int) -> None:
    if _done(what):
        return
    X, Y, X_choose, Y_choose, X_test, Y_test = _sampled(what["corpus"], n_rows)
    model = Hyperbolic(
        space=what["space"],
        dim=what["dim"],
        n_learners=n_learners,
        learning_rate=what["learning_rate"],
        vote_alpha=1.0,  # given, so that nothing is chosen while training
        label_votes=0.5,
        random_state=0,
        n_threads=1,
    )
    began = time.process_time()
    model.fit(X, Y)
    cost = time.process_time() - began
    choose, test = (_near(model, rows) for rows in (X_choose, X_test))
    found = {
        answer: {
            str(n): _cell(model, n, answer, choose, Y_choose, test, Y_test)
            for n in (LEARNERS if answer == "both" else (3,))
            if n <= n_learners
        }
        for answer in (ANSWERS if model.space == "poincare" else ["both"])
    }
    _keep(
        what
        | {"n_learners": n_learners, "n_rows": X.shape[0], "cpu_s": cost}
        | {"alpha": model.settings_["alpha"], "rho": _rho(model), "found": found}
    )


def order(seeds: tuple[int, ...] = (0, 1, 2), dims: tuple[int, ...] = (2, 5, 10)) -> None:
    """See whether wordnet's hierarchy is in the places of its labels."""
    X, Y = _sampled("wordnet", 5000)[:2]
    above, parents = hypernyms(Y)
    for dim in dims:
        for space in ("poincare", "euclidean"):
            for seed in seeds:
                what = {"study": "order", "space": space, "dim": dim, "seed": seed}
                if _done(what):
                    continue
                model = Hyperbolic(
                    space=space, dim=dim, n_learners=1, random_state=seed, n_threads=1
                ).fit(X, Y)
                places = _centred(model)
                norms = SPACES[space].distance(places, np.zeros(dim))
                seen = np.flatnonzero(model.label_counts_)
                line = what | {
                    "n_rows": X.shape[0],
                    "n_pairs": len(above),
                    "rho": spearmanr(model.label_counts_[seen], norms[seen])[0],
                    "ordered": np.mean(norms[above[:, 1]] < norms[above[:, 0]]),
                    "map": edge_precision(places, parents, seen, space),
                }
                if dim == 2 and seed == 0:
                    # For the plots: each label's place and the number of its rows.
                    line["labels"] = seen.tolist()
                    line["places"] = np.round(places[seen], 4).tolist()
                    line["counts"] = model.label_counts_[seen].tolist()
                _keep(line)


def learners(n_queries: int = 4000) -> None:
    """Ask the first few of fifteen learners of all of wordnet."""
    if _done({"study": "learners"}):
        return
    X, Y, X_test, Y_test = _whole("wordnet", n_queries)
    home = corpora.CACHE / "hyperbolic-wordnet"
    if not home.exists():
        Hyperbolic(n_learners=max(LEARNERS), random_state=0, n_threads=1).fit(X, Y).save(home)
    model = labelspace.load(home)
    found = {}
    for n in LEARNERS:
        model.set_params(use_learners=n)
        found[str(n)] = _precisions(Y_test, model.predict_topk(X_test, 5))
    _keep({"study": "learners", "corpus": "wordnet", "n_test": X_test.shape[0], "found": found})


def search(n_queries: int = 2000) -> None:
    """Compare searches among the rows of tibkat by one learner's places, and who votes."""
    if _done({"study": "search"}):
        return
    X, Y, X_test, Y_test = _whole("tibkat", n_queries)
    home = corpora.CACHE / "hyperbolic-tibkat"
    if not home.exists():
        Hyperbolic(random_state=0, n_threads=1).fit(X, Y).save(home)
    model = labelspace.load(home).set_params(use_learners=1, n_threads=1)
    line: Line = {"study": "search", "n_rows": X.shape[0], "n_test": X_test.shape[0]}
    line["answers"] = {}
    for answer in ANSWERS:
        model.settings_["answer"] = answer
        line["answers"][answer] = _precisions(Y_test, model.predict_topk(X_test, 5))
    model.settings_["answer"] = "rows"
    learner = model.learners_[0]
    exact = learner.rows
    points = learner.encoder.encode(model.rows_.encode(X_test))
    n_neighbors = model.settings_["n_neighbors"]
    found = []
    for kind, n_lists, n_probes in SEARCHES:
        learner.rows = MetricIndex(
            model.space, exact.places, exact.ids, search=kind, n_lists=n_lists, n_probes=n_probes
        )
        learner.rows.search(points[:10], n_neighbors)  # compiled before the clock starts
        began = time.process_time()
        learner.rows.search(points, n_neighbors)
        seconds = time.process_time() - began
        found.append(
            {"search": kind, "n_lists": n_lists, "n_probes": n_probes}
            | {"ms": 1000 * seconds / len(points)}
            | _precisions(Y_test, model.predict_topk(X_test, 5))
        )
    _keep(line | {"found": found})


def together(n_queries: int = 4000) -> None:
    """Compare searches of tibkat's rows by what three learners and their labels answer."""
    if _done({"study": "together"}):
        return
    *_, X_test, Y_test = _whole("tibkat", n_queries)
    model = labelspace.load(corpora.CACHE / "hyperbolic-tibkat").set_params(n_threads=1)
    points = model.rows_.encode(X_test)
    labels = [learner.search(points, 1, 50)[1] for learner in model.learners_]
    chosen = model.settings_
    share = chosen["label_votes"] / (1.0 + chosen["label_votes"])
    found = []
    for kind, n_probes in (("exact", 1), ("kmeans", 16), ("kmeans", 24)):
        rows, seconds = [], 0.0
        for learner in model.learners_:
            U = learner.encoder.encode(points)
            index = MetricIndex(
                model.space, learner.rows.places, learner.rows.ids, search=kind, n_probes=n_probes
            )
            began = time.process_time()
            rows.append(index.search(U, chosen["n_neighbors"]))
            seconds += time.process_time() - began
        votes = Votes.by_distance(rows, labels, chosen["vote_alpha"], chosen["alpha"], share)
        found.append(
            {"search": kind, "n_lists": None, "n_probes": n_probes}
            | {"ms": 1000 * seconds / X_test.shape[0]}
            | _precisions(Y_test, votes.top(model.Y_, 5))
        )
    _keep({"study": "together", "n_rows": model.n_examples_, "found": found})


SEARCHES: list[tuple[str, int | None, int]] = [
    ("exact", None, 1),
    *[("centroids", None, n_probes) for n_probes in (1, 2, 4, 8)],
    *[("clustered", None, n_probes) for n_probes in (16, 32, 64)],
    *[("kmeans", None, n_probes) for n_probes in (8, 16, 24, 32)],
]
"""Kind, lists (None: one in 3,000 rows, or the root of their number) and lists looked into."""


def paper() -> None:
    """Train the publication's model on the samples of the grid."""
    for corpus in CORPORA:
        what = {"study": "paper", "corpus": corpus}
        if not _done(what):
            X, Y, _, _, X_test, Y_test = _sampled(corpus)
            began = time.process_time()
            model = Hyperbolic(preset="paper", n_learners=3, random_state=0, n_threads=1).fit(X, Y)
            cost = time.process_time() - began
            _keep(what | {"cpu_s": cost} | _precisions(Y_test, model.predict_topk(X_test, 5)))


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
    distances = SPACES[space].distance
    precisions = []
    for label in sorted(parents):
        far = distances(places[label], places[seen])
        far[seen == label] = np.inf
        ranks = np.sort([1 + int((far < far[seen == one]).sum()) for one in parents[label]])
        precisions.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return float(np.mean(precisions))


def _cell(
    model: Hyperbolic,
    n: int,
    answer: str,
    choose: Near,
    Y_choose: csr_matrix,
    test: Near,
    Y_test: csr_matrix,
) -> Line:
    """Choose weights with the first ``n`` learners; return what each group of ``n`` answers."""

    n_neighbors = 80 if n <= 3 else 30

    def precisions(near: Near, weights: tuple[float, float], Y: csr_matrix) -> Line:
        factor, label_votes = weights
        share = {"rows": 0.0, "labels": 1.0}.get(answer, label_votes / (1.0 + label_votes))
        alpha = model.settings_["alpha"]
        rows = [
            SearchResult(one.ids[:, :n_neighbors], one.products[:, :n_neighbors]) for one, _ in near
        ]
        votes = Votes.by_distance(rows, [one for _, one in near], factor * alpha, alpha, share)
        return _precisions(Y, votes.top(model.Y_, 5))

    tried = [one for one in WEIGHTS if answer == "both" or one[1] == 0.0]
    if answer == "labels":
        tried = tried[:1]
    sums = [sum(precisions(choose[:n], weights, Y_choose).values()) for weights in tried]
    weights = tried[int(np.argmax(sums))]
    starts = range(0, len(test) - n + 1, n)
    groups = [precisions(test[start : start + n], weights, Y_test) for start in starts]
    return {"weights": weights, "chosen_by": max(sums), "groups": groups}


def _near(model: Hyperbolic, X: csr_matrix) -> Near:
    X = model.rows_.encode(X)
    return [learner.search(X, 80, 50) for learner in model.learners_]


def _rho(model: Hyperbolic) -> float:
    """Return Spearman's correlation of a label's rows and its distance from the middle."""
    seen = np.flatnonzero(model.label_counts_)
    norms = np.linalg.norm(_centred(model)[seen], axis=1)
    return float(spearmanr(model.label_counts_[seen], norms)[0])


def _centred(model: Hyperbolic) -> NDArray[Any]:
    """Return the labels' places, moved so that their weighted middle is that of the space."""
    places, counts = model.label_vectors_, model.label_counts_
    if model.space == "poincare":
        return poincare.mobius_add(-poincare.midpoint(places, counts), places)
    return places - np.average(places, axis=0, weights=counts)


def _precisions(Y: csr_matrix, top: Any) -> dict[str, float]:
    figures = metrics.evaluate(Y, top, ks=(1, 3, 5))
    return {f"P@{k}": round(figures[f"P@{k}"], 3) for k in (1, 3, 5)}


def _sampled(corpus: str, n_rows: int | None = N_ROWS) -> list[csr_matrix]:
    """Return rows to learn from, to choose by and to test on, drawn once for all studies."""
    folder = corpora.prepare(corpus).folder
    parts = []
    for part in ("train", "test"):
        X, Y = (csr_matrix(load_npz(folder / f"{part}_{name}.npz")) for name in "XY")
        mixed = np.random.default_rng(0).permutation(X.shape[0])
        n_learned = X.shape[0] - N_CHOOSE if n_rows is None else n_rows
        sizes = (n_learned, N_CHOOSE) if part == "train" else (N_TEST,)
        for rows in np.split(mixed, np.cumsum(sizes))[: len(sizes)]:
            parts += [csr_matrix(X[np.sort(rows)]), csr_matrix(Y[np.sort(rows)])]
    return parts


def _whole(corpus: str, n_test: int) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]:
    folder = corpora.prepare(corpus).folder
    X, Y, X_test, Y_test = (
        csr_matrix(load_npz(folder / f"{part}_{name}.npz"))
        for part in ("train", "test")
        for name in "XY"
    )
    rows = np.sort(np.random.default_rng(0).permutation(X_test.shape[0])[:n_test])
    return X, Y, csr_matrix(X_test[rows]), csr_matrix(Y_test[rows])


def read() -> list[Line]:
    """Return the lines of all studies."""
    if not FILE.exists():
        return []
    return [json.loads(line) for line in FILE.read_text().splitlines()]


def _done(what: Line) -> bool:
    return any(what.items() <= line.items() for line in read())


def _keep(line: Line) -> None:
    FILE.parent.mkdir(exist_ok=True)
    with FILE.open("a") as file:
        file.write(json.dumps(line, default=float) + "\n")


STUDIES = {"grid": grid, "full": full, "order": order, "learners": learners, "search": search}
STUDIES |= {"together": together, "paper": paper}

if __name__ == "__main__":
    from benchmarks.ablations import hyperbolic_page

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, []])
    parser.add_argument("--dims", default=",".join(map(str, DIMS)))
    parser.add_argument("--render", action="store_true")
    asked = parser.parse_args()
    if not asked.render:
        dims = tuple(int(dim) for dim in asked.dims.split(","))
        for name in asked.studies or STUDIES:
            grid(dims) if name == "grid" else STUDIES[name]()
    hyperbolic_page.render(read())
