"""Lessons of a person: what is not marked stays as it is, and the last one can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labelspace import Tagger
from labelspace.server.learned_log import LearnedLog
from labelspace.server.served import Served
from labelspace.server.settings import ServerSettings
from labelspace.server.trial_rows import TrialRows
from tests.server.running import TOKEN, until
from tests.server.texts import tagged_texts

RIGHT = {"Authorization": f"Bearer {TOKEN}"}
TEXT = "prune the roses beside the oven"


def learn(client: Any, *rows: Any, **more: Any) -> Any:
    return client.post("/v1/learn", json={"rows": rows, **more}, headers=RIGHT)


def undo(client: Any) -> Any:
    return client.post("/v1/lessons/undo", headers=RIGHT)


def scores(client: Any, text: str = TEXT) -> dict[str, float]:
    labels = client.post("/v1/tag", json={"text": text, "k": 20}).json()["labels"]
    return {label["name"]: label["score"] for label in labels}


def test_tags_that_were_not_marked_keep_their_scores(client: Any):
    before = scores(client)
    told = learn(client, {"text": TEXT, "labels": ["sailing"], "rejected": ["cooking"]})
    assert told.status_code == 200, told.text
    after = scores(client)
    assert after["sailing"] > before.get("sailing", 0) + 0.1
    assert after["cooking"] < before["cooking"] - 0.1
    for name in ("gardening", "outdoors"):
        assert after[name] == pytest.approx(before[name], abs=0.02)


def test_a_complete_row_says_that_all_else_is_wrong(client: Any):
    before = scores(client)
    learn(client, {"text": TEXT, "labels": ["sailing"]})
    assert scores(client)["gardening"] < before["gardening"] - 0.05


def test_saying_the_same_again_changes_nothing(client: Any):
    row = {"text": TEXT, "labels": ["chess"], "rejected": []}
    learn(client, row)
    once = scores(client)
    learn(client, row)
    learn(client, row)
    assert scores(client) == pytest.approx(once, abs=1e-5)


def test_words_that_the_model_does_not_know_are_refused_with_that_reason(client: Any, folder: Path):
    row = {"text": "zwei fremde Wörter", "labels": ["chess"], "rejected": []}
    told = learn(client, row)
    assert told.status_code == 409
    assert "knows no word of this text" in told.json()["error"]
    row["text"] = "zwei fremde Wörter und rook"
    told = learn(client, row)
    assert told.status_code == 409
    assert "only 1 of the 5 words" in told.json()["error"]
    assert "zwei, fremde" in told.json()["error"]
    assert not LearnedLog(folder).path.exists()


def test_a_lesson_without_marks_is_refused(client: Any):
    told = learn(client, {"text": TEXT, "labels": [], "rejected": ["no such label"]})
    assert told.status_code == 409
    assert "Nothing is marked" in told.json()["error"]


def test_a_method_that_needs_all_labels_says_so(client_of: Callable[..., Any], tmp_path: Path):
    texts, labels = tagged_texts(60)
    Tagger("annexml", n_learners=1, dim=8).fit(texts, labels).save(tmp_path / "model")
    client = client_of(tmp_path / "model", token=TOKEN)
    assert client.get("/v1/model").json()["learns_marks"] is False
    told = learn(client, {"text": TEXT, "labels": ["chess"], "rejected": []})
    assert told.status_code == 409
    assert "all known" in told.json()["error"]


def test_a_preview_tells_what_changes_and_learns_nothing(client: Any, folder: Path):
    before = scores(client)
    told = learn(client, {"text": TEXT, "labels": ["chess"], "rejected": []}, preview=True)
    changes = told.json()["changes"]
    assert told.json()["learned"] == 0
    assert changes["rows"] == "training"
    assert changes["n"] > 100
    assert changes["before"]["P@1"] > 90
    assert scores(client) == before
    assert not LearnedLog(folder).path.exists()


def test_a_preview_is_measured_on_rows_held_out(
    client_of: Callable[..., Any], folder: Path, tmp_path: Path
):
    held_out = tmp_path / "held_out.tsv"
    held_out.write_text("prune roses\tgardening\ncheckmate rook\tchess\nanchor mast\tchess\n")
    client = client_of(folder, token=TOKEN, held_out=str(held_out))
    told = learn(client, {"text": "anchor mast", "labels": ["chess"], "rejected": ["sailing"]},
                 preview=True).json()  # fmt: skip
    assert told["changes"]["rows"] == "held out"
    assert told["changes"]["n"] == 3
    assert told["changes"]["before"]["P@1"] == pytest.approx(66.67)
    served = Served.load(folder)
    assert TrialRows(held_out, served).changes(served, served)["n_other_first"] == 0


def test_the_last_lesson_is_undone_and_then_the_one_before(client: Any, folder: Path):
    first = scores(client)
    learn(client, {"text": TEXT, "labels": ["chess"], "rejected": []})
    second = scores(client)
    learn(client, {"text": TEXT, "labels": ["printing trouble"], "rejected": ["cooking"]})
    last = client.get("/v1/lessons", headers=RIGHT).json()["last"]
    assert last["labels"] == ["printing trouble"]
    assert last["can_undo"]
    told = undo(client)
    assert told.status_code == 200, told.text
    assert told.json()["last"]["labels"] == ["chess"]
    assert scores(client) == second
    assert "printing trouble" not in client.get("/v1/labels?q=trouble").text
    undo(client)
    assert scores(client) == first
    assert LearnedLog(folder).path.read_bytes() == b""
    assert len(LearnedLog(folder).undone.read_text().splitlines()) == 2
    refused = undo(client)
    assert refused.status_code == 409
    assert "no lesson to undo" in refused.json()["error"]


def test_what_was_undone_stays_so_after_the_next_start(client_of: Callable[..., Any], folder: Path):
    client = client_of(folder, token=TOKEN)
    before = scores(client)
    learn(client, {"text": TEXT, "labels": ["chess"], "rejected": []})
    assert scores(client) != before
    undo(client)
    client.__exit__()
    assert scores(client_of(folder)) == before


def test_a_lesson_that_is_in_the_saved_folder_is_undone_there(
    client_of: Callable[..., Any], folder: Path
):
    client = client_of(folder, token=TOKEN, fold_rows=1)
    before = scores(client)
    learn(client, {"text": TEXT, "labels": ["chess"], "rejected": []})
    until(lambda: Served.load(folder).estimator.n_examples_ == 241)
    assert undo(client).status_code == 200
    assert Served.load(folder).estimator.n_examples_ == 240
    assert scores(client) == before


def test_another_worker_goes_back_too(client_of: Callable[..., Any], folder: Path):
    one, other = client_of(folder, token=TOKEN), client_of(folder, token=TOKEN)
    before = scores(other)
    learn(one, {"text": TEXT, "labels": ["chess"], "rejected": []})
    until(lambda: scores(other) != before)
    undo(one)
    learn(one, {"text": TEXT, "labels": ["printing"], "rejected": []})
    until(lambda: scores(other) == pytest.approx(scores(one)))
    assert scores(other).get("chess", 0.0) == pytest.approx(before.get("chess", 0.0), abs=0.02)
    assert scores(other)["printing"] > before.get("printing", 0.0)


def test_lessons_need_the_token(client: Any):
    assert client.get("/v1/lessons").status_code == 401
    assert client.post("/v1/lessons/undo").status_code == 401


def test_settings_keep_where_held_out_rows_are(monkeypatch: pytest.MonkeyPatch):
    settings = ServerSettings("model", held_out="rows.tsv")
    settings.to_environment()
    assert ServerSettings.from_environment().held_out_path == Path("rows.tsv")
