"""Text to sequences: the words of a text in their order, as numbers.

For methods that read, such as XML-CNN. A row has the number of its first word in column 0, of its
second in column 1 and so on; words count from 1 by falling frequency, and those that are not known
are passed over.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from labelspace.data.text.features import FEW_TEXTS, strings
from labelspace.data.text.tokens import tokenize
from labelspace.errors import DataError
from labelspace.parameters import real, split_state, whole
from labelspace.store import Storable, schema

# Whole numbers up to here are exact as float32, which rows are made of.
MOST_WORDS = 1 << 24


class WordSequences(Storable, TransformerMixin, BaseEstimator):
    """Turn texts into rows of word numbers.

    Parameters
    ----------
    max_words : int, default=500
        Known words of a text that are kept, from its beginning.
    min_df : int, optional
        Words in fewer texts are not known. Unless given, 1 for fewer than 1,000 texts, else 2.
    max_df : float, default=1.0
        Words in more than this share of the texts are passed over.
    max_features : int, default=200_000
        Words that are known at most, those in most texts.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Number of each word, from 1.

    Examples
    --------
    >>> WordSequences().fit_transform(["red ball", "the ball", "", "red the"]).toarray()
    array([[1., 2.],
           [3., 2.],
           [0., 0.],
           [1., 3.]], dtype=float32)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_words": [whole()],
        "min_df": [whole(), None],
        "max_df": [real(0, 1, "right")],
        "max_features": [whole(1, MOST_WORDS)],
    }
    _schema: ClassVar[schema.Schema] = {
        "n_features_": schema.size("n_features"),
        "vocabulary": schema.array("uint8", None),
    }

    def __init__(
        self,
        *,
        max_words: int = 500,
        min_df: int | None = None,
        max_df: float = 1.0,
        max_features: int = 200_000,
    ) -> None:
        self.max_words = max_words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features

    def fit(self, texts: Iterable[str], y: Any = None) -> WordSequences:
        """Learn the words; ``texts`` are gone through once."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> csr_matrix:
        """Learn the words and return the rows of these texts, as float32 CSR.

        There are as many columns as the longest of these texts has words, ``max_words`` at most.
        """
        self._validate_params()
        met: dict[str, int] = {}
        ids, lengths, frequency = array("i"), [0], array("q")
        for text in strings(texts):
            numbers = [met.setdefault(word, len(met)) for word in tokenize(text)]
            frequency.extend([0] * (len(met) - len(frequency)))
            for number in set(numbers):
                frequency[number] += 1
            ids.extend(numbers)
            lengths.append(len(numbers))
        if len(lengths) == 1:
            raise DataError("There are no texts to learn from: give at least one.")
        kept = self._kept(np.array(frequency), len(lengths) - 1)
        words = list(met)
        self.vocabulary_ = {words[at]: number for number, at in enumerate(kept.tolist(), 1)}
        number_of = np.zeros(len(words), dtype=np.int32)
        number_of[kept] = np.arange(1, len(kept) + 1)
        ptr = np.cumsum(lengths)
        rows = self._rows(number_of[np.frombuffer(ids, dtype=np.int32)], ptr, self.max_words)
        self.n_features_ = int(np.diff(rows.indptr).max(initial=1))
        return csr_matrix((rows.data, rows.indices, rows.indptr), (rows.shape[0], self.n_features_))

    def transform(self, texts: Iterable[str]) -> csr_matrix:
        """Return the rows of texts, as float32 CSR."""
        check_is_fitted(self, "vocabulary_")
        numbers, ptr = array("i"), [0]
        for text in strings(texts):
            numbers.extend(self.vocabulary_.get(word, 0) for word in tokenize(text))
            ptr.append(len(numbers))
        return self._rows(np.array(numbers, dtype=np.int32), np.array(ptr), self.n_features_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return what each column is: the place of a word."""
        check_is_fitted(self, "vocabulary_")
        return np.array([self.name_of(column) for column in range(self.n_features_)], dtype=object)

    def name_of(self, column: int) -> str:
        """Return what a column is."""
        return f"word {column + 1}"

    def _kept(self, frequency: NDArray[np.int64], n_texts: int) -> NDArray[np.int64]:
        """Return the words that are known, most frequent first, of equals those met first."""
        if not len(frequency):
            raise DataError(
                f"None of the {n_texts} texts has a word in it: give texts of words with at least "
                "two letters."
            )
        min_df = self.min_df or (1 if n_texts < FEW_TEXTS or frequency.max() < 2 else 2)
        within = (frequency >= min_df) & (frequency <= self.max_df * n_texts)
        if not within.any():
            raise DataError(
                f"No word is in at least {min_df} and at most {self.max_df:.0%} of the {n_texts} "
                "texts: make min_df smaller or max_df larger."
            )
        order = np.argsort(-frequency, kind="stable")
        return order[within[order]][: self.max_features]

    @staticmethod
    def _rows(numbers: NDArray[np.int32], ptr: NDArray[Any], most: int) -> csr_matrix:
        """Return rows of the first known words, ``most`` each; an unknown word has the number 0."""
        known = numbers > 0
        before = np.concatenate(([0], np.cumsum(known)))
        ptr = before[ptr]
        numbers = numbers[known]
        places = np.arange(len(numbers)) - np.repeat(ptr[:-1], np.diff(ptr))
        first = places < most
        ptr = np.concatenate(([0], np.cumsum(first)))[ptr]
        data = numbers[first].astype(np.float32)
        return csr_matrix((data, places[first].astype(np.int32), ptr), (len(ptr) - 1, most))

    def _to_state(self) -> dict[str, Any]:
        state = dict(vars(self))
        if "vocabulary_" in state:
            joined = "\n".join(state.pop("vocabulary_"))
            state["vocabulary"] = np.frombuffer(joined.encode(), dtype=np.uint8)
        return state

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> WordSequences:
        made = cls.__new__(cls)
        joined = state.pop("vocabulary", None)
        made.__dict__.update(state)
        if joined is not None:
            words = joined.tobytes().decode().split("\n")
            made.vocabulary_ = {word: number for number, word in enumerate(words, 1)}
        return made

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        made, learned = split_state(cls, state)
        made._validate_params()
        if learned:
            super()._check_state(learned, sizes)
