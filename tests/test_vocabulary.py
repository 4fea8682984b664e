"""Labels by key, with names in languages and what is broader."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelspace import store
from labelspace.errors import DataError, LabelspaceWarning, UsageError
from labelspace.vocabulary import Entry, LabelName, Strings, Vocabulary

GARDEN = [
    Entry("g1", [LabelName("Pflanze", "de"), LabelName("plant", "en")]),
    Entry(
        "g2",
        [LabelName("Rose", "de"), LabelName("rose", "en"), LabelName("Rosa", "", preferred=False)],
        ["g1"],
    ),
    Entry("g3", [LabelName("Teerose", "de")], ["g2"]),
    Entry("g4", [LabelName("rose", "en")]),
    Entry("g5"),
]


@pytest.fixture
def garden():
    return Vocabulary(GARDEN)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_strings_are_kept_and_found(texts):
    strings = Strings(texts)
    assert list(strings) == texts
    for text in texts:
        assert strings.find(text) == [at for at, one in enumerate(texts) if one == text]
    repeated = strings.first_repeated()
    assert (repeated is None) == (len(set(texts)) == len(texts))


def test_texts_with_the_same_checksum_are_told_apart():
    one, other = "plumless", "buckeroo"  # a known pair with equal CRC-32
    strings = Strings([one, other])
    assert strings._codes[0] == strings._codes[1]
    assert (strings.find(one), strings.find(other)) == ([0], [1])
    assert strings.first_repeated() is None


def test_names_are_in_the_asked_language_where_there_is_one(garden):
    assert [garden.name(1, language) for language in ("de", "en", "en-GB")] == [
        "Rose",
        "rose",
        "rose",
    ]
    assert garden.name(2, "en") == "Teerose"
    assert garden.name(4, "en") == "g5"


def test_without_a_language_the_commonest_or_the_chosen_one_is_taken(garden):
    assert garden.languages[0] in ("de", "en")
    assert Vocabulary(GARDEN[:3]).name(0) == "Pflanze"
    garden.default_language = "en"
    assert garden.name(0) == "plant"


def test_a_language_that_no_name_is_in_is_refused(garden):
    assert garden.check_language("de-AT") == "de-AT"
    with pytest.raises(UsageError, match="no names in 'fi'"):
        garden.check_language("fi")


def test_keys_come_before_preferred_names_and_these_before_others(garden):
    assert garden.find("g2") == [1]
    assert garden.find("rose") == [1, 3]
    assert garden.find("Rosa") == [1]
    assert garden.find("tulip") == []
    assert garden.match(["Rose", "rose", "tulip"]).tolist() == [1, -2, -1]


def test_ancestors_are_all_labels_above_the_nearest_first(garden):
    assert garden.ancestors(2) == [1, 0]
    assert garden.ancestors(0) == []


def test_a_circle_of_broader_labels_ends():
    circle = Vocabulary([Entry("a", broader=["b"]), Entry("b", broader=["a", "b"])])
    assert (circle.ancestors(0), circle.ancestors(1)) == ([1], [0])


def test_broader_labels_may_go_by_name_and_unknown_ones_are_counted():
    entries = [Entry("a", [LabelName("animal")]), Entry("b", broader=["animal", "gone"])]
    with pytest.warns(LabelspaceWarning, match="1 broader labels .* 'gone'"):
        vocabulary = Vocabulary(entries)
    assert vocabulary.ancestors(1) == [0]


@pytest.mark.parametrize(
    ("entries", "message"),
    [([Entry("a"), Entry("a")], "has the key 'a' twice"), ([Entry("")], "has no key for label 1")],
)
def test_keys_have_to_be_there_and_differ(entries, message):
    with pytest.raises(DataError, match=message):
        Vocabulary(entries)


def test_a_stored_vocabulary_has_no_object_for_each_label(garden, tmp_path):
    store.save(garden, tmp_path / "it")
    loaded = store.load(tmp_path / "it")
    assert [loaded.names_of(entry) for entry in range(5)] == [
        garden.names_of(entry) for entry in range(5)
    ]
    assert loaded.ancestors(2) == [1, 0]
    kinds = {type(part) for part in vars(loaded.keys).values()}
    assert kinds == {np.ndarray}
