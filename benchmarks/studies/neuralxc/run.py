"""What each part of NeuralXC is worth: ``study neuralxc``.

``figures``: P@k and nDCG@k for k = 1 … 5 on training and test rows, as in the report's figures 3 to
6, beside other methods; eurlex57k and wordnet are cut to 5,000 training rows.

``parts``: one choice changed at a time, weights of the reconstructions, dimension, sampling, what
encoders are shown. One network is trained for each, on bibtex and on 4,000 rows of delicious; with
and without the reconstructions, three seeds are.

``repairs``: what makes the report's program learn, one change at a time, on bibtex and delicious.

``map``: the default's linear map by itself.

``texts``: words alone, and with vectors of whole texts from elsewhere beside them; means of word
vectors alone, and beside words; rows of wordnet's training texts to learn from, and others to ask
about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.measure import Stopwatch
from benchmarks.studies.encoders.rows import read, texts_of
from benchmarks.studies.neuralxc import page
from benchmarks.studies.neuralxc.word_vectors import WordVectors
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import Tagger, metrics
from labelspace.data.text.encoding.precomputed import with_vectors
from labelspace.encoders.unit_rows import UnitRows
from labelspace.models import make
from labelspace.models.neuralxc.calibrated_ridge import calibrated_ridge
from labelspace.topk import topk_dense

MEASURED_ROWS = 2000
MAP_DIM = 512  # as the default has it, where it has one


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


def repairs() -> list[Trial]:
    """Return the changes, each by itself."""
    return [
        Trial("repairs", corpus, name, page.REPAIRS[name])
        for corpus, names in page.REPAIR_CORPORA.items()
        for name in names
    ]


def measure_repairs(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train the report's program, changed."""
    yield trial, _measured(trial, source, None, "neuralxc", dict(trial.parameters))


def maps() -> list[Trial]:
    """Return the linear map on each corpus."""
    return [Trial("map", corpus, page.MAP_ALONE) for corpus in page.FIRST_CORPORA]


def measure_map(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Make the map that stands beside the networks, and ask nothing else."""
    X, Y, X_test, Y_test = source.split(trial.corpus)
    rows = UnitRows().learn(X)
    with Stopwatch() as watch:
        one = calibrated_ridge(rows.encode(X), Y, MAP_DIM, n_threads=1, seed=trial.seed)
    scores = one.last_hidden(rows.encode(X_test)) @ one.weights.T + one.biases
    found = metrics.evaluate(Y_test, topk_dense(scores, 5), ks=page.KS)
    yield trial, {"dim": MAP_DIM, "cpu_s": watch.cpu_s, "test": found}


def texts() -> list[Trial]:
    """Return what texts are turned into."""
    return [Trial("texts", "wordnet", variant) for variant in page.TEXTS]


def measure_texts(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn from some of the training texts, and ask about others."""
    corpus = read(trial.corpus, "train")
    n_rows, n_asked = source.at_most(page.TEXT_ROWS), source.at_most(page.TEXT_ROWS // 2)
    rows = np.random.default_rng(trial.seed).permutation(len(corpus))
    learned, asked, others = np.split(rows, [n_rows, n_rows + n_asked])
    texts, questions = texts_of(corpus, learned), texts_of(corpus, asked)
    tagger = Tagger("neuralxc", random_state=trial.seed, n_threads=1, **page.TEXTS[trial.variant])
    if trial.variant not in page.WORD_VECTORS:
        with Stopwatch() as watch:
            tagger.fit(texts, corpus.Y[learned])
        top = tagger.predict_topk(questions, 5)
    else:
        # Words are learned from all training texts but those that are asked about.
        words = WordVectors(texts + texts_of(corpus, others), seed=trial.seed)
        beside = trial.variant != "Word2Vec"
        vectors, asked_vectors = words.encode(texts), words.encode(questions)
        with Stopwatch() as watch:
            if beside:
                tagger.fit(texts, corpus.Y[learned], embeddings=vectors)
            else:
                tagger.fit(csr_matrix(vectors), corpus.Y[learned])
        told = with_vectors(questions, asked_vectors) if beside else csr_matrix(asked_vectors)
        top = tagger.predict_topk(told, 5)
    figures = metrics.evaluate(corpus.Y[asked], top, ks=(1, 3, 5))
    precision = {name: figures[name] for name in ("P@1", "P@3", "P@5")}
    yield trial, {"n_rows": n_rows, "n_asked": n_asked, **precision, "cpu_s": watch.cpu_s}


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
    """Return rows in an order drawn once for all, so that the first ones are a sample."""
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
        "repairs": Part(repairs(), measure_repairs),
        "map": Part(maps(), measure_map),
        "texts": Part(texts(), measure_texts),
    },
    page.PAGE,
    page.tables,
    page.draw,
)
