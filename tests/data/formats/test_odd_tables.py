"""What fuzzing found in tables: each file gives one sentence, whatever a library says of it."""

from __future__ import annotations

import json
import os
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelspace.data import Fields, read_corpus
from labelspace.data.formats.columnar import ColumnarTable
from labelspace.data.formats.records import JsonTable
from labelspace.data.formats.table import distinct_names
from labelspace.data.formats.vocabulary_file import read_vocabulary
from labelspace.data.tagged import TaggedRow, tagged_format
from labelspace.errors import DataError

ROWS = {
    "an id is an object": ({"id": {"a": 1}, "title": "b", "tags": ["c"]}, "line 1: a text is an"),
    "labels are unhashable keys": ({"title": "b", "tags": "[{[1]: 2}]"}, "are a list that cannot"),
    "a column has a long name": ({"a" * 5000: "b"}, "with the columns a{39}…: say with --text"),
    "half a character": ({"title": "b", "tags": ["\ud800"]}, "a label's name has half a charact"),
    "targets are a number": (
        {"uid": "a", "title": "b", "target_ind": 5},
        "is none of the 1 lines of lbl",
    ),
}


@pytest.mark.parametrize(("row", "sentence"), ROWS.values(), ids=ROWS)
def test_an_odd_row_gets_one_sentence(tmp_path: Path, row: dict[str, Any], sentence: str) -> None:
    (tmp_path / "lbl.json").write_text('{"uid": "a", "title": "a"}\n')
    (tmp_path / "trn.json").write_text(json.dumps(row) + "\n")
    with pytest.raises(DataError, match=sentence):
        read_corpus(tmp_path / "trn.json")


@pytest.mark.parametrize("title", ["[" * 100_000, '"\\ud800"'])
def test_an_odd_line_of_labels_gets_one_sentence(tmp_path: Path, title: str) -> None:
    (tmp_path / "lbl.json").write_text(f'{{"uid": "a", "title": {title}}}\n')
    (tmp_path / "trn.json").write_text('{"uid": "a", "title": "b", "target_ind": [0]}\n')
    with pytest.raises(DataError, match=r"lbl\.json, line 1: this is no label"):
        read_corpus(tmp_path / "trn.json")


def test_a_sentence_has_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("title,tags\na,['b']\nc,\"d\n\ne\"\n")
    with pytest.raises(DataError, match='the labels "d e" are no list'):
        read_corpus(path, fields=Fields.of(label_separator="list"))


def test_a_label_that_is_nested_deeply_is_read_or_refused(tmp_path: Path) -> None:
    path, said = tmp_path / "a.jsonl", set()
    for depth in range(800, 1000, 5):  # where parsing succeeds and going through it does not
        label = '{"id": ' * depth + '"a"' + "}" * depth
        path.write_text('{"title": "b", "tags": [' + label + "]}\n")
        try:
            read_corpus(path)
        except DataError as error:
            said.add(str(error).partition(";")[0].rpartition(" nested")[2])
    assert said == {" too deeply"}


def test_a_number_of_thousands_of_digits_gets_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "labels": [%s]}\n' % ("9" * 5000))
    with pytest.raises(DataError, match=r"a\.jsonl, line 1: a number has thousands of digits"):
        read_corpus(path)


def test_a_list_of_labels_warns_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("title,tags\na,\"['\\d']\"\n")
    assert read_corpus(path).label_names == ["\\d"]


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_cells_that_python_has_nothing_for_get_one_sentence(tmp_path: Path, suffix: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    path = tmp_path / f"a{suffix}"
    for cells in (
        arrow.array([b"\xff\xfe"]).view(arrow.string()),
        arrow.array([2**52]).view(arrow.timestamp("s")),
        arrow.array([1]).view(arrow.timestamp("ns", "Mars/Base")),
        arrow.array([2**61]).view(arrow.duration("s")),
    ):
        table = arrow.table({"title": cells, "labels": ["a"]})
        write = parquet.write_table if suffix == ".parquet" else feather.write_feather
        write(table, path)
        with pytest.raises(DataError, match=r"that is damaged \(.*\); fetch or write it again"):
            read_corpus(path)


def test_an_arrow_file_whose_offsets_lead_outside_is_refused(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "a.arrow"
    batch = arrow.record_batch({"title": ["aaaa", "bbbb"], "labels": ["a", "b"]})
    with arrow.OSFile(str(path), "wb") as sink, arrow.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    offsets = np.array([0, 4, 8], np.int32).tobytes()
    assert path.read_bytes().count(offsets) == 1
    wrong = np.array([0, 2**31 - 1, 8], np.int32).tobytes()
    path.write_bytes(path.read_bytes().replace(offsets, wrong))
    with pytest.raises(DataError, match="Arrow that is damaged"):
        read_corpus(path)


def test_a_column_that_parquet_cannot_hold_is_told(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather

    path = tmp_path / "a.feather"
    nothing = arrow.nulls(1).dictionary_encode()
    raw = arrow.array([b"\xff"])
    feather.write_feather(arrow.table({"title": ["a"], "other": nothing, "raw": raw}), path)
    table = ColumnarTable(path, is_parquet=False)
    rows = [TaggedRow(cells, [], [], []) for _, cells in table.rows()]
    with pytest.raises(DataError, match=r"a type that Parquet cannot hold .* write \.csv"):
        tagged_format(Path("b.parquet"), table, []).write_part(BytesIO(), rows)
    written = BytesIO()
    tagged_format(Path("b.csv"), table, []).write_part(written, rows)
    assert written.getvalue().decode() == "a,,\ufffd,,,\n"


def test_a_long_list_of_long_columns_makes_a_short_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    names = ",".join(f"{number}{'x' * 90}" for number in range(500))
    path.write_text(f"title,{names}\n")
    with pytest.raises(DataError, match=r"choose one of .*… and 461 more") as told:
        read_corpus(path, fields=Fields.of(text="Z"))
    assert len(str(told.value)) < 2000
    path.write_text(f"0 {'9' * 5000}:1\n")
    with pytest.raises(DataError, match=r"feature 9{39}… is too large"):
        read_corpus(path)


def test_more_rows_than_bytes_are_refused(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "a.arrow"
    batch = arrow.record_batch([arrow.nulls(1 << 22)], names=["title"])
    with arrow.OSFile(str(path), "wb") as sink, arrow.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(DataError, match=r"4,194,304 rows in .* bytes"):
        read_corpus(path)


def workbook(path: Path, sheet: str) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book, file = openpyxl.Workbook(), BytesIO()
    book.active.append(["title", "tags"])
    book.save(file)
    with zipfile.ZipFile(file) as before, zipfile.ZipFile(path, "w") as after:
        for name in before.namelist():
            told = sheet.encode() if name.endswith("sheet1.xml") else before.read(name)
            after.writestr(name, told)
    return path


SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    '<row r="1"><c r="A1" t="inlineStr"><is><t>title</t></is></c></row>{}'
)


@pytest.mark.filterwarnings("error")
def test_a_sheet_that_breaks_off_gets_one_sentence(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", SHEET.format("<row><c></row>"))
    with pytest.raises(DataError, match=r"an Excel file that cannot be read \(mismatched tag"):
        read_corpus(path)


def test_a_row_with_a_huge_number_does_not_stop_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelspace.data.formats.excel.MAX_ROWS", 10_000)  # each costs a little
    end = '<row r="2000000000"><c r="A2000000000"><v>1</v></c></row></sheetData></worksheet>'
    path = workbook(tmp_path / "a.xlsx", SHEET.format(end))
    with pytest.raises(DataError, match="no rows"):
        read_corpus(path, fields=Fields.of(text="title"), needs_labels=False)


def test_many_sheets_with_a_row_at_their_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    monkeypatch.setattr("labelspace.data.formats.excel._MOST_EMPTY_ROWS", 10_000)
    book = openpyxl.Workbook()
    for _ in range(4):
        book.create_sheet().cell(4000, 1, " ")
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(DataError, match="has more than 10,000 empty rows; remove them"):
        read_corpus(tmp_path / "a.xlsx")
    book.worksheets[0].append(["title", "tags"])
    book.worksheets[0].append(["a ball", "red"])
    book.save(tmp_path / "a.xlsx")
    assert read_corpus(tmp_path / "a.xlsx").texts == ["a ball"]


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def sheet(header: str, row: Callable[[int], str], n_rows: int) -> str:
    rows = "".join(f'<row r="{at}">{row(at)}</row>' for at in range(2, n_rows + 2))
    first = f'<row r="1">{cell("A1", "title")}{cell("B1", "tags")}{header}</row>'
    start = SHEET.partition("<row")[0]
    return f"{start}{first}{rows}</sheetData></worksheet>"


@pytest.mark.parametrize("far", ["in the header", "in each row"])
def test_a_cell_in_the_last_column_is_refused_before_it_costs_much(
    tmp_path: Path, far: str
) -> None:
    header = cell("XFD1", "x") if far == "in the header" else ""
    stray = '<c r="XFD{0}"/>' if far == "in each row" else ""
    content = sheet(header, lambda at: cell(f"A{at}", f"text {at}") + stray.format(at), 1_000)
    path = workbook(tmp_path / "a.xlsx", content)
    tracemalloc.start()
    started = time.process_time()
    with pytest.raises(DataError, match=r"filled; remove what stands far to the right"):
        read_corpus(path)
    assert time.process_time() - started < 3
    assert tracemalloc.get_traced_memory()[1] < 100 << 20
    tracemalloc.stop()


def test_a_blank_in_the_last_column_is_nothing(tmp_path: Path) -> None:
    row = cell("A2", "a ball") + cell("B2", "red") + cell("XFD2", " ")
    path = workbook(tmp_path / "a.xlsx", sheet(cell("XFD1", " "), lambda at: row, 1))
    corpus = read_corpus(path)
    assert corpus.texts == ["a ball"]
    assert corpus.labels_of(0) == ["red"]


def test_many_columns_of_one_name_are_told_apart_quickly() -> None:
    started = time.process_time()
    names = distinct_names(["a"] * 50_000)
    assert len(set(names)) == 50_000
    assert names[:3] == ["a", "a (2)", "a (3)"]
    assert time.process_time() - started < 5


def test_small_objects_behind_a_large_one_are_read_quickly(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    rows = [{"title": "a" * (1 << 22), "tags": []}, *[{"title": "b", "tags": ["c"]}] * 50_000]
    path.write_text(json.dumps(rows))
    started = time.process_time()
    assert sum(1 for _ in JsonTable(path, is_array=True).rows()) == 50_001
    assert time.process_time() - started < 5


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_what_is_no_file_in_a_folder_of_documents_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("a red ball")
    (tmp_path / "1.key").write_text("red\n")
    os.mkfifo(tmp_path / "2.txt")
    (tmp_path / "3.txt").mkdir()
    (tmp_path / "4.txt").symlink_to("nowhere")
    assert read_corpus(tmp_path).texts == ["a red ball"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_half_a_character_is_written_with_a_mark(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.jsonl"
    path.write_text('{"title": "\\ud800", "\\ud800": 1}\n')
    table = JsonTable(path, is_array=False)
    form = tagged_format(Path(f"b{suffix}"), table, [])
    part = tmp_path / "part"
    with part.open("wb") as file:
        form.write_part(file, (TaggedRow(cells, [], [], []) for _, cells in table.rows()))
    whole = BytesIO()
    form.join(whole, [part])
    assert b"?" in whole.getvalue()


def test_an_address_in_json_ld_is_not_fetched(tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    (tmp_path / "context.jsonld").write_text('{"@context": {}}')
    address = (tmp_path / "context.jsonld").as_uri()
    for context in (address, [{}, address], {"@import": address}, {"a": {"@context": address}}):
        path = tmp_path / "vocabulary.jsonld"
        path.write_text(json.dumps({"@context": context, "@graph": []}))
        with pytest.raises(DataError, match="names an address as its @context, which is not fetc"):
            read_vocabulary(path)


def test_a_name_that_is_an_address_is_a_name(tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    path = tmp_path / "vocabulary.ttl"
    skos = "http://www.w3.org/2004/02/skos/core#"
    path.write_text(f"<http://a.org/1> a <{skos}Concept> ; <{skos}prefLabel> <http://a.org/2> .")
    assert read_vocabulary(path).name(0) == "http://a.org/2"


def test_entities_of_rdf_xml_are_not_fetched(tmp_path: Path) -> None:
    pytest.importorskip("rdflib")
    (tmp_path / "secret").write_text("a secret")
    path = tmp_path / "vocabulary.rdf"
    path.write_text(
        f'<!DOCTYPE rdf:RDF [<!ENTITY x SYSTEM "{(tmp_path / "secret").as_uri()}">]>'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        'xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="u:1">'
        "<skos:prefLabel>rose &x;</skos:prefLabel></skos:Concept></rdf:RDF>"
    )
    try:
        names = read_vocabulary(path).names_of(0)
    except DataError:
        return
    assert all("secret" not in name.text for name in names)
