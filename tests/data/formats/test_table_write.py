"""A corpus written as a table is the same corpus when it is read again."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.sparse import csr_matrix

from labelspace.data import Corpus, read_corpus, write_corpus
from labelspace.errors import DataError

ENDINGS = (".csv", ".csv.gz", ".xlsx", ".parquet", ".arrow", ".feather")
TEXTS = ['Roses, "red" and white\nin the garden', "=1+1", "Über Bücher; alte"]


def corpus(names: list[str], ids: list[str] | None = None) -> Corpus:
    return Corpus(None, csr_matrix([[1, 1, 0], [0, 0, 1], [0, 0, 0]]), TEXTS, names, ids=ids)


@pytest.mark.filterwarnings("ignore::labelspace.errors.LabelspaceWarning")
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "names",
    [
        ["books", "garden", "roses"],
        ["Bach, J. S.", "books; old", "roses | red"],
        ["http://a.org/1", "http://a.org/2", "http://a.org/3"],
        ["[1]", "[2]", "<3>"],
    ],
)
def test_what_is_written_comes_back(tmp_path: Path, ending: str, names: list[str]) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("openpyxl")
    path = tmp_path / f"corpus{ending}"
    write_corpus(corpus(names, ["a1", "007", "x"]), path)
    again = read_corpus(path)
    expected = names if names[2] != "<3>" else ["[1]", "[2]", "3"]
    assert list(again.texts or ()) == TEXTS
    assert list(again.ids or ()) == ["a1", "007", "x"]
    assert [again.labels_of(row) for row in range(3)] == [expected[:2], [expected[2]], []]


def test_a_corpus_without_ids_has_no_column_of_them(tmp_path: Path) -> None:
    write_corpus(corpus(["a", "b", "c"]), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text("utf-8").startswith("text,labels\n")


def test_features_are_no_table(tmp_path: Path) -> None:
    features = Corpus(csr_matrix([[1.0]]), csr_matrix([[1]]))
    with pytest.raises(DataError, match="features but no text, which a table needs; write"):
        write_corpus(features, tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []


def test_a_packed_workbook_is_not_packed_again(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be compressed, as xlsx files are so already"):
        write_corpus(corpus(["a", "b", "c"]), tmp_path / "a.xlsx.gz")
