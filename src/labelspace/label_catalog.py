"""A model's labels as people know them: by key or name, in a language, with what is broader.

A model calls its columns as the corpus did (``LabelEncoder``), a vocabulary knows labels by key,
and ``ModelVocabulary`` holds the two together. ``LabelCatalog`` answers what people ask, for a
model with a vocabulary or without one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.csr import NamedColumns
from labelspace.errors import AmbiguousLabel, UnknownLabel, UsageError
from labelspace.labels import LabelEncoder
from labelspace.vocabulary import NOT_THERE

BROADER = ("keep", "hide", "add")

_NAME_AND_KEY = re.compile(r"(.+) <([^<>]+)>")


class Tag(tuple[str, float]):
    """A label given to a row: ``name, score = tag``, and its ``key`` and column ``label``.

    Examples
    --------
    >>> tag = Tag("rose", 0.5, key="g2", label=7)
    >>> tag == ("rose", 0.5), tag.key
    (True, 'g2')
    """

    label: int
    key: str | None

    def __new__(cls, name: str, score: float, *, key: str | None, label: int) -> Tag:
        """Make a tag, which is the pair of its name and score."""
        made = super().__new__(cls, (name, score))
        made.label, made.key = label, key
        return made

    @property
    def name(self) -> str:
        """The label's name."""
        return self[0]

    @property
    def score(self) -> float:
        """The label's score."""
        return self[1]


class LabelCatalog:
    """What is asked about the labels of a model.

    Parameters
    ----------
    labels : LabelEncoder
        What the model calls its columns, and the vocabulary that they are of, if any.

    Examples
    --------
    >>> from labelspace.model_vocabulary import ModelVocabulary
    >>> from labelspace.vocabulary import Entry, LabelName, Vocabulary
    >>> labels = LabelEncoder()
    >>> _ = labels.learn([["g1", "g2"]])
    >>> names = [LabelName("Rose", "de"), LabelName("rose", "en")]
    >>> vocabulary = Vocabulary([Entry("g1", [LabelName("plant")]), Entry("g2", names, ["g1"])])
    >>> labels.vocabulary = ModelVocabulary(vocabulary, labels.names)
    >>> catalog = LabelCatalog(labels)
    >>> catalog.name(1, "en"), catalog.key(1), catalog.find("Rose")
    ('rose', 'g2', 1)
    >>> catalog.choose([(0, 0.9), (1, 0.8)], k=5, broader="hide")
    [(1, 0.8)]
    """

    def __init__(self, labels: LabelEncoder) -> None:
        self.labels = labels
        self._known = labels.vocabulary
        self._ancestors: dict[int, list[int]] = {}

    def entry(self, label: int) -> int:
        """Return the place of a column's label in the vocabulary, -1 if it is not in it."""
        if self._known is None or label >= len(self._known.entry_of):
            return NOT_THERE
        return int(self._known.entry_of[label])

    def key(self, label: int) -> str | None:
        """Return the key of a column's label; None where the vocabulary does not have it."""
        if self._known is None or (entry := self.entry(label)) == NOT_THERE:
            return None
        return self._known.vocabulary.key(entry)

    def name(self, label: int, language: str | None = None) -> str:
        """Return the name of a column's label, in a language if there is one in it."""
        own = self.labels.name(label)
        if self._known is None or (entry := self.entry(label)) == NOT_THERE:
            return own
        vocabulary = self._known.vocabulary
        if (
            language is None
            and vocabulary.default_language is None
            and own != vocabulary.key(entry)
        ):
            return own
        return vocabulary.name(entry, language)

    @property
    def languages(self) -> list[str]:
        """Languages that labels have names in, the one with most of them first."""
        return (
            [] if self._known is None else [one for one in self._known.vocabulary.languages if one]
        )

    @property
    def has_broader(self) -> bool:
        """Whether the vocabulary says which labels are broader."""
        return self._known is not None and bool(self._known.vocabulary.broader.nnz)

    def check_language(self, language: str | None) -> str | None:
        """Return a language as given; one that the model has no names in is an error."""
        if self._known is not None:
            return self._known.vocabulary.check_language(language)
        if language is not None:
            raise UsageError(
                "This model has no vocabulary, so that it knows no languages: train it with "
                "--vocabulary FILE."
            )
        return None

    def check_broader(self, broader: str) -> None:
        """Raise if what is broader cannot be hidden or added."""
        if broader not in BROADER:
            raise UsageError(f"broader is '{broader}': give one of {', '.join(BROADER)}.")
        if broader != "keep" and not self.has_broader:
            raise UsageError(
                "This model's vocabulary has no broader labels: train it with a --vocabulary FILE "
                "that has some."
            )

    def tag(self, label: int, score: float, language: str | None = None) -> Tag:
        """Return a column's label with its score, as people see it."""
        return Tag(self.name(label, language), score, key=self.key(label), label=label)

    def find(self, label: int | str) -> int | None:
        """Return the column of a label given by number, key or name; None if there is none.

        ``"rose <g2>"``, name and key as they are shown, does as well. A name that several labels
        have is an error that names them.
        """
        if isinstance(label, int):
            return self.labels.find(label)
        known = self._known
        if known is not None and (by_key := known.vocabulary.keys.find(label)):
            column = int(known.column_of[by_key[0]])
            return None if column == NOT_THERE else column
        found = self.labels.find_all(label)
        if not found and known is not None:
            columns = known.column_of[known.vocabulary.find(label)]
            found = columns[columns != NOT_THERE].tolist()
        if len(found) > 1:
            raise AmbiguousLabel(
                f"{len(found)} labels are called '{label[:80]}': give one of "
                + ", ".join(map(self._told_apart, found[:8]))
                + (", …." if len(found) > 8 else ".")
            )
        if not found and (both := _NAME_AND_KEY.fullmatch(label)) is not None:
            meant = self.find(both[2])
            names = [] if meant is None else self.all_names(meant)
            return meant if both[1] in names else None
        return found[0] if found else None

    def columns(self, labels: Iterable[int | str]) -> frozenset[int]:
        """Return the columns of labels; those that only the vocabulary has are left out.

        One that is in neither is an error, and so is a name that several have.
        """
        found = set()
        for label in labels:
            column = self.find(label)
            if column is not None:
                found.add(column)
            elif not self.knows(label):
                raise UnknownLabel(
                    f"There is no label '{str(label)[:80]}': give a key or a name that the model "
                    "knows."
                )
        return frozenset(found)

    def all_names(self, label: int) -> list[str]:
        """Return all names of a column's label, the model's own first."""
        own = [self.labels.name(label)]
        if self._known is None or (entry := self.entry(label)) == NOT_THERE:
            return own
        return own + [name.text for name in self._known.vocabulary.names_of(entry)]

    def find_one(self, label: str) -> int | None:
        """Return the column of a label; None if there is none, or if several have its name."""
        try:
            return self.find(label)
        except AmbiguousLabel:
            return None

    def knows(self, label: int | str) -> bool:
        """Return whether a label is one of the model's, or of its vocabulary's without any row."""
        if self.find(label) is not None:
            return True
        return (
            isinstance(label, str)
            and self._known is not None
            and bool(self._known.vocabulary.find(label))
        )

    def ancestors(self, label: int) -> list[int]:
        """Return the columns of all labels above a label, the nearest first."""
        if label not in self._ancestors:
            found: list[int] = []
            if self._known is not None and (entry := self.entry(label)) != NOT_THERE:
                above = self._known.column_of[self._known.vocabulary.ancestors(entry)]
                found = above[above != NOT_THERE].tolist()
            self._ancestors[label] = found
        return self._ancestors[label]

    def n_ranked(self, k: int, broader: str = "keep") -> int:
        """Return how many labels have to be ranked for ``choose`` to find ``k``."""
        return 5 * k + 20 if broader == "hide" else k

    def choose(
        self, ranked: Iterable[tuple[int, float]], k: int, broader: str = "keep"
    ) -> list[tuple[int, float]]:
        """Return the ``k`` labels of a ranking that are given, best first.

        ``"hide"`` leaves out labels that are broader than another one given, and goes on down the
        ranking until there are ``k``. ``"add"`` gives with each of the ``k`` all labels above it,
        each with at least the score of those below it.
        """
        if broader == "hide":
            return self._without_broader(ranked, k)
        chosen = [pair for pair, _ in zip(ranked, range(k), strict=False)]
        if broader != "add":
            return chosen
        scores = dict(chosen)
        for label, score in chosen:
            for above in self.ancestors(label):
                scores[above] = max(score, scores.get(above, -np.inf))
        return sorted(scores.items(), key=lambda pair: -pair[1])

    def parents(self, n_labels: int) -> list[list[int]]:
        """Return for each column the columns of the labels directly above it."""
        if self._known is None:
            return [[] for _ in range(n_labels)]
        graph, entry_of = self._known.vocabulary.broader, self._known.entry_of
        column_of = self._known.column_of
        found = []
        for label in range(n_labels):
            entry = int(entry_of[label]) if label < len(entry_of) else NOT_THERE
            begin, end = (0, 0) if entry == NOT_THERE else graph.indptr[entry : entry + 2]
            above = column_of[graph.indices[begin:end]]
            found.append(above[above != NOT_THERE].tolist())
        return found

    def hierarchy(self, n_labels: int) -> csr_matrix:
        """Return the graph of broader labels, both ways: columns first, then what no row has."""
        if self._known is None or not self._known.vocabulary.broader.nnz:
            raise UsageError(
                "There is no vocabulary with broader labels to take the hierarchy from: give one "
                "with --vocabulary FILE, or the hierarchy as a file of its own."
            )
        node = self._known.column_of.copy()
        unseen = np.flatnonzero(node == NOT_THERE)
        node[unseen] = n_labels + np.arange(len(unseen))
        edges = self._known.vocabulary.broader.tocoo()
        ends = node[edges.row], node[edges.col]
        ones = np.ones(2 * edges.nnz, dtype=np.float32)
        n_nodes = n_labels + len(unseen)
        both = (np.concatenate(ends), np.concatenate(ends[::-1]))
        graph = csr_matrix((ones, both), shape=(n_nodes, n_nodes))
        graph.sum_duplicates()
        graph.data[:] = 1.0
        return graph

    def resolved(self, labels: Any) -> Any:
        """Return label lists by key or name as columns, with the names of all; others as they are.

        Names that neither the model nor its vocabulary has are new columns, in sorted order.
        """
        own = self.labels.names
        if own is None or not isinstance(labels, list | tuple) or not labels:
            return labels
        if not all(isinstance(row, list | tuple | set | frozenset) for row in labels):
            return labels
        if not all(isinstance(label, str) for row in labels for label in row):
            return labels
        found = {label: self.find(label) for label in {one for row in labels for one in row}}
        column_of = {label: column for label, column in found.items() if column is not None}
        new = sorted(found.keys() - column_of.keys())
        column_of.update({label: len(own) + at for at, label in enumerate(new)})
        columns = [sorted({column_of[label] for label in row}) for row in labels]
        indptr = np.cumsum([0, *map(len, columns)])
        indices = np.array([one for row in columns for one in row], dtype=np.int64)
        ones = np.ones(len(indices), dtype=np.float32)
        shape = (len(labels), len(own) + len(new))
        return NamedColumns(csr_matrix((ones, indices, indptr), shape=shape), [*own, *new])

    def _without_broader(
        self, ranked: Iterable[tuple[int, float]], k: int
    ) -> list[tuple[int, float]]:
        kept: list[tuple[int, float]] = []
        for label, score in ranked:
            above = self.ancestors(label)
            if any(label in self.ancestors(other) and other not in above for other, _ in kept):
                continue
            kept = [
                pair for pair in kept if pair[0] not in above or label in self.ancestors(pair[0])
            ]
            kept.append((label, score))
            if len(kept) == k:
                break
        return kept

    def _told_apart(self, label: int) -> str:
        key = self.key(label)
        return f"number {label}" if key is None else f"'{key}'"
