"""Rules: labels by pattern, collection and branch, at prediction and at training."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace import Tagger
from labelspace.errors import UnknownLabel, UsageError
from labelspace.label_collections import CollectionName
from labelspace.vocabulary import Entry, LabelName, Vocabulary

PLACES = CollectionName("http://example.org/c/places", "places")
TEXTS = ["roses and tulips in Bern", "roses bloom", "money in Rome", "a bank in Bern", "tulips"]
LABELS = [
    ["http://p/rose", "http://p/tulip", "http://c/bern"],
    ["http://p/rose"],
    ["http://c/rome", "http://x/money"],
    ["http://c/bern", "http://x/money"],
    ["http://p/tulip"],
]
ALL = {label for row in LABELS for label in row}


@pytest.fixture(scope="module")
def vocabulary():
    return Vocabulary(
        [
            Entry("http://p/plant", [LabelName("plant")]),
            Entry("http://p/rose", [LabelName("rose")], ["http://p/plant"]),
            Entry("http://p/tulip", [LabelName("tulip")], ["http://p/plant"]),
            Entry("http://c/bern", [LabelName("Bern")], (), [PLACES]),
            Entry("http://c/rome", [LabelName("Rome"), LabelName("Roma", "it")], (), [PLACES]),
            Entry("http://c/oslo", [LabelName("Oslo")], (), [PLACES]),
            Entry("http://x/money", [LabelName("money")]),
        ]
    )


@pytest.fixture(scope="module")
def tagger(vocabulary):
    made = Tagger("knn", n_neighbors=5, n_threads=1)
    return made.fit(TEXTS, LABELS, vocabulary=vocabulary)


def keys(tagger, **rules):
    given = tagger.tag("roses tulips money bank Bern Rome", k=9, **rules)
    return {tag.key for tag in given}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("pattern:http://p/*", {"http://p/rose", "http://p/tulip"}),
        ("pattern:*://c/????", {"http://c/bern", "http://c/rome"}),
        ("pattern:ROM*", {"http://c/rome"}),
        ("collection:places", {"http://c/bern", "http://c/rome"}),
        ("collection:http://example.org/c/places", {"http://c/bern", "http://c/rome"}),
        ("money", {"http://x/money"}),
    ],
)
def test_a_rule_allows_and_excludes_the_labels_that_it_speaks_of(tagger, rule, expected):
    assert keys(tagger, allow=[rule]) == expected
    assert keys(tagger, exclude=[rule]) == ALL - expected


def test_a_branch_is_a_label_and_all_that_are_narrower(vocabulary):
    rows = [[*row, "http://p/plant"] if "http://p/rose" in row else row for row in LABELS]
    made = Tagger("knn", n_neighbors=5).fit(TEXTS, rows, vocabulary=vocabulary)
    plants = {"http://p/plant", "http://p/rose", "http://p/tulip"}
    assert keys(made, allow=["below:plant"]) == plants
    assert keys(made, exclude=["below:rose"]) == ALL - {"http://p/rose"} | {"http://p/plant"}


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("pattern:zebra*", "No label fits the pattern 'zebra\\*'"),
        ("collection:people", "no collection 'people' .* it has http://example.org/c/places"),
        ("below:zebra", "no label 'zebra'"),
        ("patern:ro*", "no label 'patern:ro\\*'"),
    ],
)
def test_a_rule_that_speaks_of_nothing_is_an_error(tagger, rule, sentence):
    with pytest.raises(UnknownLabel, match=sentence):
        keys(tagger, allow=[rule])


def test_a_pattern_of_labels_without_rows_gives_nothing(tagger):
    assert keys(tagger, allow=["pattern:*/oslo"]) == set()


def test_without_a_vocabulary_there_are_patterns_but_no_collections():
    made = Tagger("knn", n_neighbors=3).fit(["apple pear", "pear plum"], [["x:1", "y:1"], ["x:2"]])
    assert {tag.name for tag in made.tag("apple pear plum", allow=["pattern:x:*"])} == {
        "x:1",
        "x:2",
    }
    with pytest.raises(UnknownLabel, match="it has none"):
        made.tag("apple", allow=["collection:x"])
    with pytest.raises(UsageError, match="broader"):
        made.tag("apple", allow=["below:x:1"])


def test_a_label_that_is_called_like_a_rule_is_a_label():
    made = Tagger("knn", n_neighbors=3).fit(["apple pear", "pear plum"], [["pattern:*"], ["other"]])
    assert [tag.name for tag in made.tag("apple pear plum", allow=["pattern:*"])] == ["pattern:*"]


@pytest.mark.parametrize("method", ["knn", "one-vs-all", "labelspace"])
def test_what_is_excluded_in_training_is_not_learned_and_never_given(method, vocabulary, tmp_path):
    made = Tagger(method, n_threads=1).fit(
        TEXTS * 8, LABELS * 8, vocabulary=vocabulary, exclude=["collection:places"]
    )
    assert keys(made) <= ALL - {"http://c/bern", "http://c/rome"}
    bern = made.catalog.find("Bern")
    assert made.estimator_.label_counts_[bern] == 0
    made.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model")
    assert keys(loaded) == keys(made)
    assert keys(loaded, allow=["Bern"]) == set()


def test_what_is_not_allowed_in_training_is_not_learned():
    X = np.eye(4)
    made = Tagger("knn", n_neighbors=4).fit(X, [[0, 1], [1], [2], [0]], allow=[0, 2])
    assert {tag.label for tag in made.tag_many(X, k=3)[0]} <= {0, 2}
    assert made.estimator_.label_counts_.tolist() == [2, 0, 1]
    with pytest.raises(UsageError, match="leave no label"):
        Tagger("knn").fit(X, [[0, 1], [1], [2], [0]], exclude=[0, 1, 2])


def test_single_labels_have_thresholds_of_their_own(tagger):
    text = "roses tulips money bank Bern Rome"
    usual = {tag.key: tag.score for tag in tagger.tag(text, k=9)}
    least = sorted(usual.values())[1]
    best = max(usual, key=usual.__getitem__)
    worst = min(usual, key=usual.__getitem__)
    given = tagger.tag(text, k=9, threshold=least, thresholds={best: 1.1, worst: 0.0})
    found = {tag.key for tag in given}
    assert found == {one for one, score in usual.items() if score >= least} - {best} | {worst}


def test_a_label_below_its_threshold_makes_room_for_the_next(tagger):
    first, second = tagger.tag("roses tulips money bank", k=2)
    assert tagger.tag("roses tulips money bank", k=1, thresholds={first.key: 1.1}) == [second]
    with pytest.raises(UnknownLabel):
        tagger.tag("roses", thresholds={"zebra": 0.5})
