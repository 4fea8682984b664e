"""Files over HTTP: a table in, its rows out; rows in, a workbook out."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from typing import Any

import pytest

from labelspace.server.settings import Limits

BYTES = {"Content-Type": "application/octet-stream"}
LINES = {"Content-Type": "application/x-ndjson"}


def read(client: Any, content: bytes, status: int = 200, name: str = "a.csv") -> Any:
    answer = client.post("/v1/table", params={"name": name}, content=content, headers=BYTES)
    assert answer.status_code == status, answer.text
    if status != 200:
        return answer.json()["error"]
    return [json.loads(line) for line in answer.text.splitlines()]


def test_a_table_is_understood_as_on_the_command_line(client):
    table = "\ufeffPPN;title;abstract;Jahr\n0017;Röschen;cut, and cut again;1999\n"
    about, row = read(client, table.encode())
    assert about["columns"] == ["PPN", "title", "abstract", "Jahr"]
    assert (about["text"], about["delimiter"]) == (["title", "abstract"], ";")
    assert row == ["0017", "Röschen", "cut, and cut again", "1999"]


def test_windows_encoding_and_lists_are_read(client):
    _, row = read(client, "title,tags\nBücher,a\n".encode("cp1252"))
    assert row[0] == "Bücher"
    about, row = read(client, b'[{"title": "roses", "tags": ["a", "b"], "n": 1}]')
    assert (about["how"], row) == ("JSON array", ["roses", ["a", "b"], 1])


def test_lines_that_are_no_table_are_texts(client):
    about, *rows = read(client, b"prune the roses\nmow the lawn\n")
    assert (about["columns"], about["text"]) == (["text"], ["text"])
    assert rows == [["prune the roses"], ["mow the lawn"]]


def test_rows_of_features_come_as_they_are(client):
    about, row = read(client, b'{"features": [[3, 0.5]], "labels": [1]}\n')
    assert (about["text"], row[0]) == (["features"], [[3, 0.5]])


def test_a_table_without_columns_of_known_names_is_left_to_the_person(client):
    about, *_ = read(client, b"PPN;Titel;SW\n1;Rosen;a\n2;Spiel;b\n3;Schach;c\n")
    assert (about["columns"], about["text"]) == (["PPN", "Titel", "SW"], [])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"%PDF-1.7\n", "a.csv is a PDF document; take its text out first"),
        (b"\x1f\x8b\x08\x00", "a.csv is compressed: unpack it first"),
        (b"", "a.csv is empty"),
        (b"id,title\n1,roses, and more\n", "a.csv, line 2: there are 3 cells but 2 columns"),
        (b"3 5 4\n0,2 0:0.8\n", "a.csv holds features: give a table"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(client, content, expected):
    message = read(client, content, 422)
    assert expected in message
    assert "/tmp" not in message


def test_an_archive_that_unpacks_to_far_more_is_refused(client_of, folder):
    client = client_of(folder, limits=Limits(batch_body=100_000))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", b"")
        archive.writestr("xl/sharedStrings.xml", b"\0" * 1_000_000)
    assert "unpacks to more than" in read(client, packed.getvalue(), 422, "a.xlsx")


def test_rows_bytes_and_columns_are_limited(client_of, folder):
    client = client_of(folder, limits=Limits(batch_rows=3, batch_body=20_000))
    assert len(read(client, b"title\n" + b"roses\n" * 3)) == 4
    assert "more than 3 rows" in read(client, b"title\n" + b"roses\n" * 4, 422)
    read(client, b"title\n" + b"roses\n" * 10_000, 413)
    wide = ",".join(["title", *(f"c{n}" for n in range(1001))])
    assert "more than 1,000 columns" in read(client, f"{wide}\n{wide}\n".encode(), 422)


def test_parquet_of_others_is_refused(client_of, folder):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(arrow.table({"title": ["roses"]}), file)
    near, far = client_of(folder), client_of(folder, host="0.0.0.0")
    assert read(near, file.getvalue(), name="a.parquet")[1] == ["roses"]
    assert "a.parquet is a Parquet or Arrow file" in read(far, file.getvalue(), 422, "a.parquet")


def test_a_workbook_holds_texts_as_texts_and_numbers_as_numbers(client):
    openpyxl = pytest.importorskip("openpyxl")
    rows = [["id", "n", "tags"], ["=1+1", 3, "a\u0001b"], [None, True, ["x", "y"]]]
    body = "\n".join(map(json.dumps, rows)).encode()
    answer = client.post("/v1/workbook", content=body, headers=LINES)
    assert answer.status_code == 200, answer.text
    sheet = openpyxl.load_workbook(io.BytesIO(answer.content)).active
    assert sheet["A2"].data_type == "s"
    assert list(sheet.iter_rows(values_only=True)) == [
        ("id", "n", "tags"),
        ("=1+1", 3, "ab"),
        (None, True, '["x", "y"]'),
    ]


@pytest.mark.parametrize("body", [b"no json", b'{"a": 1}', b"[" * 100_000])
def test_lines_that_are_no_arrays_are_refused(client, body):
    pytest.importorskip("openpyxl")
    answer = client.post("/v1/workbook", content=body, headers=LINES)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("Line 1 is")


def test_the_model_says_what_the_page_can_offer(client):
    told = client.get("/v1/model").json()
    assert (told["languages"], told["has_broader"]) == ([], False)
    assert isinstance(told["workbooks"], bool)


@pytest.mark.parametrize("last", [[1], "no row"], ids=["too long", "a bad line"])
def test_a_workbook_that_is_given_up_leaves_no_file(client_of, folder, tmp_path, monkeypatch, last):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    client = client_of(folder, limits=Limits(file_time=0.2 if last == [1] else 60))
    rows = (json.dumps(list(range(100))) + "\n") * (20_000 if last == [1] else 600)
    answer = client.post("/v1/workbook", content=rows + json.dumps(last), headers=LINES)
    assert answer.status_code == (503 if last == [1] else 422)
    assert ("takes too long to write" in answer.text) == (last == [1])
    assert list((tmp_path / "temporary").iterdir()) == []
