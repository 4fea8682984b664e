"""Searches of a space against each other, and who should vote: ``study hyperbolic search``.

``search``: among the rows of tibkat by one learner's points. ``together``: the same with three
learners and votes of labels. ``lists``: one learner of ``preset="paper"`` of wordnet, asked with
the preset's own votes while it looks into few lists, or into all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import labelspace
from benchmarks.measure import Stopwatch
from benchmarks.studies.hyperbolic.page import ANSWERS
from benchmarks.studies.hyperbolic.passes import counted
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Figures, Trial
from benchmarks.studies.told import changed
from labelspace import metrics
from labelspace.models import make
from labelspace.models.hyperbolic.metric_index import MetricIndex
from labelspace.search.result import SearchResult
from labelspace.topk import TopK
from labelspace.voting import Votes

SEARCHES: list[tuple[str, int]] = [
    ("exact", 1),
    *[("centroids", n_probes) for n_probes in (1, 2, 4, 8)],
    *[("kmeans", n_probes) for n_probes in (8, 16, 24, 32)],
]
"""Kind, and lists looked into: of one in 3,000 rows, or of the root of their number."""


def search(trial: Trial, source: Source, n_queries: int = 2000) -> Iterator[tuple[Trial, Figures]]:
    """Compare searches by what one learner's rows answer, and who votes."""
    split = source.split(trial.corpus).drawn(None, n_queries)
    model = trained(source, split, "hyperbolic-tibkat").set_params(use_learners=1, n_threads=1)
    figures: Figures = {"n_rows": split.X.shape[0], "n_test": split.X_test.shape[0]}
    figures |= {"answers": {}, "found": []}
    for answer in ANSWERS:
        with changed(model, answer=answer):
            top = model.predict_topk(split.X_test, 5)
        figures["answers"][answer] = precisions(split, top)
    learner = model.learners_[0]
    exact = learner.rows
    points = learner.encoder.encode(model.rows_.encode(split.X_test))
    n_neighbors = model.settings_.n_neighbors
    for kind, n_probes in SEARCHES:
        learner.rows = _index(exact, kind, n_probes)
        learner.rows.search(points[:10], n_neighbors)  # compiled before the clock starts
        with Stopwatch() as watch:
            learner.rows.search(points, n_neighbors)
        with changed(model, answer="rows"):
            top = model.predict_topk(split.X_test, 5)
        figures["found"].append(_line(kind, n_probes, watch.cpu_s, split, top))
    yield trial, figures


def together(
    trial: Trial, source: Source, n_queries: int = 4000
) -> Iterator[tuple[Trial, Figures]]:
    """Compare searches by what three learners and their labels answer."""
    split = source.split(trial.corpus).drawn(None, n_queries)
    model = trained(source, split, "hyperbolic-tibkat").set_params(n_threads=1)
    points = model.rows_.encode(split.X_test)
    labels = [learner.search(points, 1, 50)[1] for learner in model.learners_]
    label_votes = model.settings_.label_votes
    share = label_votes / (1.0 + label_votes)
    alphas = model.settings_.vote_alpha, model.settings_.alpha
    found = []
    for kind, n_probes in (("exact", 1), ("kmeans", 16), ("kmeans", 24)):
        rows: list[SearchResult] = []
        seconds = 0.0
        for learner in model.learners_:
            U = learner.encoder.encode(points)
            index = _index(learner.rows, kind, n_probes)
            with Stopwatch() as watch:
                rows.append(index.search(U, model.settings_.n_neighbors))
            seconds += watch.cpu_s
        top = Votes.by_distance(rows, labels, *alphas, share).top(model.Y_, 5)
        found.append(_line(kind, n_probes, seconds, split, top))
    yield trial, {"n_rows": model.n_examples_, "found": found}


def lists(trial: Trial, source: Source, n_queries: int = 4000) -> Iterator[tuple[Trial, Figures]]:
    """Let one learner as the publication has it look into few of its lists, and into all."""
    split = source.split(trial.corpus).drawn(None, n_queries)
    model: Any = make("hyperbolic", **trial.parameters, random_state=trial.seed, n_threads=1)
    with Stopwatch() as watch, counted() as learners:
        model.fit(split.X, split.Y)
    [index] = [learner.rows for learner in model.learners_]
    n_lists = len(index.centroids)
    figures: Figures = {"n_rows": index.n_points, "n_lists": n_lists, "cpu_s": watch.cpu_s}
    figures |= {"n_test": split.X_test.shape[0], "passes": learners[0].made, "found": []}
    model.predict_topk(split.X_test[:10], 5)  # compiled before the clock starts
    for n_probes in (n_lists, *(n for n in (1, 2, 4, 8) if n < n_lists)):
        index.n_probes = n_probes
        with Stopwatch() as watch:
            top = model.predict_topk(split.X_test, 5)
        figures["found"].append(_line("centroids", n_probes, watch.cpu_s, split, top))
    yield trial, figures


def trained(source: Source, split: Split, name: str, **parameters: Any) -> Any:
    """Return a model of all rows, trained once and kept."""
    home = source.cache / name
    if not home.exists():
        model = make("hyperbolic", random_state=0, n_threads=1, **parameters)
        model.fit(split.X, split.Y).save(home)
    return labelspace.load(home)


def precisions(split: Split, top: TopK) -> dict[str, float]:
    """Return P@1, P@3 and P@5 of answers for the test rows."""
    figures = metrics.evaluate(split.Y_test, top, ks=(1, 3, 5))
    return {f"P@{k}": figures[f"P@{k}"] for k in (1, 3, 5)}


def _index(exact: MetricIndex, kind: str, n_probes: int) -> MetricIndex:
    return MetricIndex(exact.space, exact.points, exact.ids, search=kind, n_probes=n_probes)


def _line(kind: str, n_probes: int, seconds: float, split: Split, top: TopK) -> Figures:
    costs = {"search": kind, "n_probes": n_probes, "ms": 1000 * seconds / len(top)}
    return costs | precisions(split, top)
