"""A vocabulary as a model knows it: which of its labels each column of the model is."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from labelspace.errors import LabelspaceWarning
from labelspace.store import Storable, schema
from labelspace.vocabulary import NOT_THERE, Vocabulary


class ModelVocabulary(Storable):
    """A vocabulary, and which of its labels each column of a model is.

    Parameters
    ----------
    vocabulary : Vocabulary
    names : sequence of str
        What the model calls its columns: keys, or names that one label of the vocabulary has.
    keys : sequence of str, optional
        Keys of the columns, where they are known; a column whose key is not in the vocabulary
        goes by its name.

    Attributes
    ----------
    entry_of : ndarray of shape (n_columns,)
        -1 where a column is no label of the vocabulary.
    column_of : ndarray of shape (n_entries,)
        -1 where no training row had the label.
    """

    _schema: ClassVar[schema.Schema] = {
        "vocabulary": schema.part("Vocabulary", n_entries="n_entries"),
        "entry_of": schema.array("int64", "n_columns", low=-1, below="n_entries"),
        "column_of": schema.array("int64", "n_entries", low=-1, below="n_columns"),
    }

    def __init__(
        self, vocabulary: Vocabulary, names: Sequence[str], keys: Sequence[str] | None = None
    ) -> None:
        self.vocabulary = vocabulary
        self.entry_of: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.column_of = np.full(len(vocabulary), NOT_THERE, dtype=np.int64)
        self._take(names, keys)

    def extended(self, names: Sequence[str]) -> ModelVocabulary:
        """Return the same with columns that are new; ``names`` are those of all columns."""
        if len(names) == len(self.entry_of):
            return self
        made = copy(self)  # the model may be answering meanwhile
        made.column_of = self.column_of.copy()
        made._take(names)
        return made

    def _take(self, names: Sequence[str], keys: Sequence[str] | None = None) -> None:
        n_known = len(self.entry_of)
        new = [str(name) for name in names[n_known:]]
        found: NDArray[np.int64] = self.vocabulary.match(new)
        if keys is not None:
            by_key = [self.vocabulary.keys.find(key) for key in keys[n_known:]]
            found = np.array(
                [one[0] if one else at for one, at in zip(by_key, found, strict=True)], np.int64
            )
        if n_several := int((found < NOT_THERE).sum()):
            name = new[int(np.flatnonzero(found < NOT_THERE)[0])]
            warnings.warn(
                f"{n_several:,} labels have names that several labels of the vocabulary have, such "
                f"as '{name[:80]}', and stay without a key: write keys in the corpus.",
                LabelspaceWarning,
                stacklevel=4,
            )
        columns = n_known + np.arange(len(new))
        found = np.maximum(found, NOT_THERE)
        good = found != NOT_THERE
        # Of several columns that are the same label, the first is the one that is found.
        entries, places = found[good][::-1], columns[good][::-1]
        before = self.column_of[entries]
        self.column_of[entries] = np.where(before == NOT_THERE, places, before)
        self.entry_of = np.concatenate((self.entry_of, found))
