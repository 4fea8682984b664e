"""What the choices of ``TextFeatures`` do to k-NN: ``study text_features``.

Features are fitted on a part of the training rows and k-NN is measured on the others; the test
rows stay unseen. The first line is of the ready-made features that come with the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.corpora import data_home
from benchmarks.measure import Stopwatch
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from benchmarks.studies.text_features import page
from labelspace import metrics
from labelspace.data import TextFeatures, read_corpus
from labelspace.models import make

N_VALID = 5000


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Make the features of a corpus's texts, and let k-NN rank the rows left out."""
    folder = data_home() / trial.corpus
    corpus = read_corpus(folder / "train.tsv.xz")
    rows = np.random.default_rng(0).permutation(len(corpus))[: source.n_rows]
    n_valid = min(N_VALID, rows.size // 2)
    valid, train = np.sort(rows[:n_valid]), np.sort(rows[n_valid:])
    seconds = 0.0
    if trial.variant == page.AS_GIVEN:
        given = read_corpus(folder / "train.txt.xz").X
        assert given is not None
        X, X_valid = given[train], given[valid]
    else:
        texts = corpus.texts or []
        features = TextFeatures(**trial.parameters)
        with Stopwatch() as watch:
            X = features.fit_transform(texts[row] for row in train)
            X_valid = features.transform(texts[row] for row in valid)
        seconds = watch.cpu_s
    top = make("knn").fit(X, corpus.Y[train]).predict_topk(X_valid, 5)
    found = metrics.evaluate(corpus.Y[valid], top)
    figures = {f"P@{k}": found[f"P@{k}"] for k in (1, 3, 5)}
    sizes = {"n_features": X.shape[1], "features_per_row": X.nnz / X.shape[0]}
    yield trial, {**figures, **sizes, "features_cpu_s": seconds}


STUDY = Study(
    "text_features",
    {
        "choices": Part(
            [
                Trial("choices", corpus, variant, parameters)
                for corpus in page.CORPORA
                for variant, parameters in page.CHOICES.items()
            ],
            measure,
        )
    },
    page.PAGE,
    page.tables,
)
