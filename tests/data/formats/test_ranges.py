"""Parts of a file that are read on their own make up the whole."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelspace.data.formats.fields import Fields
from labelspace.data.formats.ranges import line_ranges
from labelspace.data.read import stream_table
from labelspace.errors import DataError

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=8)


def cells_of(table, ranges) -> list[list[str]]:
    return [list(row) for start, end in ranges for _, row in table.part(start, end).rows()]


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(st.tuples(CELL, CELL), min_size=4, max_size=12), n_bytes=st.integers(1, 60))
def test_a_csv_is_cut_between_rows_even_where_cells_have_lines(
    tmp_path_factory, rows, n_bytes
) -> None:
    path = tmp_path_factory.mktemp("cut") / "a.csv"
    written = io.StringIO()
    csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(
        [("text", "labels"), *rows]
    )
    path.write_text(written.getvalue(), encoding="utf-8", newline="")
    table = stream_table(path, Fields.of(text="text", labels="labels"), None)
    whole = [list(row) for _, row in table.rows()]
    assert cells_of(table, table.cut(n_bytes)) == whole


@pytest.mark.parametrize("n_bytes", [1, 7, 40, 10_000])
def test_json_lines_are_cut_at_line_ends(n_bytes, tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"title": "ä" * i, "n": i}, ensure_ascii=False) for i in range(30)]
    path.write_text("\n".join(lines), encoding="utf-8")
    table = stream_table(path, Fields.of(text="title"), None)
    ranges = table.cut(n_bytes)
    assert [n for _, n in cells_of(table, ranges)] == list(range(30))
    assert ranges[0][0] == 0
    assert ranges[-1][1] == path.stat().st_size


def test_a_parquet_file_is_cut_by_row_groups(tmp_path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    columns = arrow.table({"title": [f"text {i}" for i in range(100)]})
    parquet.write_table(columns, path, row_group_size=10)
    table = stream_table(path, Fields.of(text="title"), None)
    assert table.cut(1) == [(i, i + 1) for i in range(10)]
    assert table.cut(1 << 30) == [(0, 10)]
    assert [text for (text,) in cells_of(table, table.cut(200))] == columns["title"].to_pylist()


def test_a_range_falls_into_halves_down_to_a_line(tmp_path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a": 22222222}\n{"a": 3}\n')
    table = stream_table(path, Fields.of(text="a"), None)
    assert table.halves(0, 34) == [(0, 25), (25, 34)]
    assert table.halves(0, 25) == [(0, 9), (9, 25)]
    assert table.halves(9, 25) == [(9, 25)]


def test_what_cannot_be_cut_is_refused(tmp_path) -> None:
    import gzip

    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"a": 1}\n' * 9))
    with pytest.raises(DataError, match="compressed, so that it cannot be cut"):
        stream_table(packed, Fields.of(text="a"), None).cut(10)
    array = tmp_path / "a.json"
    array.write_text('[{"a": "one"}, {"a": "two"}]')
    with pytest.raises(DataError, match="cannot be cut into parts"):
        stream_table(array, Fields.of(text="a"), None).cut(10)
    wide = tmp_path / "wide.csv"
    wide.write_text("title,tags\nred,a\n", encoding="utf-16")
    with pytest.raises(DataError, match="cannot be cut at line ends"):
        stream_table(wide, Fields.of(text="title"), None).cut(10)


def test_an_empty_file_has_no_ranges(tmp_path) -> None:
    (tmp_path / "a").touch()
    assert line_ranges(tmp_path / "a", 10) == []
