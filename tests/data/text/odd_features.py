"""Transformers that are nobody's, made by functions that tests name by their import path."""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer


class Letters:
    """Dense counts of the letters that are in the first texts."""

    def fit(self, texts):
        self.letters = sorted(set("".join(texts)) - {" "})
        return self

    def transform(self, texts):
        return np.array([[text.count(letter) for letter in self.letters] for text in texts])


class Forgetful(Letters):
    """Keeps what it learns where nobody finds it."""

    _learned = {}

    def fit(self, texts):
        super().fit(texts)
        Forgetful._learned[id(self)] = vars(self).pop("letters")
        return self

    @property
    def letters(self):
        return self._learned.get(id(self), ["a"])

    @letters.setter
    def letters(self, value):
        vars(self)["letters"] = value


def split_in_two(text):
    return text.split()


def make_letters():
    return Letters()


def make_forgetful():
    return Forgetful()


def make_counts():
    return CountVectorizer(analyzer=split_in_two)


def make_nothing():
    return 3
