"""What happens as a corpus grows: cuts of corpora, and updates of 1,000 rows.

``cuts``: so many of the training rows, measured on others, beside methods that the default is made
of, so that a setting which jumps with the number of rows would be seen. ``updates``: probabilities
before and after ten updates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.measure import Stopwatch
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Trial
from labelspace import metrics
from labelspace.models import make

HELD_OUT = 4000
UPDATE = 1000
N_UPDATES = 10
MEASURES = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@5")


def cuts(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train a method, the trial's variant, on so many rows; return the figures of others."""
    X, Y, *_ = source.split(trial.corpus)
    order = np.random.default_rng(trial.seed).permutation(X.shape[0])
    held, rest = np.split(order, [min(HELD_OUT, X.shape[0] // 5)])
    kept = np.sort(rest[: trial.parameters["rows"]])
    model: Any = make(trial.variant, random_state=trial.seed)
    with Stopwatch() as watch:
        model.fit(X[kept], Y[kept])
    found = metrics.evaluate(
        Y[held],
        model.predict_topk(X[held], 5),
        label_counts=model.label_counts_,
        n_examples=model.n_examples_,
    )
    yield trial, {**{name: found[name] for name in MEASURES}, "cpu_s": watch.cpu_s}


def updates(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train, then learn on from 1,000 rows ten times; return what probabilities are worth."""
    X, Y, *_ = source.split(trial.corpus)
    order = np.random.default_rng(trial.seed).permutation(X.shape[0])
    held, rest = np.split(order, [min(HELD_OUT, X.shape[0] // 5)])
    size = source.at_most(UPDATE) if not source.quick else 10
    first, later = np.split(rest, [rest.size - N_UPDATES * size])
    model: Any = make("labelspace", random_state=trial.seed).fit(X[first], Y[first])
    figures = _worth(model, X[held], Y[held], "before")
    with Stopwatch() as watch:
        for rows in np.split(later, N_UPDATES):
            model.partial_fit(X[rows], Y[rows])
    figures |= _worth(model, X[held], Y[held], "after")
    again: Any = make("labelspace", random_state=trial.seed).fit(X[rest], Y[rest])
    figures |= _worth(again, X[held], Y[held], "trained again")
    yield trial, {**figures, "cpu_s of updates": watch.cpu_s}


def _worth(model: Any, X: csr_matrix, Y: csr_matrix, when: str) -> Figures:
    top = model.predict_topk(X, 5)
    found = metrics.evaluate(Y, top)
    told = {name: found[name] for name in ("P@1", "P@3", "P@5")}
    told["ECE"] = metrics.calibration_error(Y, top)
    return {f"{name} {when}": value for name, value in told.items()}
