"""What vectors, better words and names are worth from text, and across languages.

``study encoders cuts`` learns from the first rows of each corpus, shuffled, and asks about others
of the training rows; ``whole`` learns from all rows and asks about the test rows; ``languages``
learns from German rows and asks about English ones. Vectors come from the cache of vectors where
they are in it: what encoding costs is measured apart, on a few texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.corpora import data_home
from benchmarks.measure import Stopwatch
from benchmarks.studies.encoders import page
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import Tagger, metrics
from labelspace.data import Corpus, read_corpus
from labelspace.data.text.encoding.resolving import encoder_for
from labelspace.data.text.tokens import tokenize

ENCODER = "multilingual"
OF_VARIANT: dict[str, dict[str, Any]] = {
    "words": {},
    "better words": {"features": "auto"},
    "words, encoder": {"encoder": ENCODER},
    "words, names": {"names": True},
    "all together": {"features": "auto", "encoder": ENCODER, "names": True},
}
GERMAN = frozenset(tokenize("der die das und ist von mit den des im ein eine zu auf für wird dem"))
ENGLISH = frozenset(tokenize("the of and in to is for with an on by this are from as that"))
N_TIMED = 200  # texts whose encoding is timed
LARGEST = 10  # labels of a row that are ranked


def measure_cut(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn from a part of the training rows, and ask about another."""
    corpus = _read(trial.corpus, "train")
    n_rows, n_asked = source.at_most(page.CUT), source.at_most(page.ASKED)
    rows = np.random.default_rng(trial.seed).permutation(min(n_rows + n_asked, len(corpus)))
    asked, learned = np.split(rows, [min(n_asked, len(rows) // 3)])
    yield trial, _measured(trial, corpus, learned, _some(corpus, asked), corpus.Y[asked])


def measure_whole(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn from all training rows, and ask about the test rows."""
    corpus = _read(trial.corpus, "train")
    test = _read(trial.corpus, "test", corpus.n_labels)
    learned = np.arange(len(corpus))[: source.n_rows]
    asked = np.arange(len(test))[: source.n_rows]
    yield trial, _measured(trial, corpus, learned, _some(test, asked), test.Y[asked])


def measure_languages(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn from German rows, and ask about English ones whose labels were all learned."""
    corpus = _read(trial.corpus, "train")
    first = np.arange(min(source.at_most(2 * page.CUT), len(corpus)))
    texts = _some(corpus, first)
    german = first[[_is_in(text, GERMAN, ENGLISH) for text in texts]]
    english = first[[_is_in(text, ENGLISH, GERMAN) for text in texts]]
    known = np.asarray(corpus.Y[german].sum(axis=0)).ravel() > 0
    unknown = np.asarray(corpus.Y[english][:, ~known].sum(axis=1)).ravel()
    asked = english[unknown == 0][: page.ASKED]
    yield trial, _measured(trial, corpus, german, _some(corpus, asked), corpus.Y[asked])


def _read(corpus: str, part: str, n_labels: int | None = None) -> Corpus:
    return read_corpus(data_home() / corpus / f"{part}.tsv.xz", n_labels=n_labels)


def _some(corpus: Corpus, rows: NDArray[np.int64]) -> list[str]:
    texts = corpus.texts or []
    return [texts[row] for row in rows]


def _is_in(text: str, language: frozenset[str], other: frozenset[str]) -> bool:
    """Tell whether a text has three small words of a language and none of another."""
    words = tokenize(text)
    return sum(word in language for word in words) >= 3 and not any(w in other for w in words)


def _measured(
    trial: Trial, corpus: Corpus, learned: NDArray[np.int64], asked: Sequence[str], truth: Any
) -> Figures:
    told = dict(OF_VARIANT[trial.variant])
    named: dict[str, Any] = {}
    if told.pop("names", False):
        named = {"vocabulary": corpus.vocabulary, "label_keys": corpus.label_keys}
        named["label_names"] = corpus.label_names
    texts = _some(corpus, learned)
    with Stopwatch() as training:
        tagger = Tagger(n_threads=1, **told).fit(texts, corpus.Y[learned], **named)
    with Stopwatch() as asking:
        top = tagger.predict_topk(asked, LARGEST)
    ranker = tagger.estimator_
    Y = csr_matrix(truth)
    Y = csr_matrix((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], ranker.n_labels_))
    counts: Any = {"label_counts": ranker.label_counts_, "n_examples": ranker.n_examples_}
    figures: Figures = dict(metrics.evaluate(Y, top, ks=(1, 3, 5, LARGEST), **counts))
    hits = _hits(Y, top.labels[:, :5])
    n_true = np.diff(Y.indptr)
    figures["F1@5"] = float(np.mean(2 * hits / (5 + n_true)))
    figures["recall@5"] = 100 * float(np.mean(hits / np.maximum(n_true, 1)))
    figures |= {"n_train": len(texts), "n_test": len(asked), "train_cpu_s": training.cpu_s}
    figures["ask_cpu_ms"] = 1000 * asking.cpu_s / max(len(asked), 1)
    figures["weight"] = getattr(tagger.features_, "weight", None)
    if "encoder" in told:
        figures["encode_cpu_ms"] = _encoding_time(asked[:N_TIMED])
    return figures


def _hits(Y: csr_matrix, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how many of the labels given to each row are right."""
    rows = np.repeat(np.arange(len(labels)), labels.shape[1])
    right = np.asarray(Y[rows, np.maximum(labels, 0).ravel()]).reshape(labels.shape) > 0
    return (right & (labels >= 0)).sum(axis=1).astype(np.float64)


def _encoding_time(texts: Sequence[str]) -> float:
    encoder = encoder_for(ENCODER)
    assert encoder is not None
    with Stopwatch() as watch:
        encoder.encode(texts)
    return 1000 * watch.cpu_s / max(len(texts), 1)


def _trials(part: str) -> list[Trial]:
    return [Trial(part, corpus, variant) for corpus in page.CORPORA for variant in page.VARIANTS]


STUDY = Study(
    "encoders",
    {
        "cuts": Part(_trials("cuts"), measure_cut),
        "whole": Part(_trials("whole"), measure_whole, own_process=True),
        "languages": Part(
            [Trial("languages", "tibkat", variant) for variant in page.LANGUAGES],
            measure_languages,
        ),
    },
    page.PAGE,
    page.tables,
)
