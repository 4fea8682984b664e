"""Word2Vec for NeuralXC's texts: vectors of words, and a text as the mean of its words' vectors.

Skip-gram with negative sampling (Mikolov et al., 2013) on the training texts, by the same code that
learns DXML's vectors of labels: there a walk is a sentence of labels, here a text is one of words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.models.dxml.skip_gram import skip_gram

DIM = 100
MIN_COUNT = 5  # as in the authors' program
LONGEST = 200  # words of a text

Floats = NDArray[np.float32]


class WordVectors:
    """Vectors of the words of some texts.

    Examples
    --------
    >>> texts = ["a dog barks", "a dog runs", "a car runs"] * 20
    >>> words = WordVectors(texts, dim=4, seed=0)
    >>> words.encode(["the dog barks", "unknown"]).shape
    (2, 4)
    """

    def __init__(self, texts: Sequence[str], dim: int = DIM, seed: int = 0) -> None:
        counts = Counter(word for text in texts for word in split(text))
        frequent = sorted(word for word, count in counts.items() if count >= MIN_COUNT)
        self.numbers = {word: number for number, word in enumerate(frequent)}
        sentences = [self._numbers(text)[:LONGEST] for text in texts]
        walks = np.full((len(texts), max(map(len, sentences))), -1, np.int32)
        for row, sentence in enumerate(sentences):
            walks[row, : len(sentence)] = sentence
        self.vectors = skip_gram(walks, len(frequent), dim, seed=seed, n_threads=1)

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return the mean of each text's words, of length one; zeros where none is known."""
        known = [self._numbers(text) for text in texts]
        lengths = [len(words) for words in known]
        rows = np.repeat(np.arange(len(texts)), lengths)
        words = np.array([number for row in known for number in row], np.int64)
        shape = (len(texts), len(self.vectors))
        counts = csr_matrix((np.ones(len(words), np.float32), (rows, words)), shape)
        sums = np.asarray(counts @ self.vectors)
        lengths_of_sums = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.asarray(sums / np.maximum(lengths_of_sums, 1e-12), np.float32)

    def _numbers(self, text: str) -> list[int]:
        return [self.numbers[word] for word in split(text) if word in self.numbers]


def split(text: str) -> Iterable[str]:
    """Return the words of a text.

    >>> list(split("A dog, two dogs"))
    ['a', 'dog', 'two', 'dogs']
    """
    return re.findall(r"\w+", text.lower())
