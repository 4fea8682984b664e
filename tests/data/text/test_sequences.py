"""Texts as rows of word numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labelspace import store
from labelspace.data import WordSequences
from labelspace.errors import DataError

TEXTS = ["the red ball", "the ball, the ball", "", "a cube"]


def test_words_count_by_falling_frequency_and_keep_their_order() -> None:
    features = WordSequences()
    X = features.fit_transform(TEXTS)
    number = features.vocabulary_
    assert sorted(number.values()) == [1, 2, 3, 4]
    assert (number["the"], number["ball"]) == (1, 2)
    assert X[1].toarray().ravel().tolist() == [1, 2, 1, 2]
    assert X[2].nnz == 0
    again = features.transform(TEXTS)
    assert np.array_equal(again.toarray(), X.toarray())


def test_unknown_words_are_passed_over_and_long_texts_cut() -> None:
    features = WordSequences(max_words=2).fit(TEXTS)
    X = features.transform(["an unheard red thing on the ball ball ball"])
    assert X.shape == (1, 2)
    number = features.vocabulary_
    assert X.toarray().ravel().tolist() == [number["red"], number["the"]]


def test_rare_and_frequent_words_can_be_left_out() -> None:
    assert set(WordSequences(min_df=2).fit(TEXTS).vocabulary_) == {"the", "ball"}
    assert set(WordSequences(max_df=0.3).fit(TEXTS).vocabulary_) == {"red", "cube"}
    assert set(WordSequences(max_features=1).fit(TEXTS).vocabulary_) == {"the"}
    with pytest.raises(DataError, match="min_df"):
        WordSequences(min_df=3).fit(TEXTS)
    with pytest.raises(DataError, match="no texts"):
        WordSequences().fit([])
    with pytest.raises(DataError, match="has a word"):
        WordSequences().fit(["", "?"])


def test_it_comes_back_from_a_folder(tmp_path: Path) -> None:
    features = WordSequences().fit(TEXTS)
    store.save(features, tmp_path / "features")
    again = store.load(tmp_path / "features")
    assert again.vocabulary_ == features.vocabulary_
    assert np.array_equal(again.transform(TEXTS).toarray(), features.transform(TEXTS).toarray())
    assert again.name_of(0) == "word 1"
