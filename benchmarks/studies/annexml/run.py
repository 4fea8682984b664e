"""What each part of AnnexML is worth, and what it promises: ``study annexml``.

``parts``: the default with one thing changed, on rows held out of the training files: a fifth of
bibtex and of delicious, and of 12,000 rows of wordnet. What only concerns the answer (votes,
search, how many learners are asked) is changed in a trained model. The weights of votes are not
chosen anew for each trial, which would blur what is compared.

``speed``, ``storage``, ``appending``, ``scale``: see ``benchmarks.studies.promises``.

``program.csv`` has runs of the original C++ program (github.com/yahoojapan/AnnexML at 57eac20),
which are made by hand: its Makefile and ``annexml-example.json`` with the files as given, one
thread and another ``seed``; ``vectorize.h`` includes ``<immintrin.h>``, and ``K_`` is stored where
there is one part. Rankings are sorted again by votes and label number before they are scored, and a
row that the program does not read has an empty one. "Ties by lot": ``get_positives`` of
``LLEmbedding.cc`` shuffles the rows found, by a generator with the same seed, before the best are
kept. "Features from 1": one is added to feature numbers, and rows without labels are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Stopwatch
from benchmarks.studies import promises
from benchmarks.studies.annexml import page
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Figures, Part, Study, Trial
from benchmarks.studies.tables import titled
from benchmarks.studies.told import changed
from labelspace.ensemble import Index
from labelspace.metrics import evaluate
from labelspace.models import make
from labelspace.search.exact import ExactIndex
from labelspace.search.ivf import IVFIndex

MOST_ROWS = 12_000
VOTES: dict[str, Any] = {"vote_gamma": 20.0, "label_votes": 0.5}
AS_IT_IS = "as it is"

TRAINED: dict[str, list[dict[str, Any]]] = {
    "as the program does": [{"preset": "paper"}, {"preset": "paper", "objective": "batches"}],
    "partition": [
        {"partition": "learned", "part_size": 1500},
        {"partition": "learned", "part_size": 1500, "balanced": True},
        {"partition": "kmeans", "part_size": 1500},
    ],
    "dimension": [{"dim": dim} for dim in (32, 64, 192)],
    "γ of the contrast": [{"gamma": gamma} for gamma in (5.0, 20.0)],
    "negatives": [{"batch_size": size} for size in (64, 256)],
    "label vectors": [{"label_weight": 0.0}],
    "label graph": [{"similarity": "overlap"}, {"graph_neighbors": 25}],
}
"""Parameters of models that are trained for this table."""

ANSWERED: dict[str, list[dict[str, Any]]] = {
    "votes": [
        {"voting": "counts"},
        {"label_votes": 0.0},
        {"label_votes": 2.0},
        {"vote_gamma": 5.0},
        {"vote_gamma": 40.0},
        {"n_neighbors": 10},
    ],
}
"""Settings that are changed in the default model once it is trained."""

SEARCHES: dict[str, Callable[..., Index]] = {
    "exact": ExactIndex,
    "clustered, 2 lists": lambda keys, ids: IVFIndex(keys, ids, n_probes=2),
    "clustered, 8 lists": lambda keys, ids: IVFIndex(keys, ids, n_probes=8),
    "clustered, 32 lists": lambda keys, ids: IVFIndex(keys, ids, n_probes=32),
}
LEARNERS = (1, 2, 4, 8, 15)


def trials() -> Iterator[Trial]:
    """Small corpora first, and the default before its variants."""
    for corpus in page.CORPORA:
        yield Trial("parts", corpus, AS_IT_IS)
        yield Trial("parts", corpus, f"learners: {LEARNERS[-1]}")
        for what, variants in TRAINED.items():
            for parameters in variants:
                yield Trial("parts", corpus, titled(what, parameters), parameters)


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train once, and ask the default and the many learners in several ways."""
    split = source.split(trial.corpus).held_out(most_rows=MOST_ROWS)
    if trial.variant.startswith("learners"):
        model = _trained(split, n_learners=LEARNERS[-1], n_neighbors=40, n_probes=8)[0]
        for n_learners in LEARNERS:
            model.use_learners = n_learners
            yield replace(trial, variant=f"learners: {n_learners}"), _asked(model, split)
        return
    # Kernels are compiled before the clock starts, those of partitions, too.
    few = Split(*(part[:300] for part in split))
    _asked(_trained(few, **{**trial.parameters, "part_size": 100})[0], few)
    model, seconds = _trained(split, **trial.parameters)
    model.predict_topk(split.X_test, k=5)  # a walk builds its tree and graph when it is first asked
    figures = _asked(model, split) | {"train_cpu_s": seconds}
    if trial.variant == AS_IT_IS:
        for what, variants in ANSWERED.items():
            for settings in variants:
                with changed(model, **settings):
                    answered = replace(trial, variant=titled(what, settings), parameters=settings)
                    yield answered, _asked(model, split)
        yield from _searched(trial, model, split)
    yield trial, figures


def _searched(trial: Trial, model: Any, split: Split) -> Iterator[tuple[Trial, Figures]]:
    """Ask a trained model with each search in place of its own."""
    exact = None
    width = model.settings_.n_neighbors
    for kind, index in SEARCHES.items():
        found = []
        for learner in model.learners_:
            ids = np.sort(learner.rows.ids.astype(np.int64))
            learner.rows = index(learner.rows.vectors(ids), ids)
            Z = learner.encode(model.rows_.encode(split.X_test[:500]))
            found.append(learner.rows.search(Z, width).ids)
        exact = found if exact is None else exact
        figures = _asked(model, split) | {"recall": _recall(found, exact)}
        yield replace(trial, variant=f"search: {kind}"), figures


def _trained(split: Split, **parameters: Any) -> tuple[Any, float]:
    votes = {} if "preset" in parameters else VOTES
    model = make("annexml", **{"random_state": 0, **votes, **parameters})
    with Stopwatch() as watch:
        model.fit(split.X, split.Y)
    return model, watch.cpu_s


def _asked(model: Any, split: Split) -> Figures:
    model.n_threads = 1
    with Stopwatch() as watch:
        top = model.predict_topk(split.X_test, k=5)
    counts = np.bincount(split.Y.indices, minlength=split.Y.shape[1])
    found = evaluate(split.Y_test, top, label_counts=counts, n_examples=split.Y.shape[0])
    names = [f"{name}@{k}" for name in ("P", "PSP") for k in (1, 3, 5)]
    return {name: found[name] for name in names} | {"batch_cpu_ms": 1000 * watch.cpu_s / len(top)}


def _recall(found: list[NDArray[Any]], exact: list[NDArray[Any]]) -> float:
    """Return the share of each learner's true neighbours that were found, in percent."""
    shares = [
        np.isin(right, got).mean()
        for learner, truth in zip(found, exact, strict=True)
        for got, right in zip(learner, truth, strict=True)
    ]
    return 100.0 * float(np.mean(shares))


STUDY = Study(
    "annexml",
    {
        "parts": Part(list(trials()), measure),
        "speed": Part(
            [Trial("speed", "wordnet", parameters={"n_learners": 15})], promises.speed("annexml")
        ),
        "storage": Part(
            [Trial("storage", corpus) for corpus in ("bibtex", "delicious")],
            promises.storage("annexml"),
        ),
        "appending": Part([Trial("appending", "eurlex57k")], promises.appending("annexml")),
        "scale": Part(page.SIZES, promises.scale("annexml"), own_process=True),
    },
    page.PAGE,
    page.tables,
)
