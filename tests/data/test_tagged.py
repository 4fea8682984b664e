"""Rows with tags, as each format writes them."""

from __future__ import annotations

import json
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from labelspace.data.formats.records import JsonTable
from labelspace.data.tagged import TaggedRow, tagged_format
from labelspace.errors import DataError

ROWS = [
    TaggedRow(["Roses; red", ["a", "b"], {"x": 1}, 3.0], ["a", "b"], ["u:a", "u:b"], [0.5, 0.25]),
    TaggedRow([None, [], None, float("nan")], [], [], []),
]


@pytest.fixture
def table(tmp_path: Path) -> JsonTable:
    path = tmp_path / "a.jsonl"
    path.write_text('{"title": "", "tags": [], "more": {}, "year": 1}\n')
    return JsonTable(path, is_array=False)


def written(name: str, table: JsonTable, names: list[str]) -> bytes:
    format = tagged_format(Path(name), table, names)
    part, whole = Path(table.path.parent, "part"), BytesIO()
    with part.open("wb") as file:
        format.write_part(file, ROWS)
    format.join(whole, [part, part])
    return whole.getvalue()


@pytest.mark.parametrize(
    ("names", "first"),
    [
        (["a", "b"], 'Roses; red,a;b,"{""x"": 1}",3,a;b,u:a;u:b,0.5;0.25'),
        (["a;", "b"], 'Roses; red,a|b,"{""x"": 1}",3,a|b,u:a|u:b,0.5|0.25'),
    ],
)
def test_csv_puts_between_tags_what_is_in_no_name(
    table: JsonTable, names: list[str], first: str
) -> None:
    lines = written("a.csv", table, names).decode().splitlines()
    assert lines[0] == "title,tags,more,year,predicted_tags,tag_ids,scores"
    assert lines[1] == first
    assert lines[2] == ",,,,,,"
    assert lines[3:] == lines[1:3]


def test_csv_writes_lists_where_names_hold_every_mark(table: JsonTable) -> None:
    lines = written("a.tsv", table, ["a;", "b|"]).decode().splitlines()
    assert lines[1].split("\t")[4] == '"[""a"", ""b""]"'


def test_csv_never_glues_tags_together(table: JsonTable) -> None:
    format = tagged_format(Path("a.csv"), table, ["a", "b"])
    part = BytesIO()
    format.write_part(part, [TaggedRow([""] * 4, ["a; the first", "b"], ["1", "2"], [1.0, 0.5])])
    assert part.getvalue().decode() == ',,,,"[""a; the first"", ""b""]",1;2,1;0.5\n'


def test_json_keeps_cells_as_they_are(table: JsonTable) -> None:
    lines = [json.loads(line) for line in written("a.jsonl", table, []).splitlines()]
    assert lines[0] == {
        "title": "Roses; red",
        "tags": ["a", "b"],
        "more": {"x": 1},
        "year": 3.0,
        "predicted_tags": ["a", "b"],
        "tag_ids": ["u:a", "u:b"],
        "scores": [0.5, 0.25],
    }
    assert lines[1]["year"] is None
    assert len(lines) == 4


def test_parquet_has_text_where_there_were_no_types(table: JsonTable) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    back = parquet.read_table(BytesIO(written("a.parquet", table, []))).to_pylist()
    assert back[0]["tags"] == '["a", "b"]'
    assert back[0]["predicted_tags"] == ["a", "b"]
    assert back[0]["year"] == "3"
    assert len(back) == 4


def test_a_name_without_a_known_ending_is_refused(table: JsonTable) -> None:
    with pytest.raises(DataError, match=r"end its name in \.csv, \.tsv, \.xlsx, \.jsonl or"):
        tagged_format(Path("a.pdf"), table, [])


def test_excel_keeps_numbers_and_never_makes_a_formula(table: JsonTable) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    whole = written("a.xlsx", table, ["a", "b"])
    sheet = openpyxl.load_workbook(BytesIO(whole)).active
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == ("title", "tags", "more", "year", "predicted_tags", "tag_ids", "scores")
    assert rows[1] == ("Roses; red", "a;b", '{"x": 1}', 3, "a;b", "u:a;u:b", "0.5;0.25")
    assert len(rows) == 5


def test_excel_is_refused_before_tagging_where_nothing_can_write_it(
    table: JsonTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataError, match="which needs openpyxl"):
        tagged_format(Path("a.xlsx"), table, [])
