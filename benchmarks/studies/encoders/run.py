"""What vectors, better words and names are worth from text, and across languages.

``study encoders cuts`` learns from the first rows of each corpus, shuffled, and asks about others
of the training rows; ``whole`` learns from all rows and asks about the test rows; ``languages``
learns from German rows and asks about English ones; ``fine-tuning`` and ``serving`` have files of
their own. Vectors come from the cache of vectors where they are in it: what encoding costs is
measured apart, on a few texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Stopwatch
from benchmarks.studies.encoders import page
from benchmarks.studies.encoders.fine_tuning import measure_fine_tuning
from benchmarks.studies.encoders.rows import LARGEST, ranking_figures, read, texts_of
from benchmarks.studies.encoders.serving import measure_serving
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import Tagger, threads
from labelspace.data import Corpus
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


def measure_cut(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn from a part of the training rows, and ask about another."""
    corpus = read(trial.corpus, "train")
    n_rows, n_asked = source.at_most(page.CUT), source.at_most(page.ASKED)
    rows = np.random.default_rng(trial.seed).permutation(min(n_rows + n_asked, len(corpus)))
    asked, learned = np.split(rows, [min(n_asked, len(rows) // 3)])
    yield trial, _measured(trial, corpus, learned, texts_of(corpus, asked), corpus.Y[asked])


def measure_whole(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn from all training rows, and ask about the test rows."""
    corpus = read(trial.corpus, "train")
    test = read(trial.corpus, "test", corpus.n_labels)
    learned = np.arange(len(corpus))[: source.n_rows]
    asked = np.arange(len(test))[: source.n_rows]
    yield trial, _measured(trial, corpus, learned, texts_of(test, asked), test.Y[asked])


def measure_languages(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn from German rows, and ask about English ones whose labels were all learned."""
    corpus = read(trial.corpus, "train")
    first = np.arange(min(source.at_most(2 * page.CUT), len(corpus)))
    texts = texts_of(corpus, first)
    german = first[[_is_in(text, GERMAN, ENGLISH) for text in texts]]
    english = first[[_is_in(text, ENGLISH, GERMAN) for text in texts]]
    known = np.asarray(corpus.Y[german].sum(axis=0)).ravel() > 0
    unknown = np.asarray(corpus.Y[english][:, ~known].sum(axis=1)).ravel()
    asked = english[unknown == 0][: page.ASKED]
    yield trial, _measured(trial, corpus, german, texts_of(corpus, asked), corpus.Y[asked])


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
    texts = texts_of(corpus, learned)
    with Stopwatch() as training:
        tagger = Tagger(n_threads=1, **told).fit(texts, corpus.Y[learned], **named)
    with Stopwatch() as asking:
        top = tagger.predict_topk(asked, LARGEST)
    ranker = tagger.estimator_
    figures = ranking_figures(truth, top, ranker.label_counts_, ranker.n_examples_)
    figures |= {"n_train": len(texts), "n_test": len(asked), "train_cpu_s": training.cpu_s}
    figures["ask_cpu_ms"] = 1000 * asking.cpu_s / max(len(asked), 1)
    figures["weight"] = getattr(tagger.features_, "weight", None)
    figures["features"] = str(getattr(tagger.features_, "words", tagger.features_))
    if "encoder" in told:
        figures["encode_cpu_ms"] = _encoding_time([*texts, *asked])
    return figures


def _encoding_time(texts: Sequence[str]) -> float:
    """Return the CPU milliseconds that a text takes, from some of them."""
    encoder = encoder_for(ENCODER)
    assert encoder is not None
    some = texts[:: max(len(texts) // N_TIMED, 1)]
    encoder.encode(some[:2])  # which loads it
    with Stopwatch() as watch, threads.limit(1):
        encoder.encode(some)
    return 1000 * watch.cpu_s / max(len(some), 1)


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
        "fine-tuning": Part(
            [
                Trial("fine-tuning", corpus, variant)
                for corpus in page.TUNED_CORPORA
                for variant in page.TUNED_VARIANTS
            ],
            measure_fine_tuning,
        ),
        "serving": Part([Trial("serving", "tibkat")], measure_serving),
    },
    page.PAGE,
    page.tables,
)
