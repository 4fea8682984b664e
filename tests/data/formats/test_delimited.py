"""Whatever a program writes as CSV comes back: any delimiter, quotes, line breaks, encodings."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelspace.data import Fields, read_corpus
from labelspace.data.formats.delimited import DelimitedTable, find_dialect
from labelspace.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore::labelspace.errors.LabelspaceWarning")

cells = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\ufeff"), max_size=12
)
tables = st.lists(st.tuples(cells, cells), min_size=1, max_size=6)


@settings(max_examples=200, deadline=None)
@given(
    rows=tables,
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    line_end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_csv_writes_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    delimiter: str,
    quoting: int,
    line_end: str,
    encoding: str,
) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter, quoting=quoting, lineterminator=line_end)  # type: ignore[arg-type]
    writer.writerow(["title", "other", "year"])
    writer.writerows([*row, "1999"] for row in rows)
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(buffer.getvalue().encode(encoding))
    corpus = read_corpus(path, fields=Fields.of(text="title", labels="other", label_separator=""))
    assert corpus.texts == [title for title, _ in rows]
    assert [corpus.labels_of(row) for row in range(len(rows))] == [
        [label] if (label := other.strip()) else [] for _, other in rows
    ]


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("title;tags\nRed, green, blue;a,b\nOne, two;c\n", ";"),
        ("title,tags\nRed; green,a;b\nOne; two,c\n", ","),
        ("title\ttags\n5\" nails, boxed\ta;b\n\"Ring\" and more\tc\n", "\t"),
        ('"title","tags"\n"Red, ""green""","a"\n', ","),
        ("id|title|tags\n1|Red, green|a;b\n", "|"),
        ("title,tags\n\"two\nlines; of text\",a\nmore,b\n", ","),
    ],
)  # fmt: skip
def test_the_delimiter_is_the_one_that_fits_all_rows(content: str, delimiter: str) -> None:
    dialect = find_dialect(content.encode(), Fields())
    assert dialect is not None
    assert dialect.delimiter == delimiter


def test_a_tab_file_without_quotes_keeps_them_as_text(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('title\ttags\n"Ring" and more\ta\n5" nails\tb\n')
    assert read_corpus(path).texts == ['"Ring" and more', '5" nails']


def test_a_header_far_longer_than_the_rows_or_a_cut_sample(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("title,tags\n" + '"long, text\nof lines",a;b\n' * 30_000)
    corpus = read_corpus(path)
    assert len(corpus) == 30_000
    assert set(corpus.texts or ()) == {"long, text\nof lines"}


@settings(max_examples=200, deadline=None)
@given(content=st.text(st.sampled_from('ab"\\,;\t|\n\r title tags'), max_size=60))
def test_any_text_below_a_header_is_a_table_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, content: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "spoiled.csv"
    path.write_bytes(b"title,tags\n" + content.encode())
    try:
        corpus = read_corpus(path)
    except DataError as error:
        message = str(error)
    else:
        assert len(corpus.texts or ()) == corpus.Y.shape[0]
        return
    assert message.startswith(str(path))
    assert "\n" not in message


def test_rows_can_be_gone_through_again(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("title,tags\nroses,a\nbooks,b\n")
    dialect = find_dialect(path.read_bytes(), Fields())
    assert dialect is not None
    table = DelimitedTable(path, dialect)
    assert list(table.rows()) == list(table.rows()) == [(2, ["roses", "a"]), (3, ["books", "b"])]
    assert table.count() == 2
