"""The labels of a model by key, name and language."""

from __future__ import annotations

import pytest

from labelspace.errors import AmbiguousLabel, LabelspaceWarning, UsageError
from labelspace.label_catalog import LabelCatalog
from labelspace.labels import LabelEncoder
from labelspace.model_vocabulary import ModelVocabulary
from labelspace.vocabulary import Entry, LabelName, Vocabulary

ENTRIES = [
    Entry("k.thing", [LabelName("thing")]),
    Entry("k.plant", [LabelName("plant"), LabelName("Pflanze", "de")], ["k.thing"]),
    Entry("k.rose", [LabelName("rose"), LabelName("Rose", "de")], ["k.plant"]),
    Entry("k.bank.1", [LabelName("bank"), LabelName("shore", preferred=False)], ["k.thing"]),
    Entry("k.bank.2", [LabelName("bank")], ["k.thing"]),
    Entry("k.unseen", [LabelName("tulip")], ["k.plant"]),
]
COLUMNS = ["thing", "plant", "rose", "bank", "bank"]
THING, PLANT, ROSE, BANK, OTHER_BANK = range(5)


def catalog_of(names, keys=None, entries=ENTRIES):
    labels = LabelEncoder()
    labels.names, labels.n_labels, labels.kind = list(names), len(names), "matrix"
    if entries:
        labels.vocabulary = ModelVocabulary(Vocabulary(entries), names, keys)
    return LabelCatalog(labels)


@pytest.fixture
def catalog():
    return catalog_of(COLUMNS, [entry.key for entry in ENTRIES[:5]])


def test_keys_of_columns_tell_equal_names_apart(catalog):
    assert [catalog.key(label) for label in (BANK, OTHER_BANK)] == ["k.bank.1", "k.bank.2"]
    assert catalog.find("k.bank.2") == OTHER_BANK
    with pytest.raises(AmbiguousLabel, match=r"2 labels are called 'bank'.*'k.bank.1', 'k.bank.2'"):
        catalog.find("bank")


def test_labels_are_found_by_number_key_and_any_of_their_names(catalog):
    found = [catalog.find(label) for label in (2, "k.rose", "rose", "Rose", "shore", "cheese", 9)]
    assert found == [ROSE, ROSE, ROSE, ROSE, BANK, None, None]


def test_labels_without_rows_are_known_but_have_no_column(catalog):
    assert catalog.find("tulip") is None
    assert catalog.find("k.unseen") is None
    assert catalog.knows("tulip")
    assert not catalog.knows("cheese")


def test_names_are_the_corpuss_own_unless_it_has_keys_or_a_language_is_asked_for(catalog):
    by_name = catalog_of(["Rose"])
    assert (by_name.key(0), by_name.name(0), by_name.name(0, "de")) == ("k.rose", "Rose", "Rose")
    by_key = catalog_of(["k.rose"])
    assert (by_key.name(0), by_key.name(0, "de")) == ("rose", "Rose")
    assert catalog.name(PLANT, "de") == "Pflanze"
    assert catalog.name(BANK, "de") == "bank"


def test_columns_with_ambiguous_names_and_no_keys_get_none():
    with pytest.warns(LabelspaceWarning, match="such as 'bank'"):
        catalog = catalog_of(["bank", "rose"])
    assert (catalog.key(0), catalog.key(1)) == (None, "k.rose")


def test_of_two_columns_that_are_one_label_the_first_is_found():
    catalog = catalog_of(["Rose", "rose"])
    assert (catalog.find("k.rose"), catalog.key(1)) == (0, "k.rose")


def test_hidden_broader_labels_make_room_for_the_next(catalog):
    ranked = [(THING, 0.9), (PLANT, 0.8), (BANK, 0.7), (ROSE, 0.6), (OTHER_BANK, 0.5)]
    assert catalog.choose(ranked, 2, "keep") == ranked[:2]
    assert catalog.choose(ranked, 1, "hide") == [(THING, 0.9)]
    assert catalog.choose(ranked, 2, "hide") == [(PLANT, 0.8), (BANK, 0.7)]
    assert catalog.choose(ranked, 3, "hide") == [(BANK, 0.7), (ROSE, 0.6), (OTHER_BANK, 0.5)]


def test_a_broader_label_that_comes_later_is_hidden_too(catalog):
    ranked = [(ROSE, 0.9), (THING, 0.8), (PLANT, 0.7)]
    assert catalog.choose(ranked, 3, "hide") == [(ROSE, 0.9)]


def test_added_broader_labels_score_at_least_as_much_as_those_below(catalog):
    added = catalog.choose([(ROSE, 0.9), (BANK, 0.3)], 2, "add")
    assert dict(added) == {ROSE: 0.9, PLANT: 0.9, THING: 0.9, BANK: 0.3}
    assert [score for _, score in added] == [0.9, 0.9, 0.9, 0.3]
    assert dict(catalog.choose([(THING, 0.2), (ROSE, 0.1)], 2, "add"))[THING] == 0.2


def test_labels_in_a_circle_do_not_hide_each_other():
    entries = [Entry("a", broader=["b"]), Entry("b", broader=["a"])]
    catalog = catalog_of(["a", "b"], entries=entries)
    assert catalog.choose([(0, 0.9), (1, 0.8)], 2, "hide") == [(0, 0.9), (1, 0.8)]


def test_what_a_model_without_broader_labels_cannot_do_is_said():
    flat = catalog_of(["a"], entries=[Entry("a")])
    with pytest.raises(UsageError, match="no broader labels"):
        flat.check_broader("hide")
    with pytest.raises(UsageError, match="no vocabulary with broader labels"):
        flat.hierarchy(1)
    with pytest.raises(UsageError, match="broader is 'hid'"):
        flat.check_broader("hid")
    plain = catalog_of(["a"], entries=None)
    assert (plain.key(0), plain.name(0), plain.find("a")) == (None, "a", 0)
    with pytest.raises(UsageError, match="no vocabulary"):
        plain.check_language("de")


def test_label_lists_by_key_or_name_become_columns_and_new_ones_come_last(catalog):
    resolved = catalog.resolved([["k.bank.2", "rose"], ["zebra", "ape"]])
    assert resolved.names == [*COLUMNS, "ape", "zebra"]
    assert [row.indices.tolist() for row in resolved.values] == [[ROSE, OTHER_BANK], [5, 6]]


def test_the_hierarchy_has_labels_first_and_then_those_without_rows(catalog):
    graph = catalog.hierarchy(5).toarray()
    assert graph.shape == (6, 6)
    assert (graph == graph.T).all()
    assert graph[ROSE].tolist() == [0, 1, 0, 0, 0, 0]
    assert graph[5].tolist() == [0, 1, 0, 0, 0, 0]


def test_parents_are_the_columns_directly_above(catalog):
    assert catalog.parents(5) == [[], [THING], [PLANT], [THING], [THING]]
