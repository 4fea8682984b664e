"""The format is what the content says, not what the name says."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelspace.data import read_corpus
from labelspace.data.formats.compression import compression_of
from labelspace.data.formats.detect import detect_format
from labelspace.data.formats.open_table import TABLES
from labelspace.errors import DataError


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("2 5 3\n0,2 1:0.5\n 0:1\n", "xc"),
        ("0 5 3\n", "xc"),
        ("2 5 3 \r\n0,2 1:0.5\r\n", "xc"),
        ("\ufeff2 5 3\n0,2 1:0.5\n", "xc"),
        ("0,2 1:0.5 4:1e-3\n", "svmlight"),
        (" 1:0.5\n", "svmlight"),
        ("1:0.5\n", "svmlight"),
        ("3 \n4 1:1\n", "svmlight"),
        ("3\n", "svmlight"),
        ("0\t1:0.5\t2:1\n", "svmlight"),
        ("# a comment\n0 1:1\n", "svmlight"),
        ("0 1:nan\n", "svmlight"),
        ("a ball\tred\n", "tsv"),
        ("a ball\t\nb\t\n", "tsv"),
        ("\tred\n", "tsv"),
        ("\t\n", "tsv"),
        ("12\t3\n", "tsv"),
        ("12\t3,4\n", "tsv"),
        ("at 12:30 a ball\t7\n", "tsv"),
        ("{curly} text\tred\n", "tsv"),
        ("[1] a footnote\tred\n", "tsv"),
        ("a ball\t<not a subject\n", "tsv"),
        ("a ball\t\nb\t<u:red> <u:round>\n", "tsv"),
        ("a ball\t<u:red>\r\n", "tsv"),
        ('{"text": "a", "labels": []}\n', "jsonl"),
        ('\n  {"text":\t"a", "labels": []}\n', "jsonl"),
        ('{"text": "a", labels}\n', "jsonl"),
        (b"PK\x03\x04 and so on", "npz"),
    ],
)
def test_format_by_content(content: str | bytes, expected: str) -> None:
    head = content.encode() if isinstance(content, str) else content
    assert detect_format(head, Path("corpus")) == expected


def test_first_line_longer_than_what_is_looked_at(tmp_path: Path) -> None:
    n = 60_000
    path = tmp_path / "corpus"
    path.write_text("1 " + " ".join(f"{i}:0.5" for i in range(n)) + "\n0 1:1\n")
    assert read_corpus(path).X.nnz == n + 1
    for labels, expected in (("red", "red"), ("<u:red>", "u:red")):
        path.write_text("a long text " * 50_000 + f"\t{labels}\n")
        assert read_corpus(path).label_names == [expected]


@pytest.mark.filterwarnings("ignore::labelspace.errors.LabelspaceWarning")
def test_kind_of_tsv_is_told_by_the_first_row_with_labels(tmp_path: Path) -> None:
    path = tmp_path / "corpus"
    path.write_text("a ball\t\n" * 50_000 + "a red ball\t<u:red> <u:round>\n")
    assert read_corpus(path).label_names == ["u:red", "u:round"]


@pytest.mark.parametrize("name", ["corpus.txt", "corpus.tsv", "corpus.npz", "corpus"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])
def test_names_do_not_matter(tmp_path: Path, name: str, compress: type) -> None:
    path = tmp_path / name
    path.write_bytes(compress(b"a ball\tred\n"))
    assert read_corpus(path).texts == ["a ball"]


def test_text_that_begins_like_bzip2_is_text(tmp_path: Path) -> None:
    assert compression_of(b"BZh9 is how a bzip2 file begins") is None
    path = tmp_path / "corpus.tsv"
    path.write_text("BZh9 is how a bzip2 file begins\tred\n")
    assert len(read_corpus(path)) == 1


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=100))
def test_any_bytes_are_a_format_or_a_data_error(head: bytes) -> None:
    try:
        name = detect_format(head, Path("corpus"))
    except DataError:
        return
    assert name in {"xc", "svmlight", "tsv", "npz", *TABLES}


@settings(max_examples=200, deadline=None)
@given(
    lines=st.lists(st.text(max_size=30), max_size=4), mark=st.sampled_from(["\t", "\t<u:a>", "{"])
)
@pytest.mark.filterwarnings("ignore::labelspace.errors.LabelspaceWarning")
def test_any_text_gives_a_corpus_or_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], mark: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "corpus"
    text = "\n".join(line + mark if mark != "{" else mark + line for line in lines)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        corpus = read_corpus(path)
    except DataError as error:
        message = str(error)
    else:
        corpus.Y.check_format(full_check=True)
        return
    assert str(path) in message


@pytest.mark.parametrize("text", ["机器学习" * 400, "สวัสดี" * 500])
def test_a_long_text_without_blanks_is_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / "corpus.tsv"
    path.write_text(f"{text}\tred\n{text}\tround\n", encoding="utf-8")
    corpus = read_corpus(path)
    assert corpus.texts == [text, text]
    assert corpus.label_names == ["red", "round"]


def test_a_row_of_very_many_labels_is_xc_text() -> None:
    labels = ",".join(map(str, range(2000)))
    assert detect_format(f"{labels} 0:1\n1 0:1\n".encode(), Path("a")) == "svmlight"
