"""What each part of DXML is worth: ``study dxml``.

``parts``: the paper's Figure 2 (with and without the non-linearity), where label vectors come from,
which loss, how many clusters are searched, how many rows vote: each changed alone, on the given
files, over three seeds. Of delicious 4,000 training rows are used, for the time that it takes.
Variants of the default have one network, so that a network is what is measured.

``scaling``: the paper's preset as it is, and with label vectors, rows or both of length one.

``whole``: what the page's first table has of the default with one network, on all of delicious.

``append``: the second half of a corpus learned on top of the first.

``deep_walk``: vectors of labels, ours beside gensim's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize

from benchmarks.measure import Stopwatch
from benchmarks.studies.dxml import deep_walk, page
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from benchmarks.studies.told import changed
from labelspace import metrics
from labelspace.models import make
from labelspace.search.result import SearchResult
from labelspace.spaces import sphere
from labelspace.topk import TopK
from labelspace.voting import Votes

MOST_ROWS = {"delicious": 4000}
SEEDS = (0, 1, 2)


def parts() -> list[Trial]:
    """Return the plain ones of every corpus first."""
    return [
        Trial("parts", corpus, parameters=parameters, seed=seed)
        for variants in page.VARIANTS.values()
        for parameters in variants
        for seed in SEEDS
        for corpus in page.CORPORA
    ]


def whole_files() -> dict[str, list[Trial]]:
    """Return trials on all training rows, by part, those of a seed together."""
    return {
        "scaling": [
            Trial("scaling", corpus, parameters=parameters, seed=seed)
            for corpus, seeds in (("bibtex", SEEDS), ("delicious", SEEDS[:1]))
            for seed in seeds
            for parameters in page.SCALING.values()
        ],
        "whole": [
            Trial("whole", "delicious", parameters=parameters, seed=seed)
            for seed in SEEDS
            for parameters in page.FIRST_PARTS.values()
        ],
    }


SCALED = {"unit_labels": True, "normalize": True, "settings": {"n_clusters": None}}
"""What ``parts`` has of the paper's setting otherwise than its preset."""


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train once and return figures on the test rows, by the number of clusters searched."""
    X, Y, X_test, Y_test = source.split(trial.corpus)
    X, Y = X[: MOST_ROWS.get(trial.corpus)], Y[: MOST_ROWS.get(trial.corpus)]
    scaled = SCALED if "preset" in trial.parameters else {}
    model, cpu_s = _trained({**scaled, **trial.parameters}, trial.seed, X, Y)

    def asked() -> dict[str, float]:
        return _figures(Y_test, model.predict_topk(X_test, k=5))

    figures: Figures = {
        "test": asked(),
        "n_neighbors": model.settings_.n_neighbors,
        "cpu_s": cpu_s,
    }
    if trial.parameters in (page.ONE, page.PAPER):
        figures["placed by labels"] = _placed_by_labels(model, Y_test)
        figures |= {"probes": _by_probes(model, asked), "neighbors": {}}
        for n_neighbors in page.NEIGHBORS:
            with changed(model, n_neighbors=n_neighbors):
                figures["neighbors"][str(n_neighbors)] = asked()
    yield trial, figures


def measure_whole(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train once, on all rows and with nothing told but the parameters."""
    X, Y, X_test, Y_test = source.split(trial.corpus)
    model, cpu_s = _trained(trial.parameters, trial.seed, X, Y)
    yield (
        trial,
        {
            "test": _figures(Y_test, model.predict_topk(X_test, k=5)),
            "n_neighbors": model.settings_.n_neighbors,
            "cpu_s": cpu_s,
        },
    )


def _trained(
    parameters: Mapping[str, Any], seed: int, X: csr_matrix, Y: csr_matrix
) -> tuple[Any, float]:
    """Return a model and the seconds that it took."""
    model: Any = make("dxml", **parameters, random_state=seed, n_threads=1)
    with Stopwatch() as watch:
        model.fit(X, Y)
    return model, watch.cpu_s


def _by_probes(model: Any, asked: Callable[[], dict[str, float]]) -> Figures:
    (learner,) = model.learners_
    chosen = learner.rows.n_probes
    found = {}
    for n_probes in page.PROBES:
        learner.rows.n_probes = n_probes
        found[str(n_probes)] = asked()
    learner.rows.n_probes = chosen
    return found


def _placed_by_labels(model: Any, Y: csr_matrix) -> dict[str, float]:
    """Return figures if rows lay where their labels say, instead of where a network puts them."""
    (learner,) = model.learners_
    V = learner.labels.vectors(np.arange(learner.labels.n_keys))[:, :-1]
    T = sphere.queries(np.asarray(normalize(Y, norm="l1") @ V, dtype=np.float32))
    found = learner.rows.search(T, model.settings_.n_neighbors)
    if model.settings_.voting == "counts":
        return _figures(Y, Votes.counted(found).top(model.Y_, 5))
    none = SearchResult.none(len(T), 0)
    votes = Votes.weighted(found, none, model.settings_.vote_gamma, 0.0)
    return _figures(Y, votes.top(model.Y_, 5))


def append(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn half of the rows, then the other half on top; the benchmarks learn all at once."""
    X, Y, X_test, Y_test = source.split(trial.corpus)
    rows = np.random.default_rng(trial.seed).permutation(X.shape[0])
    first, second = (np.sort(half) for half in np.array_split(rows, 2))
    model: Any = make("dxml", random_state=trial.seed, n_threads=1)
    seen = np.flatnonzero(np.bincount(Y[first].indices, minlength=Y.shape[1]))
    # Labels that only the second half has are new to the model: they come last.
    order = np.concatenate((seen, np.setdiff1d(np.arange(Y.shape[1]), seen)))
    Y, Y_test = csr_matrix(Y[:, order]), csr_matrix(Y_test[:, order])
    figures: Figures = {"new_labels": int(Y.shape[1] - seen.size)}
    with Stopwatch() as watch:
        model.fit(X[first], Y[first][:, : seen.size])
    top = model.predict_topk(X_test, k=5)
    figures["first half"] = _figures(Y_test, top) | {"cpu_s": watch.cpu_s}
    with Stopwatch() as watch:
        model.partial_fit(X[second], Y[second])
    top = model.predict_topk(X_test, k=5)
    figures["second half on top"] = _figures(Y_test, top) | {"cpu_s": watch.cpu_s}
    yield trial, figures


def _figures(Y: csr_matrix, top: TopK) -> dict[str, float]:
    found = metrics.evaluate(Y, top)
    return {name: found[name] for name in page.TABLES}


STUDY = Study(
    "dxml",
    {
        "parts": Part(parts(), measure),
        **{name: Part(trials, measure_whole) for name, trials in whole_files().items()},
        "append": Part([Trial("append", "eurlex57k")], append),
        "deep_walk": Part(
            [Trial("deep_walk", corpus) for corpus in page.GRAPHS], deep_walk.measure
        ),
    },
    page.PAGE,
    page.tables,
    page.draw,
)
