from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.errors import DataError
from labelspace.models.dxml.hierarchy import hierarchy_graph, read_hierarchy


def write(tmp_path, text: str, name: str = "tree.tsv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_names_of_labels_are_their_columns_and_others_come_behind(tmp_path):
    path = write(tmp_path, "animal\tcat\nanimal\tdog\n\nthing\tanimal\n")
    graph = read_hierarchy(path, 3, ["dog", "stone", "cat"])
    assert graph.shape == (5, 5)
    assert graph[0, 3] == graph[3, 2] == graph[3, 4] == 1
    assert graph[1].nnz == 0
    assert (graph != graph.T).nnz == 0


def test_numbers_are_labels_where_no_name_fits(tmp_path):
    path = write(tmp_path, "0\t2\r\n0\t1\n0\t1\n")
    for names in (None, ["a", "b", "c"]):
        graph = read_hierarchy(path, 3, names)
        assert graph.shape == (3, 3)
        assert graph[0, 2] == graph[1, 0] == 1


def test_a_compressed_file_is_read(tmp_path):
    path = tmp_path / "tree.tsv.gz"
    path.write_bytes(gzip.compress(b"0\t1\n"))
    assert read_hierarchy(path, 2).nnz == 2


@pytest.mark.parametrize("line", ["animal", "animal\tcat\tdog", "\tcat", "animal\t"])
def test_a_line_that_is_no_pair_is_named(tmp_path, line):
    path = write(tmp_path, f"animal\tcat\n{line}\n")
    with pytest.raises(DataError, match=r"tree\.tsv, line 2: write a parent, one tab"):
        read_hierarchy(path, 1, ["cat"])


def test_a_file_of_another_corpus_is_refused_with_its_first_strange_word(tmp_path):
    path = write(tmp_path, "0\t1\nanimal\tcat\n")
    with pytest.raises(DataError, match="line 2: 'animal' is neither"):
        read_hierarchy(path, 2, ["red", "green"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no file .*nowhere\.tsv"):
        read_hierarchy(tmp_path / "nowhere.tsv", 2)


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_a_file_without_a_pair_is_refused(tmp_path, content):
    with pytest.raises(DataError, match="no line with a parent"):
        read_hierarchy(write(tmp_path, content), 3)


@pytest.mark.parametrize("word", ["-1", "3", "nan", "1.5"])
def test_a_number_that_no_label_has_is_refused(tmp_path, word):
    with pytest.raises(DataError, match=f"line 2: '{word}' is neither"):
        read_hierarchy(write(tmp_path, f"0\t1\n{word}\t1\n"), 3)


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
def test_a_matrix_with_an_impossible_edge_is_refused(weight):
    with pytest.raises(DataError, match="weights from 0 on"):
        hierarchy_graph(csr_matrix([[0.0, weight], [1.0, 0.0]]), 2)
