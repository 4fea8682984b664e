"""Texts to tf-idf features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

from labelspace import engine, store
from labelspace.data.text.features import FEW_TEXTS, TextFeatures
from labelspace.errors import DataError, UsageError

TEXTS = ["red ball", "green ball ball", "", "red and green cube", "blue"]
CONFIGURATIONS = [
    {},
    {"ngrams": 2},
    {"ngrams": 0, "char_ngrams": (2, 4)},
    {"char_ngrams": (3, 3)},
    {"n_hashes": 64},
    {"n_hashes": 64, "ngrams": 2},
    {"max_features": 3},
]


def test_weights_are_those_of_scikit_learn():
    ours = TextFeatures().fit_transform(TEXTS)
    theirs = TfidfVectorizer(sublinear_tf=True).fit_transform(TEXTS)
    np.testing.assert_allclose(ours.toarray(), theirs.toarray(), rtol=1e-6)


@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_rows_are_float32_csr_of_length_one(parameters):
    X = TextFeatures(**parameters).fit_transform(TEXTS)
    assert isinstance(X, csr_matrix)
    assert X.dtype == np.float32
    assert X.indices.dtype == np.int32
    assert X.has_canonical_format
    assert X[2].nnz == 0
    lengths = np.sqrt(X.multiply(X).sum(axis=1)).A1
    np.testing.assert_allclose(lengths[lengths > 0], 1.0, rtol=1e-5)


@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_transform_gives_the_rows_of_fit_transform(parameters):
    features = TextFeatures(**parameters)
    X = features.fit_transform(text for text in TEXTS)
    assert features.n_features_ == X.shape[1]
    assert abs(X - features.transform(iter(TEXTS))).max() == 0
    assert abs(X[3] - features.transform([TEXTS[3]])).max() == 0


@pytest.mark.parametrize("parameters", CONFIGURATIONS, ids=str)
def test_saved_features_give_the_same_rows(parameters, tmp_path):
    features = TextFeatures(**parameters)
    X = features.fit_transform([*TEXTS, "中文 हिन्दी"])
    store.save(features, tmp_path / "features")
    loaded = store.load(tmp_path / "features")
    assert loaded.get_params() == features.get_params()
    assert abs(X - loaded.transform([*TEXTS, "中文 हिन्दी"])).max() == 0


def test_unknown_words_are_passed_over():
    features = TextFeatures().fit(TEXTS)
    X = features.transform(["purple pyramid", "red pyramid", ""])
    assert X.shape == (3, features.n_features_)
    assert X.getnnz(axis=1).tolist() == [0, 1, 0]


def test_no_texts_give_no_rows():
    for parameters in ({}, {"n_hashes": 16}):
        features = TextFeatures(**parameters).fit(TEXTS)
        assert features.transform([]).shape == (0, features.n_features_)


def test_rare_words_are_dropped_only_from_larger_corpora():
    few = ["common rare1", "common"]
    assert "rare1" in TextFeatures().fit(few).vocabulary_
    many = few + ["common"] * FEW_TEXTS
    assert "rare1" not in TextFeatures().fit(many).vocabulary_
    assert "rare1" in TextFeatures(min_df=1).fit(many).vocabulary_


def test_words_that_are_all_rare_are_kept():
    unique = [f"word{number}" for number in range(FEW_TEXTS)]
    assert TextFeatures().fit(unique).n_features_ == FEW_TEXTS


def test_features_in_too_many_texts_are_dropped():
    texts = ["the red ball", "the green ball", "the cube", "cone"]
    features = TextFeatures(max_df=0.5).fit(texts)
    assert features.get_feature_names_out().tolist() == ["ball", "cone", "cube", "green", "red"]


def test_hashing_keeps_to_the_limits_and_takes_in_new_words():
    texts = ["the red ball", "the green ball", "the cube", "cone"]
    features = TextFeatures(n_hashes=1 << 16, min_df=2, max_df=0.5).fit(texts)
    assert features.transform(["the", "ball", "cube", "unheard"]).getnnz(axis=1).tolist() == [
        0,
        1,
        0,
        1,
    ]


def test_max_features_keeps_those_in_most_texts():
    features = TextFeatures(max_features=2).fit(["aa bb cc", "aa bb", "aa dd", "bb"])
    assert features.get_feature_names_out().tolist() == ["aa", "bb"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "single text"),
        (b"bytes", "single text"),
        (None, "NoneType"),
        (3, "int"),
        (["good", None], r"Text 1 .* None"),
        (["good", float("nan")], r"Text 1 .* nan"),
        ([b"bytes"], r"Text 0 .* bytes"),
        ([["a", "list"]], r"Text 0 .* list"),
        ([], "no texts"),
        (["", "..."], "None of the 2 texts has a word"),
    ],
)
def test_what_is_no_text_is_refused(texts, message):
    with pytest.raises(DataError, match=message):
        TextFeatures().fit(texts)


def test_limits_that_leave_nothing_are_refused():
    with pytest.raises(DataError, match="make min_df smaller"):
        TextFeatures(min_df=3).fit(["aa", "bb"])
    with pytest.raises(DataError, match="max_df larger"):
        TextFeatures(max_df=0.1).fit(["aa", "bb"])


@pytest.mark.parametrize(
    "parameters",
    [{"ngrams": 0}, {"char_ngrams": (3,)}, {"char_ngrams": (5, 3)}, {"char_ngrams": (0, 2)}],
    ids=str,
)
def test_sizes_that_make_no_sense_are_refused(parameters):
    with pytest.raises(UsageError):
        TextFeatures(**parameters).fit(TEXTS)


def test_hashed_features_have_no_names():
    with pytest.raises(UsageError, match="no names"):
        TextFeatures(n_hashes=8).fit(TEXTS).get_feature_names_out()


def test_clone_and_parameters_work_as_in_scikit_learn():
    features = clone(TextFeatures(ngrams=2).set_params(max_features=7))
    assert (features.ngrams, features.max_features) == (2, 7)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(), min_size=1, max_size=8))
def test_any_texts_come_back_from_a_saved_state(texts):
    features = TextFeatures(ngrams=2)
    try:
        X = features.fit_transform(texts)
    except DataError as error:
        assert "has a word" in str(error)  # noqa: PT017
        return
    again = TextFeatures._from_state(features._to_state())
    assert abs(X - again.transform(texts)).max() == 0


def test_stems_make_one_feature_of_words_that_differ_in_an_ending(tmp_path):
    features = TextFeatures(stems=True, ngrams=2)
    X = features.fit_transform(["neural networks", "a neural network"], words={"netzen"})
    assert list(features.vocabulary_) == ["network", "netz", "neural", "neural network"]
    assert np.array_equal(X[0].toarray(), X[1].toarray())
    store.save(features, tmp_path / "features")
    found = store.load(tmp_path / "features").transform(["networks", "Netze"])
    assert found.indices.tolist() == [0, 1]


def test_words_at_the_beginning_count_four_times_each(tmp_path):
    features = TextFeatures(lead=2, ngrams=2)
    counts, found = features.count(iter(["red ball and red cube"]))
    assert dict(zip(found, counts.toarray()[0], strict=True)) == {
        "red": 5,
        "ball": 4,
        "and": 1,
        "cube": 1,
        "red ball": 4,
        "ball and": 1,
        "and red": 1,
        "red cube": 1,
    }
    X = features.fit_transform(["red ball and cube", "green cube"])
    store.save(features, tmp_path / "features")
    again = store.load(tmp_path / "features")
    assert abs(X - again.transform(["red ball and cube", "green cube"])).max() == 0


def test_features_of_a_folder_that_says_nothing_of_stems_and_lead_have_none():
    state = TextFeatures().fit(["red ball"])._to_state()
    state.pop("stems")
    state.pop("lead")
    TextFeatures._check_state(dict(state), store.schema.Sizes())
    assert TextFeatures._from_state(state).transform(["red"]).nnz == 1


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("threads", {}),
        ("threads", {"ngrams": 2, "char_ngrams": (3, 4)}),
        ("threads", {"n_hashes": 64}),
        ("processes", {"stems": True, "lead": 2, "max_features": 9}),
    ],
    ids=str,
)
def test_an_engine_counts_parts_of_the_texts_with_the_same_outcome(
    name: str, told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelspace.data.text.counting_blocks.LEAST", 5)
    rng = np.random.default_rng(0)
    words = ["rot", "grüne", "Bälle", "\ud800halb", "balls", "ball", "x1", "日本語"]
    texts = ["", *(" ".join(rng.choice(words, size=n)) for n in rng.integers(0, 9, size=60))]
    alone = TextFeatures(**told)
    expected = alone.fit_transform(texts, words=["ball", "new"])
    with engine.using(name, n_workers=2) as used:
        found = TextFeatures(**told)
        rows = found.fit_transform(iter(texts), words=["ball", "new"])
    assert [line["stage"] for line in used.log] == ["counting words"] * 12
    for one, other in zip(_arrays(rows), _arrays(expected), strict=True):
        assert one.tobytes() == other.tobytes()
    assert found.idf_.tobytes() == alone.idf_.tobytes()
    assert getattr(found, "vocabulary_", None) == getattr(alone, "vocabulary_", None)


def _arrays(rows: csr_matrix) -> tuple[np.ndarray, ...]:
    return rows.indptr, rows.indices, rows.data
