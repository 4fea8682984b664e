"""Review: several people mark rows at once, and no mark is lost."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from labelspace.server.settings import Limits
from tests.server.running import TOKEN

RIGHT = {"Authorization": f"Bearer {TOKEN}"}
ROWS = [
    {"text": "prune the roses", "columns": {"id": "007"}},
    {"text": "checkmate with the rook"},
    {"text": "roses in the harbour"},
]


def begin(client: Any) -> Any:
    told = client.post("/v1/review", json={"name": "some rows", "rows": ROWS}, headers=RIGHT)
    assert told.status_code == 200, told.text
    return told.json()


def mark(client: Any, queue: str, *marks: tuple[int, str, str, str], after: int = 0) -> Any:
    names = ("row", "label", "verdict", "who")
    body = {"marks": [dict(zip(names, one, strict=True)) for one in marks], "after": after}
    return client.post(f"/v1/review/{queue}/marks", json=body, headers=RIGHT)


def test_a_queue_has_the_tags_of_its_rows(client: Any):
    queue = begin(client)
    assert [row["tags"][0]["name"] for row in queue["rows"][:2]] == ["gardening", "chess"]
    assert queue["n_rows"] == 3
    assert queue["n_reviewed"] == 0
    listed = client.get("/v1/review", headers=RIGHT).json()["queues"]
    assert [one["name"] for one in listed] == ["some rows"]


def test_marks_of_several_people_are_all_kept_and_compared(client: Any):
    queue = begin(client)["queue"]
    mark(client, queue, (0, "gardening", "right", "Ada"), (0, "chess", "wrong", "Ada"))
    told = mark(client, queue, (0, "gardening", "wrong", "Ben"), (0, "chess", "wrong", "Ben"),
                after=2).json()  # fmt: skip
    assert [one["who"] for one in told["marks"]] == ["Ben", "Ben"]
    assert told["agreement"] == 0.5
    assert told["n_reviewed"] == 1
    mark(client, queue, (0, "gardening", "right", "Ben"))
    assert client.get(f"/v1/review/{queue}", headers=RIGHT).json()["agreement"] == 1.0


def test_the_export_has_what_was_agreed_on_and_all_columns(client: Any):
    queue = begin(client)["queue"]
    mark(client, queue, (0, "gardening", "right", "Ada"), (0, "outdoors", "right", "Ada"),
         (0, "outdoors", "wrong", "Ben"), (0, "chess", "wrong", "Ben"),
         (1, "chess", "undecided", "Ada"), (1, "sailing", "right", "Ada"),
         (1, "sailing", "none", "Ada"))  # fmt: skip
    lines = client.get(f"/v1/review/{queue}/rows", headers=RIGHT).text.splitlines()
    first, second, third = map(json.loads, lines)
    assert first["id"] == "007"
    assert first["labels"] == ["gardening"]
    assert first["rejected"] == ["chess"]
    assert first["disagreed"] == ["outdoors"]
    assert first["reviewers"] == ["Ada", "Ben"]
    assert (second["labels"], second["undecided"]) == ([], ["chess"])
    assert third["labels"] == third["reviewers"] == []


def test_no_mark_is_lost_when_people_mark_at_once(client_of: Callable[..., Any], folder: Path):
    one, other = client_of(folder, token=TOKEN), client_of(folder, token=TOKEN)
    queue = begin(one)["queue"]

    def work(number: int) -> int:
        client = (one, other)[number % 2]
        who = f"person {number % 4}"
        return mark(client, queue, (number % 3, f"label {number}", "right", who)).status_code

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(40))) == {200}
    marks = one.get(f"/v1/review/{queue}", headers=RIGHT).json()["marks"]
    assert {mark["label"] for mark in marks} == {f"label {number}" for number in range(40)}


def test_a_line_that_was_cut_off_costs_no_other_mark(client: Any, folder: Path):
    queue = begin(client)["queue"]
    mark(client, queue, (0, "gardening", "right", "Ada"))
    path = folder.parent / "model.review" / f"{queue}.jsonl"
    with open(path, "ab") as file:
        file.write(b'{"mark": {"row": 1')
    mark(client, queue, (1, "chess", "right", "Ada"))
    marks = client.get(f"/v1/review/{queue}", headers=RIGHT).json()["marks"]
    assert [one["label"] for one in marks] == ["gardening", "chess"]


def test_a_queue_that_is_not_there_and_a_row_that_is_not(client: Any):
    queue = begin(client)["queue"]
    assert mark(client, queue, (9, "chess", "right", "Ada")).status_code == 404
    assert client.get("/v1/review/..%2Fmodel", headers=RIGHT).status_code == 404
    assert client.delete(f"/v1/review/{queue}", headers=RIGHT).status_code == 200
    gone = client.get(f"/v1/review/{queue}", headers=RIGHT)
    assert gone.status_code == 404
    assert "no such queue" in gone.json()["error"]


def test_the_review_needs_the_token(client: Any):
    assert client.get("/v1/review").status_code == 401
    assert client.post("/v1/review", json={"name": "x", "rows": ROWS}).status_code == 401


@pytest.mark.parametrize("number", ["NaN", "1e999", "[[-Infinity]]"])
def test_numbers_that_json_does_not_have_are_refused(number: str, client: Any):
    body = '{"name": "a", "rows": [{"text": "roses", "columns": {"a": 0}}]}'.replace("0", number)
    headers = {**RIGHT, "Content-Type": "application/json"}
    told = client.post("/v1/review", content=body, headers=headers)
    assert told.status_code == 422, told.text


EDITED = [
    *("3", "null", "[]", '{"mark": 5}', '{"mark": {"row": "x"}}', '{"row": 7}', '{"row": {}}'),
    '{"mark": {"row": 0, "label": ["a"], "verdict": "right", "who": "x", "at": 1}}',
    '{"mark": {"row": 99, "label": "a", "verdict": "right", "who": "x", "at": 1}}',
    *('{"other": 1}', "[" * 100_000),
]


@pytest.mark.parametrize("line", EDITED)
def test_a_queue_that_was_edited_is_told_in_a_sentence(line: str, client: Any, folder: Path):
    whole, edited = begin(client)["queue"], begin(client)["queue"]
    path = folder.parent / "model.review" / f"{edited}.jsonl"
    path.write_text(path.read_text() + line + "\n")
    for asked in (
        client.get(f"/v1/review/{edited}", headers=RIGHT),
        client.get(f"/v1/review/{edited}/rows", headers=RIGHT),
        mark(client, edited, (0, "chess", "right", "Ada")),
    ):
        assert asked.status_code == 409
        assert f"Line 5 of {edited}.jsonl is none that the server wrote" in asked.json()["error"]
    listed = client.get("/v1/review", headers=RIGHT).json()["queues"]
    assert [one["queue"] for one in listed] == [whole]
    assert client.delete(f"/v1/review/{edited}", headers=RIGHT).status_code == 200


def test_what_is_no_queue_does_not_keep_others_from_being_listed(client: Any, folder: Path):
    queue = begin(client)["queue"]
    others = folder.parent / "model.review"
    (others / "notes.jsonl").write_text("to do")
    (others / "0123456789ab.jsonl").mkdir()
    os.mkfifo(others / "ba9876543210.jsonl")
    listed = client.get("/v1/review", headers=RIGHT).json()["queues"]
    assert [one["queue"] for one in listed] == [queue]


def test_a_queue_cannot_fill_the_disk(client_of: Callable[..., Any], folder: Path):
    client = client_of(folder, token=TOKEN)
    queue = begin(client)["queue"]
    full = client_of(folder, token=TOKEN, limits=Limits(free_disk=1 << 60))
    told = full.post("/v1/review", json={"name": "some rows", "rows": ROWS}, headers=RIGHT)
    assert told.status_code == 507
    assert "--min-free-disk" in told.json()["error"]
    assert mark(full, queue, (0, "chess", "right", "Ada")).status_code == 507
    assert client.get(f"/v1/review/{queue}", headers=RIGHT).json()["marks"] == []


def test_a_mark_that_could_not_be_written_is_not_there(
    client: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    queue = begin(client)["queue"]
    path = folder.parent / "model.review" / f"{queue}.jsonl"
    before = path.read_bytes()

    def fails(file: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("labelspace.server.review_file.folders.flush", fails)
        told = mark(client, queue, (0, "chess", "right", "Ada"))
    assert (told.status_code, path.read_bytes()) == (507, before)
    assert mark(client, queue, (0, "chess", "right", "Ada")).status_code == 200
