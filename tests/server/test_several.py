"""Several models on one server, and what is told of the languages of texts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from labelspace import Tagger
from labelspace.data.text.languages import detect_language
from labelspace.server.app import make_apps
from labelspace.server.settings import ServerSettings
from tests.server.running import TOKEN

ENGLISH = ["the cat is on the roof of the house", "the dog is in the garden with a ball"]
FRENCH = ["le chat est sur le toit de la maison", "le chien est dans le jardin avec une balle"]


@pytest.fixture
def both(tmp_path: Path) -> Iterator[TestClient]:
    for name, texts, labels in (
        ("english", ENGLISH, [["cats"], ["dogs"]]),
        ("french", FRENCH, [["chats"], ["chiens"]]),
    ):
        Tagger("knn").fit(texts, labels).save(tmp_path / name)
    settings = ServerSettings(
        str(tmp_path / "english"), others=(str(tmp_path / "french"),), token=TOKEN
    )
    client = TestClient(make_apps(settings), base_url="http://localhost")
    with client:
        yield client


def tags(client: Any, text: str, below: str = "") -> Any:
    told = client.post(f"{below}/v1/tag", json={"text": text, "words": True})
    assert told.status_code == 200, told.text
    return told.json()


def test_each_model_answers_below_its_name_and_the_first_at_the_root(both: Any):
    listed = both.get("/v1/models").json()["models"]
    assert [one["name"] for one in listed] == ["english", "french"]
    assert [one["text_languages"] for one in listed] == [["en"], ["fr"]]
    assert both.get("/models/french/v1/models").json()["models"] == listed
    assert tags(both, "the cat")["labels"][0]["name"] == "cats"
    assert tags(both, "le chat", "/models/french")["labels"][0]["name"] == "chats"
    assert both.get("/models/french/v1/model").json()["name"] == "french"
    assert both.get("/models/none/v1/model").status_code == 404
    assert both.get("/readyz").json() == both.get("/models/french/readyz").json()


def test_what_one_learns_the_other_does_not(both: Any, tmp_path: Path):
    row = {"text": "le chat", "labels": ["animal"], "rejected": []}
    right = {"Authorization": f"Bearer {TOKEN}"}
    told = both.post("/models/french/v1/learn", json={"rows": [row]}, headers=right)
    assert told.status_code == 200, told.text
    assert (tmp_path / "french.learned.jsonl").exists()
    assert not (tmp_path / "english.learned.jsonl").exists()


def test_the_language_and_the_unknown_words_of_a_text_are_told(both: Any):
    told = tags(both, "le chat est sur le roof")["words"]
    assert told["language"] == "fr"
    assert told["unknown"] == ["le", "chat", "est", "sur"]
    assert (told["n"], told["n_unknown"]) == (6, 5)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Die Katze ist auf dem Dach und schläft", "de"),
        ("El gato está en el tejado de la casa", "es"),
        ("Кошка на крыше", "ru"),
        ("猫は屋根の上にいます", "ja"),
        ("numpy scipy pandas", None),
        ("", None),
    ],
)
def test_languages_are_told_apart_by_their_small_words(text: str, language: str | None):
    assert detect_language(text) == language
