"""pandas, polars and pyarrow objects as rows and labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from labelspace import Tagger, frames
from labelspace.errors import DataError
from labelspace.labels import LabelEncoder
from labelspace.models import OneVsAll

pd = pytest.importorskip("pandas")

TEXTS = ["a red ball", "a green ball", "a red cube", "a green cube"]
LISTS = [["red", "round"], ["green", "round"], ["red"], []]
ONE_HOT = {"round": [1, 1, 0, 0], "red": [1, 0, 1, 0], "green": [0, 1, 0, 0]}


def frame(library: str, columns: dict[str, Any]) -> Any:
    module = pytest.importorskip(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


each_library = pytest.mark.parametrize("library", frames.LIBRARIES)


@each_library
def test_one_hot_frames_keep_the_names_of_their_columns(library: str) -> None:
    encoder = LabelEncoder()
    assert encoder.learn(frame(library, ONE_HOT)).toarray().T.tolist() == list(ONE_HOT.values())
    assert encoder.names == ["round", "red", "green"]
    as_bools = {name: [bool(value) for value in column] for name, column in ONE_HOT.items()}
    assert encoder.encode(frame(library, as_bools)).sum() == 5


@each_library
def test_columns_of_lists_of_texts_and_of_classes(library: str) -> None:
    table = frame(library, {"text": TEXTS, "labels": LISTS, "kind": ["a", "b", "a", "b"]})
    tagger = Tagger("most-common").fit(table["text"], table["labels"])
    assert tagger.label_names_ == ["green", "red", "round"]
    assert tagger.estimator_.label_counts_.tolist() == [1, 2, 2]
    assert tagger.tag_many(table["text"], k=1) == tagger.tag_many(TEXTS, k=1)
    one = Tagger("knn").fit(table["text"], table["kind"])
    assert one.predict(table["text"]).tolist() == ["a", "b", "a", "b"]


@each_library
def test_a_frame_of_one_text_column_is_that_column(library: str) -> None:
    tagger = Tagger("knn").fit(frame(library, {"text": TEXTS}), frame(library, {"labels": LISTS}))
    assert tagger.tag("red", k=1) == Tagger("knn").fit(TEXTS, LISTS).tag("red", k=1)
    both = frame(library, {"title": ["red", None], "text": ["ball", "cube"]})
    assert frames.rows_of(both) == ["red ball", "cube"]


@each_library
def test_a_frame_of_numbers_is_features_with_names(library: str) -> None:
    X = frame(library, {"wide": [1.0, 0.0, 1.0, 0.0], "high": [0, 1, 0, 1]})
    model = OneVsAll(random_state=0).fit(X, frame(library, ONE_HOT))
    assert model.feature_names_ == ["wide", "high"]
    assert model.classes_.tolist() == ["round", "red", "green"]
    turned = frame(library, {"high": [0], "wide": [1.0]})
    with pytest.raises(ValueError, match="order"):
        model.predict(turned)
    assert Tagger("knn").fit(X, LISTS).feature_name(1) == "high"
    with pytest.raises(DataError, match="'text' of the features holds no numbers"):
        model.fit(frame(library, {"wide": [1, 2, 3, 4], "text": TEXTS}), LISTS)


@each_library
def test_a_frame_of_texts_and_numbers_is_refused(library: str) -> None:
    with pytest.raises(DataError, match=r"text \('title'\) and of numbers \('year'\)"):
        frames.rows_of(frame(library, {"title": TEXTS, "year": [1, 2, 3, 4]}))


@each_library
def test_missing_labels(library: str) -> None:
    lists = frame(library, {"labels": [["red"], None]})["labels"]
    assert LabelEncoder().learn(lists).toarray().tolist() == [[1], [0]]
    with pytest.raises(DataError, match=r"1 of 3 rows have no label .* row 1"):
        LabelEncoder().learn(frame(library, {"labels": ["red", None, "green"]})["labels"])
    with pytest.raises(DataError, match=r"'red' of the labels has no value .* row 1"):
        LabelEncoder().learn(frame(library, {"red": [1, None], "round": [0, 1]}))
    with pytest.raises(DataError, match="'red' of the labels holds 2 in row 0"):
        LabelEncoder().learn(frame(library, {"red": [2, 1], "round": [0, 1]}))
    with pytest.raises(DataError, match="'size' of the labels is neither"):
        LabelEncoder().learn(frame(library, {"red": [0, 1], "size": ["s", "l"]}))


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_missing_labels_in_lists_get_a_sentence(missing: Any) -> None:
    with pytest.raises(DataError, match="A label is missing"):
        LabelEncoder().learn([["red", missing], ["green"]])


def test_categories_are_classes() -> None:
    column = pd.Series(["b", "a", "b"], dtype="category")
    assert frames.labels_of(column).tolist() == ["b", "a", "b"]
    polars = pytest.importorskip("polars")
    assert frames.labels_of(polars.Series(["b", "a"], dtype=polars.Categorical)).tolist() == [
        "b",
        "a",
    ]
    arrow = pytest.importorskip("pyarrow")
    assert frames.labels_of(arrow.array(["b", "a"]).dictionary_encode()).tolist() == ["b", "a"]


def test_lazy_frames_are_collected() -> None:
    lazy = pytest.importorskip("polars").LazyFrame({"text": TEXTS})
    assert frames.rows_of(lazy) == TEXTS


@each_library
def test_tags_come_back_as_a_frame(library: str) -> None:
    tagger = Tagger("most-common").fit(TEXTS, LISTS)
    tags = tagger.tag_many(frame(library, {"text": TEXTS[:2]}), k=2, as_frame=True)
    assert frames.library_of(tags) == library
    assert frames.column_names(tags) == ["row", "label", "score"]
    columns = {name: frames._listed(tags[name]) for name in ("row", "label", "score")}
    assert columns["row"] == [0, 0, 1, 1]
    assert columns["label"] == ["red", "round"] * 2
    assert columns["score"] == [0.5] * 4


def test_tags_in_pandas_go_by_the_index() -> None:
    tagger = Tagger("most-common").fit(TEXTS, LISTS)
    texts = pd.Series(TEXTS[:2], index=["one", "two"])
    assert tagger.tag_many(texts, k=1, as_frame=True)["row"].tolist() == ["one", "two"]
    assert tagger.tag_many(TEXTS[:2], k=1, as_frame=True)["row"].tolist() == [0, 1]


def test_arrays_of_text_are_texts() -> None:
    assert frames.rows_of(pd.DataFrame({"text": TEXTS}).to_numpy()) == TEXTS
    numbers = np.ones((2, 2))
    assert frames.rows_of(numbers) is numbers


def test_label_names_lose_the_blanks_around_them() -> None:
    names = Tagger("most-common").fit(TEXTS, [["red ", ""], [" red"], ["blue"], []]).label_names_
    assert names == ["blue", "red"]
