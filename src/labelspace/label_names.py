"""What a model's labels are called, turned into features as its rows are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.data.text.encoding.hybrid_features import HybridFeatures
from labelspace.data.text.features import TextFeatures
from labelspace.data.text.stems import alike_words
from labelspace.data.text.tokens import tokenize
from labelspace.label_features import LabelFeatures, NameVectors
from labelspace.labels import LabelEncoder
from labelspace.vocabulary import NOT_THERE

# A word in so many of the names tells nothing, such as a prefix that all labels have.
COMMON = 0.5
FEWEST_NAMES = 10  # for that to be told


class LabelNames(NamedTuple):
    """Names of labels, and the column that each is a name of."""

    texts: list[str]
    columns: list[int]

    @classmethod
    def of(cls, labels: LabelEncoder) -> LabelNames:
        """Return all names of all columns.

        A column that the vocabulary does not know has the name that it came with, if any.
        """
        pairs = [
            (text, column)
            for column in range(labels.n_labels)
            for text in _names_of(labels, column)
        ]
        return cls([text for text, _ in pairs], [column for _, column in pairs])

    def without(self, excluded: Iterable[int]) -> LabelNames:
        """Return the names of all columns but those that are excluded."""
        gone = set(excluded)
        kept = [at for at, column in enumerate(self.columns) if column not in gone]
        return LabelNames([self.texts[at] for at in kept], [self.columns[at] for at in kept])

    def words(self) -> set[str]:
        """Return the words of all names."""
        return {word for text in self.texts for word in tokenize(text)}

    def as_texts(self, features: Any, stems: bool = True) -> LabelFeatures:
        """Return the names as rows of text features; with those that have a stem in common."""
        words, n_more, vectors = features, 0, None
        if isinstance(features, HybridFeatures):
            words, n_more = features.words, features.dim
            rows, made = features.words_of(self.texts), features.vectors_of_names(self.texts)
            vectors = None if made is None else NameVectors(made, np.array(self.columns))
        else:
            rows = csr_matrix(features.transform(self.texts))
        columns = np.array(self.columns)
        if not isinstance(words, TextFeatures) or words.n_hashes is not None:
            return LabelFeatures(_without_common(rows), columns, vectors=vectors)
        known = words.vocabulary_
        unknown = np.zeros(len(self.texts), dtype=np.int64)
        if words.ngrams:
            named = [{words.feature_of(word) for word in own} for own in self._telling()]
            unknown[:] = [sum(word not in known for word in own) for own in named]
        alike = None
        if stems:
            alike = np.concatenate((alike_words(known), len(known) + np.arange(n_more)))
        return LabelFeatures(_without_common(rows), columns, alike, unknown, vectors)

    def as_rows(self, feature_names: Sequence[str]) -> LabelFeatures:
        """Return the names as rows of features that have names, which are words."""
        column_of: dict[str, int] = {}
        for column, name in enumerate(feature_names):
            words = tokenize(str(name))
            if len(words) == 1:
                column_of.setdefault(words[0], column)
        lists = self._telling()
        found = [sorted(column_of[word] for word in own if word in column_of) for own in lists]
        unknown = [len(words) - len(own) for words, own in zip(lists, found, strict=True)]
        indptr = np.cumsum([0, *map(len, found)])
        indices = np.array([column for own in found for column in own], dtype=np.int64)
        shape = (len(found), len(feature_names))
        rows = csr_matrix((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=shape)
        alike = alike_words(map(_folded, feature_names))
        return LabelFeatures(rows, np.array(self.columns), alike, np.array(unknown))

    def _telling(self) -> list[set[str]]:
        """Return the words of each name but those that most names have."""
        lists = [set(tokenize(text)) for text in self.texts]
        if len(lists) < FEWEST_NAMES:
            return lists
        counts = Counter(word for words in lists for word in words)
        common = {word for word, n in counts.items() if n > COMMON * len(lists)}
        return [words - common for words in lists] if common else lists


def labels_without_rows(labels: LabelEncoder) -> list[str]:
    """Return what the vocabulary's labels that are no columns yet would be called, if by any name.

    They go by key where the columns do, else by name where only one label has it.
    """
    known = labels.vocabulary
    if known is None or labels.names is None:
        return []
    vocabulary = known.vocabulary
    there = np.flatnonzero(known.entry_of != NOT_THERE)
    by_key = [labels.names[at] == vocabulary.key(int(known.entry_of[at])) for at in there[:1000]]
    keyed = 2 * sum(by_key) >= len(by_key)
    taken = set(labels.names)
    found = []
    for entry in np.flatnonzero(known.column_of == NOT_THERE).tolist():
        if not vocabulary.names_of(entry):
            continue
        name = vocabulary.name(entry)
        if keyed or name in taken or vocabulary.find(name) != [entry]:
            name = vocabulary.key(entry)
        if name not in taken:
            taken.add(name)
            found.append(name)
    return found


def _names_of(labels: LabelEncoder, column: int) -> Iterator[str]:
    known = labels.vocabulary
    entry = NOT_THERE
    if known is not None and column < len(known.entry_of):
        entry = int(known.entry_of[column])
    if known is not None and entry != NOT_THERE:
        yield from sorted({name.text for name in known.vocabulary.names_of(entry)})
    elif labels.names is not None:
        yield labels.name(column)


def _without_common(rows: csr_matrix) -> csr_matrix:
    """Return names without the features that most of them have."""
    n_names = np.bincount(rows.indices, minlength=rows.shape[1])
    common = n_names > COMMON * rows.shape[0]
    if rows.shape[0] >= FEWEST_NAMES and common.any():
        rows = rows.copy()
        rows.data[common[rows.indices]] = 0.0
        rows.eliminate_zeros()
    return rows


def _folded(name: Any) -> str:
    words = tokenize(str(name))
    return words[0] if len(words) == 1 else str(name)
