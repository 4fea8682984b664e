"""What each part of GLaS is worth: ``study glas``.

``parts``: the paper's Table 1 (one choice changed at a time), Table 2 (gap between training and
test) and Figure 1 (both over epochs), on our corpora. Regularisers are compared over three seeds,
other choices with one. All but the last variant are the network alone, without the linear map
beside it. Trials on wordnet see 5,000 rows in 128 dimensions, so that all fit into an hour.

``sources``: what the figures come from. The paper's base setting, the network of the default and
the linear map beside it, each alone, on the files as given, over three seeds; with one seed the
paper's base setting with one choice changed.

``tail``: the default with and without its preference for rare labels, and others beside it, by PSP
of both kinds. On the larger corpora one training of the default gives both ways.

``theory``: how many dimensions labels need. ``cost``: seconds and memory as labels grow.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.preprocessing import normalize

from benchmarks.measure import Stopwatch
from benchmarks.studies.glas import cost, page, theory
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import metrics
from labelspace.models import make
from labelspace.models.glas import model as glas_model
from labelspace.models.glas.concatenated import columns_in_use, columns_of
from labelspace.topk import TopK

MEASURED_ROWS = 2000
AT_A_SIZE_FOR_CPUS = {
    "keep_duplicates": False,
    "rescale_kept": True,
    "normalize": True,
    "validation": 0.0,
}
"""What the parts have otherwise than ``preset="paper"``, which is in ``sources``."""
AS_LEARNED = {"storage": "float32", "search": "exact"}
"""Networks are measured as they are, without what makes them small and quick to ask."""


def parts() -> list[Trial]:
    """Return the comparison of regularisers first."""
    seeds = [
        Trial("parts", corpus, parameters=parameters, seed=seed)
        for parameters in page.REGULARIZERS
        for corpus in page.CORPORA
        for seed in page.SEEDS
    ]
    others = [
        Trial("parts", corpus, parameters=parameters, seed=page.SEEDS[0])
        for variants in page.VARIANTS.values()
        for parameters in variants
        for corpus in page.CORPORA
    ]
    return list({trial.identity(): trial for trial in seeds + others}.values())


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train once and return what every epoch gives on training and test rows."""
    n_rows, shared = page.CORPORA[trial.corpus]
    split = _with_labels(source.split(trial.corpus), n_rows)
    paper = AT_A_SIZE_FOR_CPUS if "preset" in trial.parameters else {}
    given = {**AS_LEARNED, "linear_dim": 0, **paper, **shared, **trial.parameters}
    model: Any = make("glas", **given, random_state=trial.seed, n_threads=1)
    watching = nullcontext() if given["linear_dim"] else _watching_test_rows(split)
    with watching, Stopwatch() as watch:
        model.fit(split.X, split.Y)
    top = model.predict_topk(split.X_test, 5)
    figures: Figures = {"test": _figures(split, top), "cpu_s": watch.cpu_s}
    if not given["linear_dim"]:
        history = model.history_
        figures["train_curve"] = [round(value, 2) for value in history["train P@1"]]
        figures["test_curve"] = [round(value, 2) for value in history["P@1"]]
    yield trial, figures


def sources() -> list[Trial]:
    """Return what the figures may come from, the first seed of all first."""
    return [
        Trial("sources", corpus, title, parameters, seed)
        for seed in page.SEEDS
        for title, (parameters, measured_on) in page.SOURCES.items()
        for corpus in measured_on
        if seed == page.SEEDS[0] or title not in page.ONE_SEED
    ]


def measure_source(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train as the trial says, and ask all of the model or its linear map alone."""
    split = source.split(trial.corpus)
    parameters, _ = page.SOURCES[trial.variant]
    model: Any = make("glas", **parameters, random_state=trial.seed, n_threads=1)
    with Stopwatch() as watch:
        model.fit(split.X, split.Y)
    if trial.variant == page.MAP_ALONE:
        top = _answers_of_map(model, split.X_test)
    else:
        top = model.predict_topk(split.X_test, 5)
    yield trial, {"test": _figures(split, top), "cpu_s": watch.cpu_s}


def _answers_of_map(model: Any, X: csr_matrix) -> TopK:
    """Return the labels that the map's inner products alone put first: nothing is added to them."""
    embedding = model.embedding_
    encoder = embedding.encoder
    Z = encoder.split(encoder.encode(model.rows_.encode(X)))[-1]
    scores = Z @ encoder.split(embedding.vectors)[-1].T
    best = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    return TopK(embedding.labels[best], np.take_along_axis(scores, best, axis=1))


def tail() -> list[Trial]:
    """Return what is compared by PSP; the default comes with itself without its preference."""
    return [
        Trial("tail", corpus, title, parameters)
        for corpus in page.TAIL_CORPORA
        for title, (_, parameters) in page.TAIL.items()
        if title == page.NOTHING_ADDED or (corpus in page.BOTH and title != page.DEFAULT)
    ]


def measure_tail(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train a method as it comes, or with what the trial says; the default gives both ways."""
    split = source.split(trial.corpus)
    if trial.variant == page.NOTHING_ADDED:
        yield from _with_and_without(trial, split)
        return
    method, parameters = page.TAIL[trial.variant]
    model: Any = make(method, **parameters, random_state=trial.seed, n_threads=1)
    with Stopwatch() as watch:
        model.fit(split.X, split.Y)
    figures = _figures(split, model.predict_topk(split.X_test, 5))
    yield trial, {"test": figures, "cpu_s": watch.cpu_s}


def _with_and_without(trial: Trial, split: Split) -> Iterator[tuple[Trial, Figures]]:
    """Train the default once: what is added to rare labels' scores enters only at the index."""
    model: Any = make("glas", random_state=trial.seed, n_threads=1)
    with Stopwatch() as watch, mock.patch.object(model, "_build_index"):
        model.fit(split.X, split.Y)
    default = Trial("tail", trial.corpus, page.DEFAULT, seed=trial.seed)
    # An index rounds the vectors that it is made of: each is made from what was learned.
    vectors = model.embedding_.exact_vectors
    for asked, preference in ((default, model.settings_.tail), (trial, trial.parameters["tail"])):
        model.settings_ = replace(model.settings_, tail=preference)
        model.embedding_.exact_vectors = vectors
        model._build_index()
        figures = _figures(split, model.predict_topk(split.X_test, 5))
        yield asked, {"test": figures, "cpu_s": watch.cpu_s}


def _figures(split: Split, top: TopK) -> Figures:
    counts = np.bincount(split.Y.indices, minlength=split.Y.shape[1])
    found = metrics.evaluate(split.Y_test, top, label_counts=counts, n_examples=split.Y.shape[0])
    of_test = metrics.psp_glas(split.Y_test, top)
    return found | {f"{name} by test labels": value for name, value in of_test.items()}


def _watching_test_rows(split: Split) -> AbstractContextManager[Any]:
    """Let every epoch be measured on test rows, which training itself has no business with."""
    asked = np.random.default_rng(1).permutation(split.X_test.shape[0])[:MEASURED_ROWS]
    labels = np.flatnonzero(np.bincount(split.Y.indices, minlength=split.Y.shape[1]))
    X, columns = csr_matrix(normalize(split.X_test[asked])), columns_in_use(split.X)
    if columns is not None:
        X = columns_of(X, columns)
    watched = (X, csr_matrix(split.Y_test[asked][:, labels]))
    task_of = glas_model._task_of

    def watching(*given: Any, **more: Any) -> Any:
        return task_of(*given, **more | {"held_out": watched})

    return mock.patch.object(glas_model, "_task_of", watching)


def _with_labels(split: Split, n_rows: int | None) -> Split:
    """Return some of the training rows that have labels."""
    kept = np.random.default_rng(0).permutation(np.flatnonzero(np.diff(split.Y.indptr)))[:n_rows]
    return split._replace(X=split.X[kept], Y=split.Y[kept])


STUDY = Study(
    "glas",
    {
        "parts": Part(parts(), measure),
        "sources": Part(sources(), measure_source),
        "tail": Part(tail(), measure_tail),
        "theory": Part(theory.trials(), theory.measure),
        "cost": Part(cost.TRIALS, cost.measure, own_process=True),
    },
    page.PAGE,
    page.tables,
    page.draw,
)
