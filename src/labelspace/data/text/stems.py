"""Rough stems: words that differ in a common ending are taken as one, in any European language.

Names of labels are written in the singular or the plural, texts in any case. A stemmer that knows
a language would have to be told which; cutting the few endings of number and case that English,
German and the Romance languages share is enough to find most names in most texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

SHORTEST = 4
_ENDINGS = ("ern", "ies", "es", "en", "er", "em", "s", "e", "n", "y")


@lru_cache(maxsize=1 << 18)
def rough_stem(word: str) -> str:
    """Return a word without its ending, if enough of it remains.

    >>> [rough_stem(word) for word in ("networks", "Netzen", "library", "libraries", "bus")]
    ['network', 'Netz', 'librar', 'librar', 'bus']
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            return word[: -len(ending)]
    return word


def alike_words(words: Iterable[str]) -> NDArray[np.int64]:
    """Return for each word the place of the first one with its stem.

    >>> alike_words(["net", "network", "networks"])
    array([0, 1, 1])
    """
    first: dict[str, int] = {}
    return np.array(
        [first.setdefault(rough_stem(word), at) for at, word in enumerate(words)], dtype=np.int64
    )
