"""What each kind of evidence is worth: the stack learned again without it.

Candidates stay those of the whole, spaces and classifiers are trained once; only what the stack is
told of a candidate changes, on the rows held out of training and on those it is measured on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.measure import Stopwatch
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Trial
from labelspace import metrics
from labelspace.csr import empty_csr
from labelspace.models import make
from labelspace.models.labelspace import model as inside
from labelspace.models.labelspace.candidates import Candidates
from labelspace.models.labelspace.cross_fitting import CrossFit
from labelspace.models.labelspace.stacking import Stacker, best_candidates, learn_stacker

MOST_HELD_OUT = 4000
MEASURES = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5")
WHOLE = "as it is"

Told = tuple[Candidates, NDArray[np.int64], csr_matrix]


def _nothing(*names: str) -> Callable[[Told], Told]:
    """Return what takes figures of candidates away."""

    def take(told: Told) -> Told:
        gone = {name: np.zeros_like(getattr(told[0], name)) for name in names}
        return told[0]._replace(**gone), told[1], told[2]

    return take


def _alone(told: Told) -> Told:
    return told[0], told[1], empty_csr(*told[2].shape)


def _one_band(told: Told) -> Told:
    """Let all labels be equally frequent: terms of frequency are 0 there."""
    return told[0], np.full(told[1].shape, round(np.exp(4.0) - 1.0)), told[2]


WITHOUT: dict[str, Callable[[Told], Told]] = {
    "without votes": _nothing("shares", "nearest", "n_voters", "rows"),
    "without classifiers": _nothing("margins"),
    "without nearness of labels": _nothing("cosines"),
    "without nearness of neighbours": _nothing("nearest", "n_voters", "rows"),
    "without partners": _alone,
    "without frequency": _one_band,
}
ALONE = {"votes alone": "shares", "classifiers alone": "margins"}


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on most of the training rows; yield the figures of the others, kind by kind."""
    X, Y, *_ = source.split(trial.corpus)
    order = np.random.default_rng(trial.seed).permutation(X.shape[0])
    held, kept = np.split(order, [min(MOST_HELD_OUT, X.shape[0] // 5)])
    model: Any = make("labelspace", random_state=trial.seed, **trial.parameters)
    heard: list[Any] = []

    def listening(*told: Any, **how: Any) -> Stacker:
        heard[:] = told
        return learn_stacker(*told, **how)

    with Stopwatch() as watch, patch.object(inside, "learn_stacker", listening):
        model.fit(X[kept], Y[kept])

    def figures(labels: NDArray[np.int64], scores: NDArray[np.float32]) -> Figures:
        top = best_candidates(labels, scores, 5)
        counts = {"label_counts": model.label_counts_, "n_examples": model.n_examples_}
        found = metrics.evaluate(Y[held], top, **counts)
        return {name: found[name] for name in MEASURES} | {"cpu_s": watch.cpu_s}

    rows = model.rows_.encode(csr_matrix(X[held], dtype=np.float32))
    asked = model._evidence(model.classifiers_, model.label_centroids_).candidates(rows)
    candidates, truth, *context = heard
    if not trial.variant:
        learned = candidates, *context
        new = asked, model.label_counts_, model.partners_
        for name, take in WITHOUT.items():
            stacker = _learned(take(learned), truth, model.settings_.n_trees)
            scores = stacker.probabilities(*take(new))
            yield replace(trial, variant=name), figures(asked.labels, scores)
        stacker = _learned(learned, truth, 0)
        scores = stacker.probabilities(*new)
        yield replace(trial, variant="without trees"), figures(asked.labels, scores)
        scores = Stacker().probabilities(*new)
        yield replace(trial, variant="fixed weights"), figures(asked.labels, scores)
        for name, by in ALONE.items():
            yield replace(trial, variant=name), figures(asked.labels, np.exp(getattr(asked, by)))
    told = asked, model.label_counts_, model.partners_
    yield trial, figures(asked.labels, model.stacker_.probabilities(*told))


def _learned(told: Told, truth: csr_matrix, n_trees: int) -> Stacker:
    candidates, counts, partners = told
    halves = CrossFit(candidates, truth, counts, partners, n_trees=n_trees)
    n_best = halves.n_trees_for_all(halves.best_n_trees())
    return learn_stacker(candidates, truth, counts, partners, n_trees=n_best)
