"""One real-looking file of each kind and its exact reading; one spoiled file and its sentence."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelspace.data import Fields, describe, read_corpus, write_corpus
from labelspace.errors import DataError, LabelspaceWarning, UsageError
from labelspace.tagger import Tagger

TITLES = ["Rosen, Pflege und Schnitt", 'Der "Ring" des Nibelungen', "Über den Buchdruck"]
SUBJECTS = [["Garten", "Rosen"], ["Oper"], ["Buch", "Technik"]]
IDS = ["1019", "204X", "7"]


class Kind(NamedTuple):
    """A file, how it is asked for, and how it is understood; all kinds hold the same rows."""

    write: Callable[[Path], None]
    name: str = "corpus"
    fields: Fields | None = None
    ids: list[str] | None = IDS
    separator: str | None = None


def text(content: str, encoding: str = "utf-8") -> Callable[[Path], None]:
    return lambda path: (path.write_bytes(content.encode(encoding)), None)[1]


def cells(delimiter: str, between: str) -> str:
    rows = [["Record_ID", "Title", "Subjects", "Year"]]
    for id, title, subjects in zip(IDS, TITLES, SUBJECTS, strict=True):
        quoted = title.replace('"', '""')
        rows.append([id, f'"{quoted}"', between.join(subjects), "1999"])
    return "\r\n".join(delimiter.join(row) for row in rows) + "\r\n"


def records(name: str = "subjects") -> list[dict[str, Any]]:
    rows = zip(IDS, TITLES, SUBJECTS, strict=True)
    return [{"id": id, "title": title, name: subjects} for id, title, subjects in rows]


def parquet(path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.Table.from_pylist(records()), path)


def feather(path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather

    feather.write_feather(arrow.Table.from_pylist(records()), str(path))


def excel(path: Path) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    sheet = book.active
    sheet.append(["ID", "Title", "Keywords"])
    for id, title, subjects in zip(IDS, TITLES, SUBJECTS, strict=True):
        sheet.append([int(id) if id.isdigit() else id, title, "; ".join(subjects)])
    buffer = io.BytesIO()
    book.save(buffer)
    path.write_bytes(buffer.getvalue())


def annif_folder(path: Path) -> None:
    path.mkdir()
    for number, (title, subjects) in enumerate(zip(TITLES, SUBJECTS, strict=True)):
        (path / f"{number}.txt").write_text(title, encoding="utf-8")
        if number:
            (path / f"{number}.key").write_text("\n".join(subjects) + "\n", encoding="utf-8")
        else:
            lines = (f"<{subject}>\tder Name\n" for subject in subjects)
            (path / f"{number}.tsv").write_text("".join(lines), encoding="utf-8")


def xc_json(path: Path) -> None:
    names = sorted({name for subjects in SUBJECTS for name in subjects})
    labels = [json.dumps({"uid": f"u{at}", "title": name}) for at, name in enumerate(names)]
    (path.parent / "lbl.json.gz").write_bytes(gzip.compress("\n".join(labels).encode()))
    rows = [
        {"uid": id, "title": title, "content": "", "target_ind": [names.index(s) for s in subjects]}
        for id, title, subjects in zip(IDS, TITLES, SUBJECTS, strict=True)
    ]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


def one_hot() -> str:
    names = sorted({name for subjects in SUBJECTS for name in subjects})
    lines = ["title|" + "|".join(f"tag_{name}" for name in names)]
    for title, subjects in zip(TITLES, SUBJECTS, strict=True):
        lines.append(f"{title}|" + "|".join(str(int(name in subjects)) for name in names))
    return "\n".join(lines).replace('"', "“")


FASTTEXT = "".join(
    " ".join(f"__label__{subject}" for subject in subjects) + f" {title}\n"
    for title, subjects in zip(TITLES, SUBJECTS, strict=True)
)
ANNIF_CSV = "document_id,text,subject_uris\n" + "".join(
    f'{id},"{title.replace(chr(34), chr(34) * 2)}",{" ".join(f"<{s}>" for s in subjects)}\n'
    for id, title, subjects in zip(IDS, TITLES, SUBJECTS, strict=True)
)
LINES = "\n".join(json.dumps(row, ensure_ascii=False) for row in records())

KINDS = {
    "CSV": Kind(text(cells(",", ";")), separator=";"),
    "CSV with semicolons and BOM": Kind(text("\ufeff" + cells(";", "|")), separator="|"),
    "CSV of Windows": Kind(text(cells(";", ","), "cp1252"), separator=","),
    "CSV of Excel, UTF-16": Kind(text(cells("\t", "; "), "utf-16"), separator=";"),
    "CSV with backslashes": Kind(
        text(cells(",", ";").replace('""Ring""', '\\"Ring\\"')), separator=";"
    ),
    "TSV with a header": Kind(text(cells("\t", " | ")), separator="|"),
    "CSV with lists": Kind(
        text(cells(";", "', '").replace(";Garten", ";['Garten").replace("Rosen;1", "Rosen'];1")
             .replace(";Oper", ";['Oper']").replace(";Buch", ";['Buch")
             .replace("Technik;", "Technik'];")),
        separator="list",
    ),
    "CSV by other names": Kind(
        text(cells(",", "/").replace("Title", "TIT").replace("Subjects", "SW")),
        fields=Fields.of(text="TIT", labels="SW", label_separator="/", id="Record_ID"),
        separator="/",
    ),
    "CSV without a header": Kind(
        text(cells(";", "|").split("\n", 1)[1]),
        fields=Fields.of(text="2", labels="3", id="1", header=False),
        separator="|",
    ),
    "one-hot columns": Kind(
        text(one_hot()), fields=Fields.of(label_columns="tag_*"), ids=None, separator=None
    ),
    "JSON lines": Kind(text(LINES)),
    "JSON array": Kind(text(json.dumps(records(), indent=2))),
    "JSON lines of Annif": Kind(
        text("\n".join(
            json.dumps(row | {"subjects": [{"uri": f"<{name}>"} for name in row["subjects"]]})
            for row in records()
        )),
    ),
    "Excel": Kind(excel, "corpus.xlsx", separator=";"),
    "Parquet": Kind(parquet),
    "Feather": Kind(feather),
    "fastText": Kind(text(FASTTEXT), ids=None),
    "Annif CSV": Kind(text(ANNIF_CSV), separator=" "),
    "Annif folder": Kind(annif_folder, ids=["0", "1", "2"]),
    "XC repository's JSON": Kind(xc_json, "trn.json.gz"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_of_table_is_read_the_same(tmp_path: Path, kind: Kind) -> None:
    path = tmp_path / kind.name
    kind.write(path)
    corpus = read_corpus(path, fields=kind.fields)
    prefix = "tag_" if kind.fields is not None and kind.fields.label_columns else ""
    assert [corpus.labels_of(row) for row in range(3)] == [
        [prefix + name for name in subjects] for subjects in SUBJECTS
    ]
    assert [t.replace("“", '"') for t in corpus.texts or ()] == TITLES
    assert corpus.ids == kind.ids
    assert corpus.reading is not None
    assert corpus.reading.fields.label_separator == kind.separator


HEADER = "id,title,subjects\n"
SPOILED: dict[str, tuple[str | bytes, str]] = {
    "text cut at its first comma": (
        HEADER + "1,Roses, and how to prune them,a;b\n",
        "line 2: there are 4 cells but 3 columns; put cells that contain",
    ),
    "row too short": (HEADER + "1,Roses,a\n2,Books\n", "line 3: there are 2 cells but 3 columns"),
    "quote never closed": (HEADER + '1,"Roses,a\n2,Books,b\n', "line 2: the quotes do not fit"),
    "header alone": (HEADER, "has a header but no rows"),
    "no column of text": (
        "PPN,TIT,SW\n1,Roses,a\n2,Books,b\n3,Ships,c\n",
        "is a table with the columns PPN, TIT, SW: say with --text which of them",
    ),
    "no column of labels": ("id,title\n1,Roses\n2,Books\n", "say with --labels which of them"),
    "two columns of labels": (
        "title,tags,subjects\nRoses,a,b\nBooks,c,d\n",
        "several columns that may be labels, tags, subjects: say with --labels",
    ),
    "two separators": (HEADER + "1,Roses,a;b\n2,Books,c|d\n", 'labels have both ";" and "|"'),
    "header of text<TAB>labels": (
        "dc_title\tgnd_subjects\nRoses in dry climates\ta,b\nHow to prune roses\ta\n",
        "line 1: this looks like the names of columns (dc_title, gnd_subjects); say which to read",
    ),
    "JSON with other members": ('{"titel": "Roses", "sw": ["a"]}\n', "say with --text which of t"),
    "JSON object over lines": ('{\n "data": []\n}\n', "is one JSON object over several lines; wri"),
    "JSON label of no kind": (
        '{"title": "Roses", "tags": [["a"]]}\n',
        "line 1: a label is a list in a list; write its name",
    ),
    "fastText without a name": ("__label__a roses\n__label__ books\n", "line 2: \"__label__\" has"),
    "no lbl.json": ('{"title": "a", "target_ind": [1]}\n', "which are lines of lbl.json: put that"),
    "JSON array never closed": (
        '[{"title": "Roses", "tags": ["a"]}, {"title"', "row 2: this is not JSON (",
    ),
    "JSON array of anything": ('[{"title": "a", "tags": []}, 3]', "row 2: this is no object; w"),
    "Annif CSV with a word among URIs": (
        "text,subject_uris\nRoses,<http://a.org/1> <http://a.org/2>\nBooks,old books\n",
        'labels are URIs with blanks between in some cells, but not in "old books"; mend these',
    ),
    "neither UTF-8 nor Windows": (
        HEADER.encode() + b"1,Roses,a\n2,\x81\xff\xfe,b\n",
        "line 3: the text is neither UTF-8 nor Windows-1252",
    ),
    "damaged Parquet": (b"PAR1 and so on and on", "is Parquet that is damaged ("),
    "damaged Arrow": (b"ARROW1\0\0 and so on and on", "is Arrow that is damaged ("),
    "damaged Excel": (b"PK\x03\x04 xl/workbook.xml [Content_Types].xml", "is an Excel file that"),
    "Word": (b"PK\x03\x04 [Content_Types].xml word/document.xml", "is a Word document; save it as"),
    "zip archive": (b"PK\x03\x04" + b"\0" * 26 + b"data/train.csv", "is a zip archive; unpack it"),
    "old Excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is an Excel file of before 2007"),
    "PDF": (b"%PDF-1.7\n%\xe2\xe3", "is a PDF document; take its text out first"),
    "HTML": ("\n<!DOCTYPE html>\n<html>", "is an HTML page; take its text out first"),
    "far more columns than labels": (
        "4029582 1:1\n4036510 1:1\n",
        "has 2 labels, but their numbers ask for 4,036,511 columns",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), SPOILED.values(), ids=SPOILED)
def test_spoiled_tables_get_one_sentence(
    tmp_path: Path, content: str | bytes, expected: str
) -> None:
    if "Parquet" in expected or "Arrow" in expected:
        pytest.importorskip("pyarrow")
    if "an Excel file that" in expected:
        pytest.importorskip("openpyxl")
    path = tmp_path / "corpus"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError) as caught:
        read_corpus(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert expected in message
    assert "\n" not in message


SPOILED_FOLDERS = {
    "no documents": ({"a.pdf": ""}, "is a folder without documents; give a corpus file, or a fo"),
    "subject without a URI": (
        {"1.txt": "Roses", "1.tsv": "roses\tRoses\n"}, '1.tsv, line 1: "roses" is no subject; w',
    ),
    "document of Windows": ({"1.txt": b"R\xf6schen", "1.key": "a"}, "1.txt is not UTF-8; save it"),
}  # fmt: skip


@pytest.mark.parametrize(("files", "expected"), SPOILED_FOLDERS.values(), ids=SPOILED_FOLDERS)
def test_spoiled_folders_of_documents_get_one_sentence(
    tmp_path: Path, files: dict[str, str | bytes], expected: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError) as caught:
        read_corpus(tmp_path)
    assert expected in str(caught.value)


@pytest.mark.parametrize("number", ["5", "-1", "true", '"3"'])
def test_a_label_that_is_no_line_of_lbl_json_is_refused(tmp_path: Path, number: str) -> None:
    xc_json(tmp_path / "trn.json.gz")  # five labels
    row = '{"title": "Roses", "target_ind": [5]}\n'.replace("5", number)
    (tmp_path / "tst.json").write_text(row)
    with pytest.raises(DataError, match='line 1: "target_ind" has a number that is none of the 5'):
        read_corpus(tmp_path / "tst.json")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (Fields.of(text="titel"), 'has no column "titel" for --text: did you mean \'title\'?'),
        (Fields.of(labels="subject"), 'no column "subject" for --labels: did you mean'),
        (Fields.of(id="ppn"), 'has no column "ppn" for --id: choose one of'),
        (Fields.of(label_columns="tag_*"), 'has no column like "tag_*" for --label-columns'),
        (Fields.of(label_columns="i*"), "line 2: \"17\" is neither 0 nor 1"),
        (Fields.of(labels="subjects", label_columns="i*"), "give --labels or --label-columns"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_get_one_sentence(
    tmp_path: Path, fields: Fields, expected: str
) -> None:
    path = tmp_path / "corpus.csv"
    path.write_text(HEADER + "17,Roses,a;b\n")
    with pytest.raises(DataError) as caught:
        read_corpus(path, fields=fields)
    assert expected in str(caught.value)


def test_a_separator_that_comes_late_is_an_error_and_never_a_label(tmp_path: Path) -> None:
    path = tmp_path / "corpus.csv"
    path.write_text(HEADER + "1,Roses,a\n" * 1500 + "2,Books,b;c\n")
    with pytest.raises(DataError, match='line 1502: the labels "b;c" have ";" in them'):
        read_corpus(path)
    path.write_text(HEADER + '1,Roses,"a,b"\n' * 1500 + "2,Books,b;c\n")
    with pytest.raises(DataError, match='all cells before have "," between labels'):
        read_corpus(path)
    glued = read_corpus(path, fields=Fields.of(label_separator="none"))
    assert glued.label_names == ["a,b", "b;c"]


def test_words_that_come_after_a_thousand_uris_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "corpus.csv"
    rows = ["Roses,<http://a.org/1> <http://a.org/2>"] * 1000 + ["Books,old books"]
    path.write_text("text,subject_uris\n" + "\n".join(rows))
    with pytest.raises(DataError, match='line 1002: the labels "old books" are no URIs, but cells'):
        read_corpus(path)


def test_texts_are_joined_in_the_order_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"a": "first", "b": null, "c": "last", "tags": "x"}\n')
    corpus = read_corpus(path, fields=Fields.of(text="c, b, a"))
    assert corpus.texts == ["last\nfirst"]


def test_a_column_that_counts_twice_is_there_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("title,abstract,tags\nRoses,How to prune,a\n")
    corpus = read_corpus(path, fields=Fields.of(text="title^2, abstract"))
    assert list(corpus.texts or ()) == ["Roses\nRoses\nHow to prune"]
    assert corpus.reading is not None
    again = read_corpus(path, kept_fields=corpus.reading.fields)  # as a model reads it
    assert list(again.texts or ()) == list(corpus.texts or ())
    with pytest.raises(UsageError, match=r"--text title\^99: a column counts 1 to 10 times"):
        Fields.of(text="title^99")


def test_guesses_are_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "corpus.csv"
    path.write_text("id;Title;Abstract;Keywords\n1;Roses;About roses;a, b\n")
    reading = read_corpus(path).reading
    assert reading is not None
    assert reading.sentence == (
        'text from Title and Abstract; labels from Keywords; ids from id; "," between labels '
        '(CSV, ";" between cells, UTF-8)'
    )
    asked = Fields.of(text="Title", labels="Keywords", label_separator=",", id="id")
    again = read_corpus(path, fields=asked).reading
    assert again is not None
    assert again.sentence is None


def test_a_model_reads_other_files_as_its_own(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("nr;TIT;SW\n1;Roses;a/b\n")
    asked = Fields.of(text="TIT", labels="SW", label_separator="/", id="nr")
    kept = read_corpus(path, fields=asked).reading.fields  # type: ignore[union-attr]
    other = tmp_path / "test.jsonl"
    other.write_text('{"TIT": "Books", "nr": 8, "SW": "b/c", "text": "x"}\n')
    corpus = read_corpus(other, kept_fields=kept)
    assert (corpus.texts, corpus.ids, corpus.labels_of(0)) == (["Books"], ["8"], ["b", "c"])
    other.write_text("nr,TIT\n8,Books\n")
    assert read_corpus(other, kept_fields=kept, needs_labels=False).Y.nnz == 0
    other.write_text("nr,title,SW\n8,Books,x\n")
    with pytest.raises(DataError, match='no column "TIT", which the model was trained on'):
        read_corpus(other, kept_fields=kept)
    other.write_text("A plain line of text\ta/b\n")
    assert read_corpus(other, kept_fields=kept).texts == ["A plain line of text"]


@pytest.mark.parametrize(
    ("train", "test", "expected"),
    [
        ("a", "b;c", 'labels have ";" between them, but nothing in the table that the model'),
        ("a;b", "b|c", 'have "\\|" between them, but ";" in the table that the model learned'),
        ("a;b", "b;c", None),
        ("a;b", "Smith, J", None),
        ('"a,b"', "b;c", 'labels have ";" between them, but "," in the table'),
    ],
)
def test_labels_of_another_file_are_separated_as_the_models(
    tmp_path: Path, train: str, test: str, expected: str | None
) -> None:
    paths = [tmp_path / "train.csv", tmp_path / "test.csv"]
    for path, labels in zip(paths, (train, test), strict=True):
        cell = f'"{labels}"' if ", " in labels else labels
        path.write_text(f"title,tags\nRoses,{cell}\n")
    reading = read_corpus(paths[0]).reading
    assert reading is not None
    if expected is None:
        corpus = read_corpus(paths[1], kept_fields=reading.fields)
        assert corpus.labels_of(0) == test.split(";")
        return
    with pytest.raises(DataError, match=expected):
        read_corpus(paths[1], kept_fields=reading.fields)
    asked = {"kept_fields": reading.fields, "n_labels": 2, "needs_labels": False}
    assert read_corpus(paths[1], **asked).texts == ["Roses"]  # to tag it, labels do not matter


def test_a_separator_that_was_given_is_kept_as_given(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("title,tags\nRoses,a;b\n")
    reading = read_corpus(path, fields=Fields.of(label_separator="none")).reading
    assert reading is not None
    assert read_corpus(path, kept_fields=reading.fields).labels_of(0) == ["a;b"]


def test_an_encoding_that_is_assumed_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("Title;Tags\nÜber Rosen;a\n".encode("cp1252"))
    reading = read_corpus(path).reading
    assert reading is not None
    assert "encoding Windows-1252, as it is not UTF-8" in (reading.sentence or "")


def test_a_text_longer_than_csv_allows_by_default(tmp_path: Path) -> None:
    path = tmp_path / "corpus.csv"
    path.write_text(f'text,tags\n"{"word " * 100_000}",a\n')
    assert len(read_corpus(path).texts[0]) == 500_000  # type: ignore[index]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_table_in_a_pipe_is_refused_and_not_read_by_half(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(HEADER + "1,Roses,a\n",))
    writer.start()
    with pytest.raises(DataError, match="is a pipe, but a table is gone through more than once"):
        read_corpus(path)
    writer.join()


def test_line_breaks_inside_cells_count_as_lines(tmp_path: Path) -> None:
    path = tmp_path / "corpus.csv"
    path.write_text('text,tags\n"one\ntwo",a\nthree,b,c\n')
    with pytest.raises(DataError, match="line 4: there are 3 cells"):
        read_corpus(path)


def test_texts_of_a_large_table_stay_in_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelspace.data.formats.table.MAX_KEPT", 20)
    path = tmp_path / "corpus.csv"
    path.write_text("id,text,tags\n" + "".join(f"{n},row {n},a;b\n" for n in range(9)))
    corpus = read_corpus(path)
    assert not isinstance(corpus.texts, list)
    assert list(corpus.texts or ()) == list(corpus.texts or ()) == [f"row {n}" for n in range(9)]
    assert list(corpus.ids or ()) == [str(n) for n in range(9)]
    some = corpus.take([7, 2])
    assert (some.texts, some.ids) == (["row 7", "row 2"], ["7", "2"])
    tagger = Tagger("knn").fit(corpus.rows, corpus.Y, corpus.label_names)
    assert len(tagger.predict_topk(corpus.rows)) == 9
    write_corpus(corpus, tmp_path / "b.jsonl")
    again = read_corpus(tmp_path / "b.jsonl")
    assert list(again.texts or ()) == [f"row {n}" for n in range(9)]
    assert describe(corpus).duplicate_features == 0


@pytest.mark.parametrize(
    ("module", "name", "content"),
    [
        ("pyarrow", "a.parquet", b"PAR1 and so on"),
        ("pyarrow", "a.feather", b"ARROW1 and so on"),
        ("openpyxl", "a.xlsx", b"PK\x03\x04 xl/workbook.xml [Content_Types].xml"),
    ],
)
def test_what_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str, content: bytes
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=rf"needs {module}: run pip install 'labelspace\[tables\]'"):
        read_corpus(tmp_path / name)


def test_an_excel_file_with_several_sheets_and_dates(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Notes"  # empty: passed over
    sheet = book.create_sheet("Data")
    sheet.append(["title", "tags", "when"])
    sheet.append(["Roses", "a|b", datetime.date(1999, 1, 2)])
    sheet.append([None, None, None])
    sheet.append(["Books", None, None])
    book.create_sheet("More").append(["x"])
    book.save(tmp_path / "a.xlsx")
    with pytest.warns(LabelspaceWarning, match="1 of 2 rows without labels"):
        corpus = read_corpus(tmp_path / "a.xlsx", fields=Fields.of(text="title,when"))
    assert corpus.texts == ["Roses\n1999-01-02", "Books"]
    assert corpus.reading is not None
    assert corpus.reading.how == 'Excel, sheet "Data", the first of 2 with content'


def test_parquet_of_programs_that_do_not_say_what_is_text(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    columns = {
        "title": arrow.array([b"Roses", None], arrow.binary()),
        "tags": arrow.array(["a;b", "c"]).dictionary_encode(),
        "id": arrow.array([4029582, 7], arrow.int64()),
    }
    parquet.write_table(arrow.table(columns), path)
    with pytest.warns(LabelspaceWarning, match="1 of 2 rows without text"):
        corpus = read_corpus(path)
    assert corpus.texts == ["Roses", ""]
    assert [corpus.labels_of(row) for row in range(2)] == [["a", "b"], ["c"]]
    assert corpus.ids == ["4029582", "7"]


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"title": st.text(max_size=20), "tags": st.lists(st.text("abc, ;|", max_size=3))},
            optional={"more": st.recursive(st.none(), lambda inner: st.lists(inner, max_size=2))},
        ),
        min_size=1,
        max_size=5,
    ),
    indent=st.sampled_from([None, 1]),
    chunk=st.integers(1, 40),
)
def test_an_array_of_objects_reads_as_its_lines_do(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    indent: int | None,
    chunk: int,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "array.json").write_text(json.dumps(rows, indent=indent), encoding="utf-8")
    (folder / "lines.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelspaceWarning)
        patch.setattr("labelspace.data.formats.records._CHUNK", chunk)
        array = read_corpus(folder / "array.json")
        lines = read_corpus(folder / "lines.jsonl", fields=Fields.of(text="title"))
    assert array.texts == lines.texts == [row["title"] for row in rows]
    assert array.label_names == lines.label_names
    assert [array.labels_of(row) for row in range(len(rows))] == [
        sorted({label for tag in row["tags"] if (label := tag.strip())}) for row in rows
    ]
