"""Which words of a text a model knows: what it was never shown, it cannot go by.

A model's words are those of the texts that it learned from, without the rarest. A text of other
words looks empty to it, or like whatever few words are left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from labelspace.data.text.features import TextFeatures
from labelspace.data.text.tokens import tokenize


class KnownWords(NamedTuple):
    """Words of a text, in order, and those of them that a model does not know."""

    words: list[str]
    unknown: list[str]

    @property
    def share(self) -> float:
        """Share of the words that are known; 0 where there are no words at all."""
        return 1.0 - len(self.unknown) / len(self.words) if self.words else 0.0


def known_words(features: Any, text: str) -> KnownWords | None:
    """Return the words of a text and those that fitted features do not know.

    None where features are not those of words: hashing takes every word, and pieces of words or
    vectors know something of any.

    >>> features = TextFeatures().fit(["a red ball", "a green ball"])
    >>> known_words(features, "a red zeppelin").unknown
    ['zeppelin']
    """
    if not isinstance(features, TextFeatures) or features.n_hashes is not None:
        return None
    if features.ngrams == 0 or features.char_ngrams is not None:
        return None
    words = tokenize(text)
    known = features.vocabulary_
    return KnownWords(words, [word for word in words if features.feature_of(word) not in known])
