"""What labels are called reaches methods that listen: from vocabularies, label lists and files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import NamedColumns, Tagger
from labelspace.data.text.features import TextFeatures
from labelspace.errors import UsageError
from labelspace.label_names import LabelNames, labels_without_rows
from labelspace.labels import LabelEncoder
from labelspace.model_vocabulary import ModelVocabulary
from labelspace.vocabulary import Entry, LabelName, Vocabulary

TEXTS = [
    "roses are red flowers of the garden",
    "tulips need water",
    "a violin and a cello",
    "the piano concerto",
    "how to prune roses with a steam hose",
    "string quartets and an engine",
] * 3
LABELS = [["g1"], ["g2"], ["m1"], ["m2"], ["g1"], ["m1"]] * 3
VOCABULARY = Vocabulary(
    [
        Entry("g1", [LabelName("roses", "en"), LabelName("Rosen", "de")]),
        Entry("g2", [LabelName("tulips", "en")]),
        Entry("m1", [LabelName("string instruments", "en")]),
        Entry("m2", [LabelName("piano", "en")]),
        Entry("x1", [LabelName("steam engine", "en")]),
        Entry("x2", []),
    ]
)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(n_threads=1).fit(TEXTS, LABELS, vocabulary=VOCABULARY)


def test_labels_of_the_vocabulary_without_rows_are_given_by_name(tagger: Tagger) -> None:
    assert tagger.label_names_ == ["g1", "g2", "m1", "m2", "x1"]  # x2 has no name to go by
    found = {tag.name: tag for tag in tagger.tag("the steam engine", k=3)}
    assert found["steam engine"].key == "x1"
    assert "steam engine" not in dict(tagger.tag("steam for the garden", k=5))


def test_a_method_that_does_not_listen_learns_as_before() -> None:
    tagger = Tagger("knn").fit(TEXTS, LABELS, vocabulary=VOCABULARY)
    assert tagger.label_names_ == ["g1", "g2", "m1", "m2"]


def test_labels_are_added_by_name(tagger: Tagger, tmp_path) -> None:
    tagger.save(tmp_path / "model")
    own = Tagger.load(tmp_path / "model")
    own.add_labels(["garden hose"])
    assert "garden hose" in dict(own.tag("a garden hose", k=2))
    for names, message in ((["bicycle"], "no word of the label 'bicycle'"), (["g1"], "already")):
        with pytest.raises(UsageError, match=message):
            own.add_labels(names)
    assert len(own.label_names_) == 6
    with pytest.raises(UsageError, match="does not know labels by name"):
        Tagger("knn").fit(TEXTS, LABELS).add_labels(["garden"])


def test_new_labels_of_lessons_have_names_as_well(tagger: Tagger, tmp_path) -> None:
    tagger.save(tmp_path / "model")
    own = Tagger.load(tmp_path / "model")
    own.partial_fit(["water for the violin"], [["concerto"]])
    names = own.estimator_.names_
    assert names.n_labels == 6
    assert names.names_of[-1] - names.names_of[-2] == 1


def test_names_of_features_are_words_as_well() -> None:
    X = csr_matrix(np.eye(4, dtype=np.float32)[[0, 1, 2, 3] * 4])
    Y = csr_matrix(np.eye(3, dtype=np.float32)[[0, 1, 1, 0] * 4])
    rows = NamedColumns(X, ["red", "round", "Steam", "engines"])
    tagger = Tagger(n_threads=1).fit(rows, Y, ["TAG_red", "TAG_round", "TAG_steam_engine"])
    both = csr_matrix(np.array([[0, 0, 1, 1]], dtype=np.float32))
    names = tagger.estimator_.names_
    assert names.find(tagger.estimator_.rows_.encode(both), 3)[0, 0] == -1  # "TAG" is no feature
    assert names.figures(both, np.array([[2]]))[0, 0, 0] > 0.3


def test_a_prefix_of_all_names_is_not_missed() -> None:
    encoder = LabelEncoder()
    encoder.learn([[f"TAG_{letter}{letter}" for letter in "abcdefghij"]])
    told = LabelNames.of(encoder).as_rows(["aa", "bb", "other"])
    assert told.n_unknown is not None
    assert told.n_unknown.tolist() == [0, 0, *[1] * 8]
    assert np.diff(told.rows.indptr).tolist() == [1, 1, *[0] * 8]


def test_words_of_names_are_features_however_rare() -> None:
    features = TextFeatures(min_df=2)
    X = features.fit_transform(["red ball", "red cube", "rare word"], words={"rare", "unheard"})
    assert list(features.vocabulary_) == ["rare", "red", "unheard"]
    assert X.shape == (3, 3)
    assert features.transform(["unheard"]).nnz == 1


def test_labels_without_rows_go_as_the_others_do() -> None:
    for given, expected in ((["g1", "g2"], ["m1", "m2", "x1"]), (["roses", "piano"], None)):
        encoder = LabelEncoder()
        encoder.learn([given])
        encoder.vocabulary = ModelVocabulary(VOCABULARY, encoder.names)
        found = labels_without_rows(encoder)
        assert found == (expected or ["tulips", "string instruments", "steam engine"])
