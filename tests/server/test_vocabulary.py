"""Keys, languages and broader labels over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from labelspace import Tagger
from labelspace.vocabulary import Entry, LabelName, Vocabulary
from tests.server.running import TOKEN

TEXTS = ["roses and tulips", "roses bloom", "money in the bank", "the bank of the river"]
# Two labels of one name, as a labels.txt with keys gives them.
COLUMNS = ["plant", "rose", "bank", "bank"]
KEYS = ["k.plant", "k.rose", "k.bank.money", "k.bank.river"]
LABELS = [[0, 1], [0, 1], [2], [3]]


@pytest.fixture
def client(client_of, tmp_path):
    entries = [
        Entry("k.plant", [LabelName("plant"), LabelName("Pflanze", "de")]),
        Entry("k.rose", [LabelName("rose"), LabelName("Rose", "de")], ["k.plant"]),
        Entry("k.bank.money", [LabelName("bank"), LabelName("Bank", "de")]),
        Entry("k.bank.river", [LabelName("bank"), LabelName("Ufer", "de")]),
        Entry("k.tulip", [LabelName("tulip")], ["k.plant"]),
    ]
    tagger = Tagger("knn")
    tagger.fit(TEXTS, LABELS, COLUMNS, vocabulary=Vocabulary(entries), label_keys=KEYS)
    tagger.save(tmp_path / "model")
    return client_of(tmp_path / "model", token=TOKEN)


def tag(client: Any, status: int = 200, **body: Any) -> Any:
    answer = client.post("/v1/tag", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()["labels"] if status == 200 else answer.json()["error"]


def test_labels_have_keys_and_names_in_the_asked_language(client):
    [label] = tag(client, text="bank of the river", k=1, language="de")
    assert (label["key"], label["name"]) == ("k.bank.river", "Ufer")
    assert "no names in 'fi'" in tag(client, 409, text="bank", language="fi")


def test_broader_labels_are_hidden_or_added(client):
    hidden = tag(client, text="roses bloom", k=2, broader="hide")
    assert "k.plant" not in {label["key"] for label in hidden}
    added = tag(client, text="roses bloom", k=1, broader="add", exclude=["k.plant"])
    assert [label["key"] for label in added] == ["k.rose"]
    added = tag(client, text="roses bloom", k=2, broader="add", allow=["k.plant", "rose"])
    assert {label["key"] for label in added} == {"k.plant", "k.rose"}


def test_allow_and_exclude_take_keys_and_refuse_ambiguous_names(client):
    [label] = tag(client, text="bank of the river", allow=["k.bank.river"])
    assert label["key"] == "k.bank.river"
    message = tag(client, 422, text="bank", exclude=["bank"])
    assert message == "2 labels are called 'bank': give one of 'k.bank.money', 'k.bank.river'."
    assert "There is no label 'tree'" in tag(client, 404, text="bank", allow=["tree"])
    assert tag(client, text="bank", allow=["tulip"]) == []


def test_labels_that_are_searched_for_have_keys(client):
    found = client.get("/v1/labels", params={"q": "bank"}).json()["labels"]
    assert {label["key"] for label in found} == {"k.bank.money", "k.bank.river"}


def test_rows_are_taught_by_key(client):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    row = {"text": "roses bloom at the bank", "labels": ["k.bank.river", "tulip"]}
    answer = client.post("/v1/learn", json={"rows": [row]}, headers=headers)
    assert answer.status_code == 200, answer.text
    found = tag(client, text="roses bloom at the bank", k=5)
    assert {"k.bank.river", "k.tulip"} <= {label["key"] for label in found}
    row = {"text": "roses", "labels": ["bank"]}
    answer = client.post("/v1/learn", json={"rows": [row]}, headers=headers)
    assert answer.status_code == 422
    assert "2 labels are called 'bank'" in answer.text


def test_rules_and_thresholds_of_single_labels(client):
    text = "roses in the bank of the river"

    def keys(**rules: Any) -> set[str]:
        return {label["key"] for label in tag(client, text=text, k=4, **rules)}

    assert keys(allow=["below:plant"]) == {"k.plant", "k.rose"}
    assert keys(exclude=["pattern:k.bank.*"]) == {"k.plant", "k.rose"}
    assert "k.rose" not in keys(thresholds={"rose": 1.5})
    assert "no collection 'x'" in tag(client, 404, text=text, allow=["collection:x"])
    assert "no label 'tree'" in tag(client, 404, text=text, thresholds={"tree": 0.5})
