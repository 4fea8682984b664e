"""SMCE beside other ways to cluster and embed, and within AnnexML: ``study smce``.

``clustering``: every shape by every method with three seeds. ``dimensions``: those that SMCE finds
where they are known. ``timing``: seconds on normally distributed points. ``embedding``: the page's
pictures of embeddings, and their seconds. ``annexml``: AnnexML with its own label graph and
partitions, and with those of SMCE, on the given split of the small corpora and on a sub-sample of
wordnet, with two learners.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Stopwatch
from benchmarks.studies.smce import page, shapes
from benchmarks.studies.smce.clusterers import CLUSTERERS, LONG, error
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace.manifold import SMCE
from labelspace.manifold.self_expression import express
from labelspace.metrics import evaluate
from labelspace.models import make

SEEDS = (0, 1, 2)
SIZES = ((1000, 3), (5000, 3), (20_000, 3), (20_000, 50))
MOST_ROWS = {"wordnet": (12_000, 3_000)}
"""Rows to learn from and to test on, where not all are."""
N_PARTS = 4
MANY_POINTS = ("ring, sphere, ball", "digits 0 to 9")
KNOWN = {**shapes.SHAPES, "punctured sphere": shapes.punctured_sphere}
DRAWN = {
    "two knots": ("smce-embedding-knots.png", "hsv"),
    "punctured sphere": ("smce-embedding-sphere.png", "viridis"),
    "digits 3, 4, 6": ("smce-embedding-digits.png", "brg"),
}
"""Shapes whose embeddings are drawn: file and colours."""


def clustering(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Return the error and CPU seconds of a method on a shape."""
    shape = shapes.SHAPES[trial.corpus](trial.seed)
    with Stopwatch() as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = CLUSTERERS[trial.variant](shape.X, shape.n_clusters, trial.seed)
    yield trial, {"error": error(shape.truth, found), "cpu_s": watch.cpu_s}


def dimensions(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Return the dimensions that SMCE finds, cluster by cluster, beside the truth."""
    shape = KNOWN[trial.corpus](0)
    assert shape.dimensions is not None
    model = SMCE(shape.n_clusters, random_state=0, **trial.parameters).fit(shape.X)
    told = {
        "truth": list(shape.dimensions),
        "found": model.intrinsic_dimension_.tolist(),
        "coefficients": model.sorted_coefficients_[:, :5].round(3).tolist(),
    }
    yield trial, told


def timing(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Return the CPU seconds of SMCE on normally distributed points."""
    rng = np.random.default_rng(0)
    express(rng.standard_normal((60, 3)))  # compiles
    shape = source.at_most(trial.parameters["n_points"]), trial.parameters["n_features"]
    points = rng.standard_normal(shape)
    with Stopwatch() as weights:
        express(points)
    with Stopwatch() as whole:
        SMCE(10, random_state=0).fit(points)
    seconds = {"weights_cpu_s": weights.cpu_s, "cpu_s": whole.cpu_s}
    yield trial, {"n_candidates": 50, **seconds}


def embedding(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Draw a shape's embeddings, and the clusters of the knots; return what each took and kept."""
    from benchmarks.studies.smce import figures  # which needs matplotlib

    if trial.corpus == "two knots":
        figures.draw_clusters(source.pictures / "smce-knots.png")
    file, colours = DRAWN[trial.corpus]
    shape = KNOWN[trial.corpus](0)
    taken, trust = figures.draw_embeddings(shape, source.pictures / file, colours)
    yield trial, {"cpu_s": taken, "trust": trust}


def annexml(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train AnnexML with or without SMCE's graph and parts."""
    split = source.split(trial.corpus)
    if trial.corpus in MOST_ROWS and not source.quick:
        rng = np.random.default_rng(0)
        train, test = (
            np.sort(rng.choice(Y.shape[0], n, replace=False))
            for Y, n in zip((split.Y, split.Y_test), MOST_ROWS[trial.corpus], strict=True)
        )
        split = Split(split.X[train], split.Y[train], split.X_test[test], split.Y_test[test])
    parameters = dict(trial.parameters)
    if "partition" in parameters:
        parameters["part_size"] = split.X.shape[0] // N_PARTS
    model: Any = make("annexml", n_learners=2, random_state=trial.seed, n_threads=1, **parameters)
    with Stopwatch() as watch:
        model.fit(split.X, split.Y)
    found = evaluate(split.Y_test, model.predict_topk(split.X_test, k=5))
    parts = [
        [0 if part is None else len(part.rows.ids) for part in getattr(learner, "parts", [])]
        for learner in model.learners_
    ]
    precision = {f"P@{k}": found[f"P@{k}"] for k in (1, 3, 5)}
    costs = {"train_cpu_s": watch.cpu_s, "part_sizes": parts}
    yield trial, {"n_train": split.X.shape[0], **precision, **costs}


STUDY = Study(
    "smce",
    {
        "timing": Part(
            [
                Trial("timing", parameters={"n_points": n_points, "n_features": n_features})
                for n_points, n_features in SIZES
            ],
            timing,
        ),
        "embedding": Part([Trial("embedding", name) for name in DRAWN], embedding),
        "dimensions": Part(
            [
                Trial("dimensions", name, parameters={"penalty": penalty})
                for name, make_shape in KNOWN.items()
                if make_shape(0).dimensions is not None
                for penalty in page.PENALTIES
            ],
            dimensions,
        ),
        "clustering": Part(
            [
                Trial("clustering", name, method, seed=seed)
                for name in shapes.SHAPES
                for seed in SEEDS
                for method in CLUSTERERS
                if method != LONG or name not in MANY_POINTS
            ],
            clustering,
        ),
        "annexml": Part(
            [
                Trial("annexml", corpus, variant, parameters, seed)
                for corpus, seeds in page.CORPORA.items()
                for seed in seeds
                for variant, parameters in page.VARIANTS.items()
            ],
            annexml,
        ),
    },
    page.PAGE,
    page.tables,
)
