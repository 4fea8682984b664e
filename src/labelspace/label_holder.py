"""What a tagger knows of its labels: names, keys, the vocabulary, and which of them are given."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from labelspace.base import LabelRanker
from labelspace.calibration import Threshold
from labelspace.data.formats.vocabulary_file import read_vocabulary
from labelspace.errors import LabelspaceWarning
from labelspace.label_catalog import LabelCatalog
from labelspace.label_choice import LabelChoice
from labelspace.label_rules import columns_of
from labelspace.labels import LabelEncoder
from labelspace.model_vocabulary import ModelVocabulary
from labelspace.vocabulary import NOT_THERE, Vocabulary


class LabelHolder:
    """The labels of a fitted ``Tagger``."""

    estimator_: LabelRanker

    @property
    def labels_(self) -> LabelEncoder:
        if not hasattr(self, "estimator_"):
            raise AttributeError("labels_ is there once the tagger is fitted")
        return self.estimator_._labels

    @property
    def vocabulary_(self) -> ModelVocabulary | None:
        return self.labels_.vocabulary

    @property
    def label_names_(self) -> list[str] | None:
        names = self.labels_.names
        return None if names is None else [str(name) for name in names]

    @property
    def catalog(self) -> LabelCatalog:
        """The labels by key and name, and what is broader."""
        return LabelCatalog(self.labels_)

    def use_vocabulary(self, vocabulary: Vocabulary | str | os.PathLike[str]) -> None:
        """Take another vocabulary (or the first), which may also come from a file.

        Columns that had a key before keep it, where the new vocabulary has it too.
        """
        catalog, keys = self.catalog, None
        if self.vocabulary_ is not None:
            columns = range(self.labels_.n_labels)
            keys = [catalog.key(label) or self.labels_.name(label) for label in columns]
        self.labels_.vocabulary = model_vocabulary(vocabulary, self.labels_, keys)

    def choice(
        self,
        k: int | None = None,
        threshold: Threshold = None,
        language: str | None = None,
        broader: str = "keep",
        allow: Iterable[int | str] | None = None,
        exclude: Iterable[int | str] = (),
        thresholds: Mapping[Any, float] | None = None,
    ) -> LabelChoice:
        """Return how labels are chosen from a ranking and named; parameters as for ``tag_many``."""
        catalog = self.catalog
        catalog.check_language(language)
        catalog.check_broader(broader)
        allowed = None if allow is None else columns_of(allow, catalog, "allow")
        excluded = columns_of(exclude, catalog, "exclude") | frozenset(self.labels_.excluded)
        given = (*self.limits(k, threshold), language, broader)
        own = {
            column: float(score)
            for label, score in (thresholds or {}).items()
            for column in catalog.columns([label])
        }
        return LabelChoice(catalog, *given, allowed, excluded, own)

    def limits(self, k: int | None = None, threshold: Threshold = None) -> tuple[int, float | None]:
        """Return how many labels are given at most, and the score that they need."""
        return self.estimator_.limits(k, threshold)


def model_vocabulary(
    vocabulary: Vocabulary | str | os.PathLike[str],
    labels: LabelEncoder,
    keys: Sequence[str] | None = None,
) -> ModelVocabulary:
    """Return a vocabulary, or the one in a file, with the columns that its labels have."""
    if not isinstance(vocabulary, Vocabulary):
        vocabulary = read_vocabulary(vocabulary)
    names = [labels.name(label) for label in range(labels.n_labels)]
    known = ModelVocabulary(vocabulary, names, keys)
    if labels.n_labels and (known.entry_of == NOT_THERE).all():
        warnings.warn(
            f"None of the {labels.n_labels:,} labels, such as '{names[0][:80]}', is a key or a "
            "name in the vocabulary.",
            LabelspaceWarning,
            stacklevel=3,
        )
    return known
