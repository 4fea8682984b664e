"""Text to features: tf-idf with defaults that suit large label sets.

scikit-learn does the weighting and the hashing; what is here is the counting of words in any
script (see ``tokens``), one pass over texts that need not be in memory, and a form that can be
kept in a model folder without pickle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.utils.validation import check_is_fitted

from labelspace import engine
from labelspace.csr import empty_csr
from labelspace.data.text.counting import count_all, count_known, keep_known
from labelspace.data.text.counting_blocks import count_in_blocks
from labelspace.data.text.stems import rough_stem
from labelspace.data.text.tokens import char_ngrams, tokenize, word_ngrams
from labelspace.errors import DataError, UsageError
from labelspace.parameters import FLAG, Tunable, real, split_state, whole
from labelspace.store import Storable, schema

# Below this many texts a word seen in only one of them may still be the one that matters.
FEW_TEXTS = 1000
LEAD_MORE = 3  # times that words at the beginning count beside the first
_NOT_TOLD: dict[str, Any] = {"stems": False, "lead": 0}  # in folders from before there were these


class TextFeatures(Storable, TransformerMixin, BaseEstimator):
    """Turn texts into rows of tf-idf weights.

    Term counts are damped (1 + ln count), multiplied with the inverse document frequency
    ln((1 + N) / (1 + n)) + 1, and each row is scaled to length 1. A text without known words gives
    an empty row.

    Parameters
    ----------
    ngrams : int, default=1
        Longest run of words that counts as a feature; 2 helps short texts and linear methods.
        With 0 there are no word features, only those of ``char_ngrams``.
    char_ngrams : tuple of two ints, optional
        Shortest and longest piece of a word that counts as a feature, such as ``(3, 5)``: for
        misspelt text and languages of many endings or long compounds.
    stems : bool, default=False
        Whether words that differ in a common ending of number or case count as one, as they do in
        English, German and the Romance languages.
    lead : int, default=0
        Words at the beginning of a text, such as a title, that count four times each: 12, say.
    min_df : int, optional
        Features in fewer texts are dropped. Unless given, 1 for fewer than 1,000 texts, else 2.
    max_df : float, default=1.0
        Features in more than this share of the texts are dropped. Long texts lose little by 0.2,
        and have far fewer features then.
    max_features : int, optional
        Keep only this many features, those in most texts.
    n_hashes : int, optional
        Hash features into this many columns (2**20, say) instead of keeping a vocabulary, so that
        memory is bounded whatever the texts hold. ``max_features`` then does nothing.

    Attributes
    ----------
    idf_ : ndarray of shape (n_features_,)
        Weight of each feature.
    vocabulary_ : dict of str to int
        Column of each feature; not there with hashing.

    Examples
    --------
    >>> features = TextFeatures()
    >>> X = features.fit_transform(["red ball", "green ball", ""])
    >>> X.toarray().round(2)
    array([[0.61, 0.  , 0.8 ],
           [0.61, 0.8 , 0.  ],
           [0.  , 0.  , 0.  ]], dtype=float32)
    >>> features.get_feature_names_out()
    array(['ball', 'green', 'red'], dtype=object)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "ngrams": [whole(0)],
        "char_ngrams": [tuple, list, None],
        "stems": [FLAG],
        "lead": [whole(0)],
        "min_df": [whole(), None],
        "max_df": [real(0, 1, "right")],
        "max_features": [whole(), None],
        "n_hashes": [whole(2, 1 << 30), None],
    }
    tunable: ClassVar[Tunable] = {"ngrams": (1, 2), "char_ngrams": (None, (3, 5))}

    _schema: ClassVar[schema.Schema] = {
        "idf_": schema.array("float32", "n_features", low=0),
        "n_texts_": schema.integer(1),
        "vocabulary": schema.maybe(schema.array("uint8", None)),
    }

    def __init__(
        self,
        *,
        ngrams: int = 1,
        char_ngrams: tuple[int, int] | None = None,
        stems: bool = False,
        lead: int = 0,
        min_df: int | None = None,
        max_df: float = 1.0,
        max_features: int | None = None,
        n_hashes: int | None = None,
    ) -> None:
        self.ngrams = ngrams
        self.char_ngrams = char_ngrams
        self.stems = stems
        self.lead = lead
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.n_hashes = n_hashes

    def fit(self, texts: Iterable[str], y: Any = None) -> TextFeatures:
        """Learn the features and their weights; ``texts`` are gone through once."""
        self.fit_transform(texts)
        return self

    def fit_transform(
        self, texts: Iterable[str], y: Any = None, *, words: Collection[str] = ()
    ) -> csr_matrix:
        """Learn the features and return the rows of these texts, as float32 CSR.

        ``words`` are features however few texts they are in, such as those of label names.
        """
        self._validate_params()
        _check_sizes(self.ngrams, self.char_ngrams)
        checked = strings(texts)
        counts, found = (
            count_in_blocks(checked, self.get_params())
            if engine.is_active()
            else self.count(checked)
        )
        if counts.shape[0] == 0:
            raise DataError("There are no texts to learn from: give at least one.")
        if self.n_hashes is None:
            wanted = {self.feature_of(word) for word in words}
            counts, found = self._selected(counts, found, wanted)
            self.vocabulary_ = {word: column for column, word in enumerate(found)}
        weights = TfidfTransformer(sublinear_tf=True).fit(counts)
        self.idf_ = weights.idf_.astype(np.float32)
        if self.n_hashes is not None:
            # A column that nothing fell into yet is kept, for words that come later.
            frequency = np.bincount(counts.indices, minlength=self.n_hashes)
            self.idf_[(frequency > 0) & ~self._within_limits(frequency, counts.shape[0])] = 0.0
        self.n_texts_ = counts.shape[0]
        return self._weighted(counts)

    def transform(self, texts: Iterable[str]) -> csr_matrix:
        """Return the rows of texts, as float32 CSR; unknown words are passed over."""
        check_is_fitted(self, "idf_")
        checked = strings(texts)
        if self.n_hashes is not None:
            return self._weighted(self._hashed(checked))
        token_lists = (self._tokens(text) for text in checked)
        return self._weighted(count_known(token_lists, self.vocabulary_))

    @property
    def n_features_(self) -> int:
        """Number of columns."""
        return len(self.idf_)

    @property
    def counts_single_words(self) -> bool:
        """Whether columns are words as they stand in texts, and all of these count the same."""
        more = self.stems or self.lead or self.char_ngrams is not None
        return self.ngrams == 1 and self.n_hashes is None and not more

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the feature of each column."""
        check_is_fitted(self, "idf_")
        if self.n_hashes is not None:
            raise UsageError(
                "Hashed features have no names: leave n_hashes out to keep a vocabulary."
            )
        return np.array(list(self.vocabulary_), dtype=object)

    def name_of(self, column: int) -> str:
        """Return the feature of one column, or with hashing its number."""
        hashed = self.n_hashes is not None
        return f"#{column}" if hashed else next(islice(self.vocabulary_, column, None))

    def feature_of(self, word: str) -> str:
        """Return what a word counts as: itself, or its stem."""
        return rough_stem(word) if self.stems else word

    def count(self, texts: Iterator[str]) -> tuple[csr_matrix, list[str]]:
        """Return the counts of features in each text, and the features unless they are hashed."""
        if self.n_hashes is not None:
            return self._hashed(texts), []
        return count_all(self._tokens(text) for text in texts)

    def _tokens(self, text: str) -> list[str]:
        words = tokenize(text)
        return self._tokens_of(words) + self._tokens_of(words[: self.lead]) * LEAD_MORE

    def _tokens_of(self, words: list[str]) -> list[str]:
        counted = [rough_stem(word) for word in words] if self.stems else words
        if self.ngrams == 1 and self.char_ngrams is None:
            return counted
        tokens = word_ngrams(counted, self.ngrams) if self.ngrams else []
        if self.char_ngrams is not None:
            tokens.extend(char_ngrams(words, *self.char_ngrams))
        return tokens

    def _hashed(self, texts: Iterator[str]) -> csr_matrix:
        # The tf-idf of a negative count is not defined, hence no alternating signs.
        hasher = HashingVectorizer(
            analyzer=self._tokens,
            n_features=self.n_hashes,
            alternate_sign=False,
            norm=None,
            dtype=np.float32,
        )
        first = next(texts, None)
        if first is None:
            return empty_csr(0, hasher.n_features)
        hashed = csr_matrix(hasher.transform(chain([first], texts)), dtype=np.float32)
        hashed.sum_duplicates()
        return hashed

    def _selected(
        self, counts: csr_matrix, words: list[str], wanted: Collection[str] = ()
    ) -> tuple[csr_matrix, list[str]]:
        """Keep the features that are frequent enough, or wanted, in alphabetical order."""
        n_texts = counts.shape[0]
        if not words:
            raise DataError(
                f"None of the {n_texts} texts has a word in it: give texts of words with at least "
                "two letters."
            )
        frequency = np.bincount(counts.indices, minlength=len(words))
        kept = np.flatnonzero(self._within_limits(frequency, n_texts))
        if self.max_features is not None and kept.size > self.max_features:
            most = np.argsort(-frequency[kept], kind="stable")[: self.max_features]
            kept = kept[most]
        if wanted and self.ngrams:
            known = set(words)
            new = sorted(word for word in wanted if word not in known)
            asked = np.array([word in wanted for word in words], dtype=np.bool_)
            kept = np.union1d(kept, np.flatnonzero(asked & (frequency <= self.max_df * n_texts)))
            kept = np.concatenate((kept, np.arange(len(words), len(words) + len(new))))
            words = [*words, *new]
        ordered = sorted(kept.tolist(), key=words.__getitem__)
        column = np.full(len(words), -1, dtype=np.int32)
        column[ordered] = np.arange(len(ordered), dtype=np.int32)
        counts = keep_known(counts.data, column[counts.indices], counts.indptr, len(ordered))
        return counts, [words[at] for at in ordered]

    def _within_limits(self, frequency: NDArray[Any], n_texts: int) -> NDArray[np.bool_]:
        """Say of each feature whether it is in neither too few nor too many texts."""
        min_df = self.min_df or (1 if n_texts < FEW_TEXTS or frequency.max() < 2 else 2)
        within: NDArray[np.bool_] = (frequency >= min_df) & (frequency <= self.max_df * n_texts)
        if not within.any():
            raise DataError(
                f"No feature is in at least {min_df} and at most {self.max_df:.0%} of the "
                f"{n_texts} texts: make min_df smaller or max_df larger."
            )
        return within

    def _weighted(self, counts: csr_matrix) -> csr_matrix:
        if counts.shape[0] == 0:
            return counts
        weights = TfidfTransformer(sublinear_tf=True)
        weights.idf_ = self.idf_
        weighted = csr_matrix(weights.transform(counts, copy=False), dtype=np.float32)
        if self.n_hashes is not None:
            weighted.eliminate_zeros()
        return weighted

    def _to_state(self) -> dict[str, Any]:
        state = dict(vars(self))
        if "vocabulary_" in state:
            joined = "\n".join(state.pop("vocabulary_"))
            state["vocabulary"] = np.frombuffer(joined.encode(), dtype=np.uint8)
        return state

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> TextFeatures:
        made = cls.__new__(cls)
        made.__dict__.update(_NOT_TOLD)
        joined = state.pop("vocabulary", None)
        made.__dict__.update(state)
        if joined is not None:
            words = joined.tobytes().decode().split("\n")
            made.vocabulary_ = {word: column for column, word in enumerate(words)}
            if len(made.vocabulary_) != len(state["idf_"]):
                raise schema.Mismatch("vocabulary has not one word for each feature")
        return made

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        made, learned = split_state(cls, {**_NOT_TOLD, **state})
        made._validate_params()
        _check_sizes(made.ngrams, made.char_ngrams)
        if learned:
            super()._check_state(learned, sizes)
            sizes.settle("n_features", made.n_hashes or sizes.known["n_features"])
            if ("vocabulary" in learned) == (made.n_hashes is not None):
                raise schema.Mismatch("vocabulary is there with hashing, or missing without")


def strings(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts; anything that is not one is an error that says where."""
    if isinstance(texts, (str, bytes)):
        raise DataError("A single text was given where a list of texts is needed: write [text].")
    try:
        iterator = iter(texts)
    except TypeError:
        raise DataError(
            f"Texts are needed, but {type(texts).__name__} is no list of them: give strings."
        ) from None
    for row, text in enumerate(iterator):
        if not isinstance(text, str):
            raise DataError(
                f"Text {row} (counted from 0) is {_shortened(text)}, of type "
                f"{type(text).__name__}: give strings, and '' where there is no text."
            )
        yield text


def _shortened(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:39] + "…"


def _check_sizes(ngrams: int, pieces: Any) -> None:
    if pieces is None and ngrams:
        return
    if pieces is None:
        raise UsageError("With ngrams=0 there is nothing left: set char_ngrams, such as (3, 5).")
    whole = len(pieces) == 2 and all(isinstance(size, Integral) for size in pieces)
    if not whole or not 1 <= pieces[0] <= pieces[1]:
        raise UsageError(
            f"char_ngrams is {pieces!r}, but it is the shortest and the longest piece: "
            "give two whole numbers, such as (3, 5)."
        )
