"""POST /v1/learn: rows are learned at once, are on disk before the answer, and stay learned."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import labelspace
from labelspace import Tagger
from labelspace.models import NearestNeighbors
from labelspace.server.learned_log import LearnedLog
from tests.planted import planted_corpus
from tests.server.running import TOKEN, until
from tests.server.texts import tagged_texts

RIGHT = {"Authorization": f"Bearer {TOKEN}"}
ROW = {"text": "xylophone onerror lessons", "labels": ["music", "gardening"]}


def learn(client: Any, *rows: Any) -> Any:
    return client.post("/v1/learn", json={"rows": rows}, headers=RIGHT)


def names(client: Any, text: str) -> list[str]:
    labels = client.post("/v1/tag", json={"text": text, "k": 3}).json()["labels"]
    return [label["name"] for label in labels]


def log_of(folder: Path) -> list[Any]:
    lines = LearnedLog(folder).path.read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_row_with_a_new_label_is_known_at_once_and_on_disk(client: Any, folder: Path):
    told = learn(client, ROW)
    assert told.status_code == 200, told.text
    assert told.json() == {
        "learned": 1,
        "new_labels": ["music"],
        "n_examples": 241,
        "n_labels": client.get("/v1/model").json()["n_labels"],
    }
    assert "music" in names(client, "onerror")
    assert client.get("/v1/labels", params={"q": "music"}).json()["labels"][0]["count"] == 1
    assert "music" in client.get("/v1/map").json()["name"]
    assert [(row["text"], row["labels"]) for row in log_of(folder)] == [
        (ROW["text"], ROW["labels"])
    ]


def test_what_was_learned_is_known_after_the_next_start(client_of: Any, folder: Path):
    client = client_of(folder, token=TOKEN)
    learn(client, ROW)
    os.replace(LearnedLog(folder).path, folder.parent / "kept")
    crashed = folder.parent / "crashed"
    labelspace.load(folder).save(crashed)  # the folder as it was before the row
    os.replace(folder.parent / "kept", LearnedLog(crashed).path)
    again = client_of(crashed)
    assert "music" in names(again, "onerror")
    assert again.get("/v1/model").json()["n_examples"] == 241


def test_a_clean_end_saves_the_folder_and_nothing_is_learned_twice(client_of: Any, folder: Path):
    client = client_of(folder, token=TOKEN)
    learn(client, ROW, ROW)
    client.__exit__()
    saved = labelspace.load(folder)
    assert "music" in saved.label_names_
    assert saved.estimator_.n_examples_ == 242
    assert client_of(folder).get("/v1/model").json()["n_examples"] == 242


def test_the_log_is_a_corpus(client: Any, folder: Path):
    learn(client, ROW, {"text": "more", "labels": []})
    corpus = labelspace.read_corpus(LearnedLog(folder).path)
    assert corpus.texts == [ROW["text"], "more"]
    assert sorted(corpus.label_names) == ["gardening", "music"]


def test_a_request_that_was_cut_off_is_forgotten(client_of: Any, folder: Path):
    client = client_of(folder, token=TOKEN)
    learn(client, ROW)
    log = LearnedLog(folder).path
    with open(log, "ab") as file:
        first = {"text": "half", "labels": ["half"], "request": "abc", "part": [1, 2]}
        file.write(json.dumps(first).encode() + b"\n" + b'{"text": "cut o')
    again = client_of(folder, token=TOKEN)
    assert again.get("/v1/model").json()["n_examples"] == 241
    learn(again, {"text": "whole", "labels": ["whole"]})
    assert [row["text"] for row in log_of(folder)] == [ROW["text"], "whole"]


def test_rows_are_learned_all_or_none(client: Any, folder: Path):
    refused = learn(client, ROW, {"text": "x", "labels": [10**6]})
    assert refused.status_code == 404
    assert client.get("/v1/model").json()["n_examples"] == 240
    assert not LearnedLog(folder).path.exists()


def test_features_can_be_learned_by_a_model_of_text(client: Any, client_of: Any, folder: Path):
    told = learn(client, {"features": {"onerror": 1.0}, "labels": ["music"]})
    assert told.status_code == 200
    assert "music" in names(client, "onerror")
    assert "music" in names(client_of(folder), "onerror")


@pytest.mark.parametrize("named", [True, False])
def test_a_model_of_features_learns_too(client_of: Any, tmp_path: Path, named: bool):
    X, Y = planted_corpus()
    names = [f"label {number}" for number in range(Y.shape[1])] if named else None
    Tagger("knn", n_neighbors=1).fit(X, Y, names).save(tmp_path / "model")
    client = client_of(tmp_path / "model", token=TOKEN)
    row = {"features": {"70": 1.0}, "labels": ["fresh"] if named else [Y.shape[1]]}
    assert learn(client, row).status_code == 200
    for each in (client, client_of(tmp_path / "model")):
        best = each.post("/v1/tag", json={"features": {"70": 1.0}}).json()["labels"][0]
        assert best["label"] == Y.shape[1]
        assert best["name"] == ("fresh" if named else str(Y.shape[1]))


def test_a_number_far_beyond_the_labels_is_refused(client_of: Any, tmp_path: Path):
    X, Y = planted_corpus()
    NearestNeighbors().fit(X, Y).save(tmp_path / "model")
    client = client_of(tmp_path / "model", token=TOKEN)
    answer = learn(client, {"features": {"70": 1.0}, "labels": [2**31 - 1]})
    assert answer.status_code == 404


def test_a_method_that_cannot_learn_says_so(client_of: Any, tmp_path: Path):
    Tagger("one-vs-all").fit(["a red ball", "a blue cube"], [["red"], ["blue"]]).save(
        tmp_path / "model"
    )
    answer = learn(client_of(tmp_path / "model", token=TOKEN), ROW)
    assert answer.status_code == 409
    assert "cannot learn" in answer.json()["error"]


def test_without_a_token_learning_is_off(client_of: Any, folder: Path):
    client = client_of(folder)
    assert learn(client, ROW).status_code == 403
    assert client.get("/v1/model").json()["learning"] is False


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer "},
        {"Authorization": TOKEN},
        {"Authorization": f"Bearer {TOKEN}x"},
    ],
)
def test_a_missing_or_wrong_token_is_refused(client: Any, folder: Path, header: dict[str, str]):
    answer = client.post("/v1/learn", json={"rows": [ROW]}, headers=header)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in answer.text
    assert not LearnedLog(folder).path.exists()


def test_a_full_disk_refuses_and_forgets(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(LearnedLog, "append", full)
    assert learn(client, ROW).status_code == 503
    monkeypatch.undo()
    # The model on disk is loaded again, soon.
    until(lambda: client.get("/v1/model").json()["n_examples"] == 240)
    assert "music" not in names(client, "onerror")
    assert learn(client, ROW).json()["n_examples"] == 241


def test_the_folder_is_saved_after_many_rows(client_of: Any, folder: Path):
    client = client_of(folder, token=TOKEN, fold_rows=2)
    learn(client, ROW, ROW)
    until(lambda: labelspace.load(folder).estimator_.n_examples_ == 242)
    assert client.get("/v1/model").json()["n_examples"] == 242


def test_a_model_that_cannot_learn_is_served_and_the_rows_are_kept(
    client_of: Any, folder: Path, caplog: pytest.LogCaptureFixture
):
    learn(client_of(folder, token=TOKEN), ROW)
    texts, labels = tagged_texts()
    Tagger("one-vs-all").fit(texts, labels).save(folder)
    with caplog.at_level("WARNING", logger="labelspace.server"):
        client = client_of(folder, token=TOKEN)
    assert "OneVsAll cannot learn on" in caplog.text
    assert len(names(client, texts[0])) == 3
    assert learn(client, ROW).status_code == 409
    assert len(log_of(folder)) == 1


def test_a_package_that_learning_needs_is_asked_for(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def lacks(self: Any) -> None:
        raise labelspace.UsageError("It needs PyTorch to learn: install it.")

    monkeypatch.setattr(NearestNeighbors, "_validate_params", lacks)
    refused = learn(client, ROW)
    assert refused.status_code == 409
    assert "install it" in refused.json()["error"]
    assert not LearnedLog(folder).path.exists()
