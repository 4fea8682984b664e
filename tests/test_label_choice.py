"""Which labels are given: allowed and excluded ones, by key, by name or both."""

from __future__ import annotations

import pytest

from labelspace import Tagger
from labelspace.errors import AmbiguousLabel, UnknownLabel, UsageError
from labelspace.vocabulary import Entry, LabelName, Vocabulary

TEXTS = ["roses and tulips", "roses bloom", "money in the bank", "the bank of the river"]
COLUMNS = ["plant", "rose", "bank", "bank"]
KEYS = ["k.plant", "k.rose", "k.bank.money", "k.bank.river"]
LABELS = [[0, 1], [0, 1], [2], [3]]


@pytest.fixture(scope="module")
def tagger():
    entries = [
        Entry("k.plant", [LabelName("plant"), LabelName("Pflanze", "de")]),
        Entry("k.rose", [LabelName("rose"), LabelName("Rose", "de")], ["k.plant"]),
        Entry("k.bank.money", [LabelName("bank")]),
        Entry("k.bank.river", [LabelName("bank"), LabelName("Ufer", "de")]),
        Entry("k.tulip", [LabelName("tulip")], ["k.plant"]),
    ]
    made = Tagger("knn", n_neighbors=4, n_threads=1)
    return made.fit(TEXTS, LABELS, COLUMNS, vocabulary=Vocabulary(entries), label_keys=KEYS)


def keys(tags):
    return [tag.key for tag in tags]


@pytest.mark.parametrize("one", ["k.bank.river", "Ufer", 3, "bank <k.bank.river>"])
def test_a_label_is_allowed_by_key_name_number_or_name_and_key(tagger, one):
    assert keys(tagger.tag("roses at the bank", allow=[one])) == ["k.bank.river"]


def test_keys_and_names_go_together(tagger):
    tags = tagger.tag("roses at the bank", allow=["k.bank.money", "rose"])
    assert set(keys(tags)) == {"k.bank.money", "k.rose"}


def test_what_is_excluded_makes_room_for_the_next(tagger):
    usual = keys(tagger.tag("roses and tulips bloom", k=2))
    assert usual == ["k.plant", "k.rose"]
    others = keys(tagger.tag("roses and tulips bloom at the bank", k=2, exclude=["plant"]))
    assert (others[0], len(others)) == ("k.rose", 2)
    assert "k.plant" not in others


def test_broader_labels_that_are_added_are_excluded_too(tagger):
    tags = tagger.tag("roses bloom", k=1, broader="add", exclude=["plant"])
    assert keys(tags) == ["k.rose"]


def test_an_ambiguous_name_is_refused_with_the_candidates(tagger):
    with pytest.raises(AmbiguousLabel, match=r"2 labels .* 'k.bank.money', 'k.bank.river'\."):
        tagger.tag("money", exclude=["bank"])


@pytest.mark.parametrize("wrong", ["tree", 7, "rose <k.plant>", "plant <k.none>"])
def test_a_label_that_is_not_there_is_refused(tagger, wrong):
    with pytest.raises(UnknownLabel, match="There is no label"):
        tagger.tag("money", allow=[wrong])


def test_a_label_of_the_vocabulary_without_rows_is_allowed_and_not_given(tagger):
    assert tagger.tag("money", allow=["tulip"]) == []


def test_a_text_is_no_list_of_labels(tagger):
    with pytest.raises(UsageError, match=r"allow is a text .* write \['rose'\]"):
        tagger.tag("roses", allow="rose")


def test_reasons_are_of_the_labels_that_are_given(tagger):
    choice = tagger.choice(k=2, allow=["k.bank.money"])
    [why] = tagger.explain_choice("money for roses", choice)
    assert (why.id, why.reasons[0].name) == (2, "money in the bank")
    assert tagger.explain_choice("money", tagger.choice(allow=["tulip"])) == []


def test_all_labels_of_many_rows_are_ranked_in_small_blocks(tagger, monkeypatch):
    monkeypatch.setattr("labelspace.tagger.MOST_RANKED", 8)
    assert [len(top) for top in tagger.ranked(TEXTS, 4)] == [2, 2]
