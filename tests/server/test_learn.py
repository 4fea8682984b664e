"""POST /v1/learn: rows are learned at once, are on disk before the answer, and stay learned."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import labelspace
from labelspace import Tagger
from labelspace.models import NearestNeighbors
from labelspace.server.app import make_app
from labelspace.server.learned_log import LearnedLog
from labelspace.server.settings import Limits, ServerSettings
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
    assert client.get("/v1/model").json()["n_examples"] == 240
    assert "music" not in names(client, "onerror")
    assert learn(client, ROW).json()["n_examples"] == 241


def test_the_folder_is_saved_after_many_rows(client_of: Any, folder: Path):
    client = client_of(folder, token=TOKEN, fold_rows=2)
    learn(client, ROW, ROW)
    until(lambda: labelspace.load(folder).estimator_.n_examples_ == 242)
    assert client.get("/v1/model").json()["n_examples"] == 242


def test_the_folder_is_saved_when_nothing_more_is_taught(client_of: Any, folder: Path):
    client = client_of(folder, token=TOKEN, fold_seconds=0.1)
    learn(client, ROW)
    until(lambda: labelspace.load(folder).estimator_.n_examples_ == 241)


def test_few_lessons_may_wait(client_of: Any, folder: Path, monkeypatch: pytest.MonkeyPatch):
    client = client_of(folder, token=TOKEN, limits=Limits(lessons=2))
    begun, may_end = threading.Event(), threading.Event()
    usual = NearestNeighbors._partial_fit

    def slow(self: Any, X: Any, Y: Any) -> None:
        begun.set()
        may_end.wait(60)
        usual(self, X, Y)

    monkeypatch.setattr(NearestNeighbors, "_partial_fit", slow)
    with ThreadPoolExecutor(2) as pool:
        lessons = [pool.submit(learn, client, ROW) for _ in range(2)]
        assert begun.wait(60)
        until(lambda: learn(client, ROW).status_code == 429)
        may_end.set()
        assert [lesson.result().status_code for lesson in lessons] == [200, 200]
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


def test_what_fails_while_it_is_learned_leaves_the_model_as_it_was(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(self: Any, X: Any, Y: Any) -> None:
        self.Y_ = None
        raise IndexError("in the middle of it")

    monkeypatch.setattr(NearestNeighbors, "_partial_fit", fail)
    assert learn(client, ROW).status_code == 500
    assert "music" not in names(client, "onerror")
    monkeypatch.undo()
    assert not LearnedLog(folder).path.exists()
    assert learn(client, ROW).json()["n_examples"] == 241


# The first has no features; others have none but old labels, or labels that are new twice over.
LESSONS = [
    [{"text": "?", "labels": ["NEW"]}],
    [{"text": "roses and herbs", "labels": ["gardening"]}],
    [{"text": "a harbour at night", "labels": ["NEW"]}],
    [{"text": "roses at night", "labels": ["gardening", "NEW"]}, {"text": "?", "labels": []}],
    [{"text": "herbs and ropes", "labels": ["gardening"]}],
]


@pytest.mark.parametrize("method", ["labelspace", "annexml", "knn"])
def test_a_crashed_server_knows_exactly_what_it_knew(client_of: Any, tmp_path: Path, method: str):
    texts, labels = tagged_texts()
    tagger = Tagger(method, random_state=0).fit(texts, labels)
    tagger.save(tmp_path / "first")
    tagger.save(tmp_path / "second")
    first = client_of(tmp_path / "first", token=TOKEN)
    for lesson in LESSONS:
        assert learn(first, *lesson).status_code == 200
    crashed = tmp_path / "second"
    LearnedLog(crashed).path.write_bytes(LearnedLog(tmp_path / "first").path.read_bytes())
    second = client_of(crashed, token=TOKEN)
    for text in [*texts[:20], "roses at night", "?"]:
        asked = {"text": text, "k": 10}
        told = [each.post("/v1/tag", json=asked).json()["labels"] for each in (first, second)]
        assert told[0] == told[1]


def test_a_lesson_that_cannot_be_learned_again_is_set_aside(
    client_of: Any,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    log = LearnedLog(folder)
    with log.locked():
        log.append([ROW])
        log.append([{"text": "spoiled", "labels": ["spoiled"]}, ROW])
        log.append([{"text": "good", "labels": ["music"]}])

    def partial_fit_fails(self: Any, X: Any, Y: Any) -> None:
        if X.shape[0] == 2:
            raise IndexError("index 7 is out of bounds")
        put(self, X, Y)

    put = NearestNeighbors._partial_fit
    monkeypatch.setattr(NearestNeighbors, "_partial_fit", partial_fit_fails)
    for _ in range(2):  # it is kept once, however often the server starts
        with caplog.at_level("ERROR", logger="labelspace.server"):
            again = client_of(folder, token=TOKEN)
        assert again.get("/v1/model").json()["n_examples"] == 242
        assert not again.get("/v1/labels", params={"q": "spoiled"}).json()["total"]
        assert "Lines 2 to 3 of" in caplog.text
        assert "index 7 is out of bounds" in caplog.text
        assert len(log.aside.read_text().splitlines()) == 2
    assert learn(again, {"text": "more", "labels": ["music"]}).json()["n_examples"] == 243


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[]",
        '{"text": "a", "labels": ["b"]}',
        '{"text": "a", "labels": ["b"], "request": "r", "part": [1]}',
        '{"text": "a", "labels": ["b"], "request": "r", "part": ["1", 1]}',
        '{"text": "a", "labels": ["b"], "request": "r", "part": [2, 1]}',
        '{"text": "a", "labels": [null], "request": "r", "part": [1, 1]}',
        '{"text": "a", "labels": "b", "request": "r", "part": [1, 1]}',
        '{"text": 1, "labels": ["b"], "request": "r", "part": [1, 1]}',
        '{"features": {"1": NaN}, "labels": ["b"], "request": "r", "part": [1, 1]}',
        '{"features": [[1]], "labels": ["b"], "request": "r", "part": [1, 1]}',
        '{"features": 7, "labels": ["b"], "request": "r", "part": [1, 1]}',
        '{"labels": ["b"], "request": "r", "part": [1, 1]}',
        "[" * 100_000,
    ],
)
def test_a_log_that_was_edited_is_told_in_a_sentence(folder: Path, line: str):
    log = LearnedLog(folder)
    with log.locked():
        log.append([ROW])
    with open(log.path, "a") as file:
        file.write(line + "\n")
    with pytest.raises(labelspace.DataError, match="line 2: this is not a row that the server"):
        make_app(ServerSettings(str(folder)))


def test_a_line_missing_from_a_request_is_told(folder: Path):
    log = LearnedLog(folder)
    with log.locked():
        log.append([ROW, ROW, ROW])
    lines = log.path.read_text().splitlines(keepends=True)
    log.path.write_text(lines[0] + lines[2])
    with pytest.raises(labelspace.DataError, match="line 2: "):
        make_app(ServerSettings(str(folder)))


def test_rows_taught_after_lines_were_removed_are_not_lost(client_of: Any, folder: Path):
    client = client_of(folder, token=TOKEN)
    learn(client, {"text": "first", "labels": ["music"]})
    learn(client, {"text": "second", "labels": ["music"]})
    client.__exit__()  # which saves the model
    log = LearnedLog(folder)
    log.path.write_text(log.path.read_text().splitlines(keepends=True)[0])
    again = client_of(folder, token=TOKEN)
    learn(again, {"text": "third", "labels": ["music"]})
    third = client_of(folder, token=TOKEN)
    assert third.get("/v1/model").json()["n_examples"] == 243


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        ({"learned_rows": 2}, "2 rows"),
        ({"learned_labels": 1}, "1 new labels"),
        ({"learned_bytes": 300}, "300 bytes"),
        ({"free_disk": 1 << 60}, "disk has less than"),
    ],
)
def test_there_is_an_end_to_what_a_token_may_teach(
    client_of: Any, folder: Path, limits: dict[str, int], what: str
):
    client = client_of(folder, token=TOKEN, limits=Limits(**limits))
    for number in range(4):
        answer = learn(client, {"text": "roses", "labels": [f"new {number}"]})
        if answer.status_code != 200:
            break
    assert answer.status_code == 507
    assert what in answer.json()["error"]
    assert client.get("/v1/model").json()["n_examples"] == 240 + number
    again = client_of(folder, token=TOKEN, limits=Limits(**limits))
    assert learn(again, {"text": "roses", "labels": ["another"]}).status_code == 507


def test_tagging_goes_on_while_rows_are_learned(client: Any, monkeypatch: pytest.MonkeyPatch):
    begun, may_end = threading.Event(), threading.Event()
    usual = NearestNeighbors._partial_fit

    def slow(self: Any, X: Any, Y: Any) -> None:
        usual(self, X, Y)
        begun.set()
        may_end.wait(60)

    monkeypatch.setattr(NearestNeighbors, "_partial_fit", slow)
    with ThreadPoolExecutor(1) as pool:
        lesson = pool.submit(learn, client, ROW)
        assert begun.wait(60)
        assert "music" not in names(client, "onerror"), "what is half learned is not served"
        assert not lesson.done()
        may_end.set()
        assert lesson.result().status_code == 200
    assert "music" in names(client, "onerror")


@pytest.mark.parametrize("rows", [None, "7", -1, 2.5, [1]])
def test_a_model_that_says_nonsense_of_what_it_learned_is_taken_to_know_nothing(
    folder: Path, rows: Any
):
    log = LearnedLog(folder)
    with log.locked():
        log.append([ROW])
    model = NearestNeighbors()
    log.mark(model, 1, 1)
    model.learned_from_["rows"] = rows
    assert log.n_learned(model) == 0
