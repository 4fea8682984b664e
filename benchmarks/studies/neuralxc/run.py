"""What each part of NeuralXC is worth: ``study neuralxc``.

``figures``: P@k and nDCG@k for k = 1 … 5 on training and test rows, as in the report's figures 3 to
6, beside other methods; eurlex57k and wordnet are cut to 5,000 training rows.

``parts``: one choice changed at a time, weights of the reconstructions, dimension, sampling, what
encoders are shown. One network is trained for each, on bibtex and on 4,000 rows of delicious; with
and without the reconstructions, three seeds are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Stopwatch
from benchmarks.studies.neuralxc import page
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import metrics
from labelspace.models import make

MEASURED_ROWS = 2000


def figures() -> list[Trial]:
    """Return every method on every corpus where it is of use."""
    return [
        Trial("figures", corpus, title, parameters)
        for corpus in page.FIGURE_CORPORA
        for title, (_, parameters) in page.FIGURE_METHODS.items()
        if (title, corpus) not in page.LEFT_OUT
    ]


def parts() -> list[Trial]:
    """Return the variants, each with as many seeds as it gets."""
    return [
        Trial("parts", corpus, parameters=parameters, seed=seed)
        for corpus in page.PART_CORPORA
        for what, variants in page.PARTS.items()
        for parameters in variants
        if parameters not in page.NOTHING_NEW[corpus]
        for seed in range(page.SEVERAL_SEEDS.get(what, 1))
    ]


def measure_figures(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train a method as it comes."""
    method, parameters = page.FIGURE_METHODS[trial.variant]
    n_rows = page.FIGURE_CORPORA[trial.corpus]
    yield trial, _measured(trial, source, n_rows, method, parameters)


def measure_parts(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train one network."""
    parameters = {"n_learners": 1, **trial.parameters}
    n_rows = page.PART_CORPORA[trial.corpus]
    yield trial, _measured(trial, source, n_rows, "neuralxc", parameters)


def _measured(
    trial: Trial, source: Source, n_rows: int | None, method: str, parameters: dict[str, Any]
) -> Figures:
    X, Y, X_test, Y_test = _rows(source.split(trial.corpus), n_rows)
    with Stopwatch() as watch:
        model = make(method, **parameters, random_state=trial.seed, n_threads=1).fit(X, Y)
    some = slice(0, MEASURED_ROWS)
    found: Figures = {"n_rows": n_rows, "cpu_s": watch.cpu_s}
    for part, rows, labels in (("train", X[some], Y[some]), ("test", X_test, Y_test)):
        found[part] = metrics.evaluate(labels, model.predict_topk(rows, 5), ks=page.KS)
    return found


def _rows(split: Split, n_rows: int | None) -> Split:
    X, Y, X_test, Y_test = split
    kept = np.random.default_rng(0).permutation(X.shape[0])[:n_rows]
    asked = np.random.default_rng(1).permutation(X_test.shape[0])
    asked = asked[: 2 * MEASURED_ROWS] if n_rows else asked
    return Split(X[kept], Y[kept], X_test[asked], Y_test[asked])


STUDY = Study(
    "neuralxc",
    {
        "figures": Part(figures(), measure_figures),
        "parts": Part(parts(), measure_parts),
    },
    page.PAGE,
    page.tables,
    page.draw,
)
