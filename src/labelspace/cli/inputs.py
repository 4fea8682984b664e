"""What the commands read: models, corpora to learn from, and corpora for a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelspace import progress
from labelspace.cli import output
from labelspace.data import Corpus, read_corpus
from labelspace.data.formats.compression import check_readable
from labelspace.data.formats.fields import Fields
from labelspace.data.formats.vocabulary_file import vocabulary_for
from labelspace.data.text.encoding.precomputed import NAME as PRECOMPUTED
from labelspace.data.text.encoding.precomputed import (
    SUFFIXES,
    embeddings_beside,
    read_embeddings,
    with_vectors,
)
from labelspace.errors import DataError, UsageError
from labelspace.tagger import Tagger


def load_tagger(
    folder: Path,
    n_threads: int | None = None,
    vocabulary: Path | None = None,
    encoder: str | None = None,
) -> Tagger:
    """Load a model folder, to be used with so many threads, and with a vocabulary if given.

    ``encoder`` is the one that it learned with, where that is not one of ours.
    """
    with progress.task(f"Loading {folder}"):
        tagger = Tagger.load(folder, encoder=encoder)
        if vocabulary is not None:
            tagger.use_vocabulary(vocabulary)
    tagger.estimator_.n_threads = n_threads
    return tagger


def read_to_learn(
    path: Path,
    fields: Fields | None = None,
    vocabulary: Path | None = None,
    language: str | None = None,
) -> Corpus:
    """Read a corpus to learn from; one without rows or without features is an error.

    Its vocabulary is the one given, or one beside the corpus; ``language`` is that of its names
    where none is asked for.
    """
    with progress.reading(Path(path)):
        corpus = read_corpus(path, fields=fields)
    say_what_was_guessed(corpus, path)
    if len(corpus) == 0:
        raise DataError(f"{path} has no rows: give a corpus with at least one.")
    if corpus.X is not None and corpus.n_features == 0:
        raise DataError(f"{path} has no features: give a corpus with at least one.")
    return with_vocabulary(corpus, path, vocabulary, language)


def read_to_tune(
    path: Path,
    valid: Path | None,
    fields: Fields | None = None,
    *,
    vocabulary: Path | None = None,
    language: str | None = None,
    encoder: str | None = None,
) -> tuple[Corpus, NDArray[np.int64] | None]:
    """Read a corpus to learn from and one to choose by, as one; return which rows are the latter.

    Without a second corpus there are none.
    """
    if valid is None:
        read = read_to_learn(path, fields, vocabulary, language)
        if encoder == PRECOMPUTED and read.texts is not None:
            add_embeddings(read, path)
        return read, None
    check_readable(valid)
    with progress.reading(Path(path)):
        learned = read_corpus(path, fields=fields)
    say_what_was_guessed(learned, path)
    with progress.reading(Path(valid)):
        chosen_by = read_corpus(
            valid,
            n_features=learned.n_features or None,
            n_labels=learned.n_labels,
            label_names=learned.label_names,
            feature_names=learned.feature_names,
            fields=fields,
            kept_fields=learned.reading.fields if learned.reading else None,
        )
    if (learned.X is None) != (chosen_by.X is None):
        kinds = ("text", "features") if learned.X is None else ("features", "text")
        raise DataError(f"{path} holds {kinds[0]} but {valid} {kinds[1]}: give two of a kind.")
    if not learned.Y.nnz or not chosen_by.Y.nnz:
        raise DataError(f"{path} and {valid} need rows with labels: give corpora that have some.")
    if encoder == PRECOMPUTED and learned.texts is not None:
        add_embeddings(learned, path)
        add_embeddings(chosen_by, valid)
    both = with_vocabulary(learned.followed_by(chosen_by), path, vocabulary, language)
    return both, np.arange(len(learned), len(both))


def with_vocabulary(
    corpus: Corpus, path: Path, given: Path | None = None, language: str | None = None
) -> Corpus:
    """Return a corpus with its vocabulary; labels that are the same by it become one."""
    found = vocabulary_for(path, corpus.label_names, given, corpus.label_keys)
    corpus.vocabulary, corpus.label_keys = found
    if corpus.vocabulary is None:
        if language is not None:
            raise UsageError("--language needs a vocabulary: give one with --vocabulary FILE.")
        return corpus
    corpus.vocabulary.default_language = corpus.vocabulary.check_language(language)
    if corpus.label_keys is not None or corpus.label_names is None:
        return corpus
    entry = corpus.vocabulary.match(corpus.label_names)
    own = np.arange(len(entry))
    known = entry >= 0
    first = np.full(len(corpus.vocabulary), len(entry))
    np.minimum.at(first, entry[known], own[known])
    return _merged(corpus, np.where(known, first[entry], own), path)


def read_for(
    tagger: Tagger, path: str | Path, fields: Fields | None = None, needs_labels: bool = True
) -> Corpus:
    """Read a corpus so that its columns are those of ``tagger``.

    A table is read as the one that the model learned from, but for what ``fields`` say.
    """
    ranker = tagger.estimator_
    with progress.reading(Path(path)):
        corpus = read_corpus(
            path,
            n_features=None if tagger.takes_text else ranker.n_features_in_,
            n_labels=ranker.n_labels_,
            label_names=tagger.label_names_,
            feature_names=None if tagger.takes_text else ranker.feature_names_,
            fields=fields,
            kept_fields=tagger.fields_,
            needs_labels=needs_labels,
            labels_by_number=needs_labels and tagger.label_names_ is None,
        )
    say_what_was_guessed(corpus, path)
    if tagger.takes_text and corpus.texts is None:
        raise DataError(
            f"{path} holds features, but this model was trained on text: give a corpus of text."
        )
    if not tagger.takes_text and corpus.X is None:
        raise DataError(
            f"{path} holds text, but this model was trained on features: give a corpus with the "
            f"same {ranker.n_features_in_:,} features."
        )
    if getattr(tagger.features_, "name", None) == PRECOMPUTED:
        add_embeddings(corpus, path)
    if corpus.label_names is None or tagger.vocabulary_ is None:
        return corpus
    target = np.arange(corpus.n_labels)
    for label in range(ranker.n_labels_, corpus.n_labels):  # other names of labels it has
        found = tagger.catalog.find_one(corpus.label_names[label])
        target[label] = label if found is None else found
    return _merged(corpus, target, path)


def add_embeddings(corpus: Corpus, path: str | Path) -> None:
    """Give the texts of a corpus the vectors that stand in a file beside it."""
    found = embeddings_beside(path)
    if found is None:
        stem = Path(path).name.partition(".")[0]
        raise DataError(
            f"There are no vectors beside {path}: write those of its texts, in their order, to "
            f"{Path(path).with_name(stem + SUFFIXES[0])}."
        )
    corpus.texts = with_vectors(corpus.texts, read_embeddings(found))


def _merged(corpus: Corpus, target: NDArray[np.int64], path: str | Path) -> Corpus:
    if n_merged := int((target != np.arange(len(target))).sum()):
        output.say(f"{path}: {n_merged:,} labels are others by another name, and go with them.")
        return corpus.with_merged_labels(target)
    return corpus


def say_what_was_guessed(corpus: Corpus, path: str | Path) -> None:
    """Write one line about columns that were found by their names."""
    if corpus.reading is not None and corpus.reading.sentence is not None:
        output.say(f"{path}: {corpus.reading.sentence}")
