"""``labelspace convert``: a corpus in another format, its labels by key or in a language."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from labelspace import data, progress
from labelspace.cli import output
from labelspace.cli.inputs import say_what_was_guessed, with_vocabulary
from labelspace.data import Corpus
from labelspace.data.formats.fields import Fields
from labelspace.data.write import format_of_name
from labelspace.errors import UsageError


def run_convert(
    source: Path,
    target: Path,
    *,
    fields: Fields | None,
    vocabulary: Path | None = None,
    language: str | None = None,
    as_json: bool,
) -> None:
    """Write the corpus in ``source`` to ``target``, whose name says the format."""
    if language is not None and vocabulary is None:
        raise UsageError("--language needs a vocabulary: give one with --vocabulary FILE.")
    format_of_name(target)  # before the reading, which may take long
    with progress.reading(source, f"Converting {source}"):
        corpus = data.read_corpus(source, fields=fields)
        say_what_was_guessed(corpus, source)
        if vocabulary is not None:
            corpus = renamed(with_vocabulary(corpus, source, vocabulary, language), language)
        data.write_corpus(corpus, target)
    result = {
        "out": str(target),
        "n_examples": len(corpus),
        "n_features": corpus.n_features,
        "n_labels": corpus.n_labels,
    }
    if as_json:
        output.print_json(result)
    else:
        print(f"{target}: {len(corpus):,} rows, {corpus.n_labels:,} labels")


def renamed(corpus: Corpus, language: str | None) -> Corpus:
    """Return a corpus whose labels go by their keys, or by their names in a language.

    A name that several labels would have gives way to their keys; labels that the vocabulary does
    not have stay as they are.
    """
    known = corpus.vocabulary
    if known is None or corpus.label_names is None:
        return corpus
    names, keys = list(corpus.label_names), list(corpus.label_names)
    entries = known.match(corpus.label_keys or corpus.label_names)
    for label, entry in enumerate(entries.tolist()):
        if entry >= 0:
            keys[label] = known.key(entry)
            names[label] = keys[label] if language is None else known.name(entry, language)
    times = Counter(names)
    told = [key if times[name] > 1 else name for key, name in zip(keys, names, strict=True)]
    return replace(corpus, label_names=told)
