"""Names of labels: from ``labels.txt``, from the corpus, from a trained model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.data import Corpus, read_corpus, write_corpus
from labelspace.errors import DataError, LabelspaceWarning

Y = [[1, 0, 1], [0, 1, 0]]


def write(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def rows(corpus: Corpus) -> list[list[str]]:
    return [corpus.labels_of(row) for row in range(len(corpus))]


@pytest.mark.parametrize(
    ("labels_txt", "expected"),
    [
        ("red\ngreen\nround\n", ["red", "green", "round"]),
        ("c1\tred\nc2\tgreen\nc3\tround", ["red", "green", "round"]),
        ("c1\tred\r\nc2\t\r\nc3\tround\r\n", ["red", "c2", "round"]),
        ("\ufeffrouge\n\nrond\n", ["rouge", "1", "rond"]),
    ],
    ids=["one column", "key and name", "no name", "blank line"],
)
@pytest.mark.parametrize(
    "content",
    [
        "2 5 3\n0,2 1:1\n1 1:1\n",
        "0,2 1:1\n1 1:1\n",
        "a\t0,2\nb\t1\n",
        '{"text":"a","labels":[0,2]}\n',
    ],
    ids=["xc", "svmlight", "tsv", "jsonl"],
)
def test_lines_of_labels_txt_name_the_ids(
    tmp_path: Path, content: str, labels_txt: str, expected: list[str]
) -> None:
    write(tmp_path / "labels.txt", labels_txt)
    corpus = read_corpus(write(tmp_path / "corpus", content))
    assert corpus.label_names == expected
    assert corpus.Y[0].indices.tolist() == [0, 2]


def test_words_and_keys_are_looked_up_in_labels_txt(tmp_path: Path) -> None:
    write(tmp_path / "labels.txt", "u:red\tred\nu:green\tgreen\nu:round\tround\n")
    for content in ("a\t<u:round> <u:red>\nb\t<u:green>\n", "a\tround,red\nb\tgreen\n"):
        corpus = read_corpus(write(tmp_path / "corpus.tsv", content))
        assert corpus.label_names == ["red", "green", "round"]
        assert corpus.Y.toarray().tolist() == Y
    corpus = read_corpus(write(tmp_path / "corpus.tsv", "a\tround,blue\n"))
    assert corpus.label_names == ["red", "green", "round", "blue"]


def test_labels_txt_that_does_not_fit_is_ignored_with_a_warning(tmp_path: Path) -> None:
    write(tmp_path / "labels.txt", "red\n")
    with pytest.warns(LabelspaceWarning, match=r"labels.txt is ignored: it has 1 lines"):
        assert read_corpus(write(tmp_path / "a", "1 5 3\n0,2 1:1\n")).label_names is None
    with pytest.warns(LabelspaceWarning, match="none of the corpus's labels is in it"):
        assert read_corpus(write(tmp_path / "a", "a\tblue\n")).label_names == ["blue"]


def test_words_are_numbered_in_sorted_order(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path / "a", "a\tround, red\nb\tgreen\n"))
    assert corpus.label_names == ["green", "red", "round"]
    assert rows(corpus) == [["red", "round"], ["green"]]


@pytest.mark.parametrize(
    "content",
    [
        "a\t4029582,17\nb\t0\n",
        '{"text": "a", "labels": [4029582, 17]}\n{"text": "b", "labels": [0]}',
    ],
    ids=["tsv", "jsonl"],
)
def test_whole_numbers_are_names_where_no_labels_txt_has_a_line_for_each(
    tmp_path: Path, content: str
) -> None:
    path = write(tmp_path / "a", content)
    corpus = read_corpus(path)
    assert corpus.label_names == ["0", "17", "4029582"]
    assert rows(corpus) == [["17", "4029582"], ["0"]]
    assert read_corpus(path, n_labels=5_000_000).n_labels == 5_000_000  # a model without names
    write(tmp_path / "labels.txt", "red\n" * 18)
    with pytest.warns(LabelspaceWarning, match="none of the corpus's labels"):
        assert read_corpus(path).n_labels == 3


def test_numbers_and_words_are_names(tmp_path: Path) -> None:
    mixed = read_corpus(write(tmp_path / "a", "a\t7,2b\n"))
    assert mixed.label_names == ["2b", "7"]


@pytest.mark.parametrize(
    "content",
    [
        "a\tround,blue\nb\tred\n",
        '{"text": "a", "labels": ["blue", "round"]}\n{"text": "b", "labels": ["red"]}\n',
    ],
    ids=["tsv", "jsonl"],
)
def test_model_names_keep_their_columns_and_new_ones_follow(tmp_path: Path, content: str) -> None:
    path = write(tmp_path / "test", content)
    corpus = read_corpus(path, label_names=["round", "red", "green"])
    assert corpus.label_names == ["round", "red", "green", "blue"]
    assert corpus.Y.toarray().tolist() == [[1, 0, 0, 1], [0, 1, 0, 0]]


def test_ids_with_other_names_than_the_model_go_by_name(tmp_path: Path) -> None:
    write(tmp_path / "labels.txt", "red\ngreen\nround\n")
    model = ["round", "red"]
    for content in ("2 5 3\n0,2 1:1\n1 1:1\n", "a\t0,2\nb\t1\n"):
        corpus = read_corpus(write(tmp_path / "test", content), label_names=model)
        assert corpus.label_names == ["round", "red", "green"]
        assert rows(corpus) == [["round", "red"], ["green"]]


def test_names_that_occur_twice_stay_two_labels(tmp_path: Path) -> None:
    names = ["bank", "river", "bank"]
    write(tmp_path / "labels.txt", "\n".join(names))
    train = read_corpus(write(tmp_path / "train.tsv", "a\t0\nb\t2\n"))
    test = read_corpus(write(tmp_path / "test.tsv", "b\t2\n"), label_names=train.label_names)
    assert test.label_names == names
    assert test.Y.toarray().tolist() == [[0, 0, 1]]
    write_corpus(train, tmp_path / "copy.jsonl")
    assert read_corpus(tmp_path / "copy.jsonl").Y.toarray().tolist() == train.Y.toarray().tolist()


def test_ids_without_names_take_the_models(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path / "test", "0,3 1:1\n"), label_names=["red", "green"])
    assert corpus.label_names == ["red", "green", "2", "3"]
    corpus = read_corpus(write(tmp_path / "test", "a\t1\n"), label_names=["red", "green"])
    assert corpus.Y.toarray().tolist() == [[0, 1]]
    assert read_corpus(tmp_path / "test", n_labels=9).n_labels == 9


def test_numbers_that_are_the_models_names_stay_names(tmp_path: Path) -> None:
    train = read_corpus(write(tmp_path / "train", "a\t1021591971,118540238\n"))
    test = read_corpus(
        write(tmp_path / "test", "a\t118540238,4000\n"), label_names=train.label_names
    )
    assert test.label_names == ["118540238", "1021591971", "4000"]


def test_features_by_word_follow_the_models_names(tmp_path: Path) -> None:
    path = write(tmp_path / "a", '{"features": {"red": 1, "ball": 0.5}, "labels": ["x"]}\n')
    train = read_corpus(path)
    assert train.feature_names == ["ball", "red"]
    write(path, '{"features": {"cube": 1, "red": 2}, "labels": ["x"]}\n')
    with pytest.warns(LabelspaceWarning, match="1 features have names that the model does not"):
        test = read_corpus(path, feature_names=train.feature_names)
    assert test.X.toarray().tolist() == [[0, 2]]
    assert test.feature_names == ["ball", "red"]


def test_features_txt_names_the_columns(tmp_path: Path) -> None:
    write(tmp_path / "features.txt", "ball\ncube\n")
    corpus = read_corpus(write(tmp_path / "train.txt", "1 2 1\n0 1:1\n"))
    assert corpus.feature_names == ["ball", "cube"]


def test_names_beside_are_completed_but_never_contradicted(tmp_path: Path) -> None:
    X = csr_matrix(np.eye(1))
    write_corpus(Corpus(X, csr_matrix([[1, 0]]), label_names=["red", "green"]), tmp_path / "a.txt")
    assert (tmp_path / "labels.txt").read_text() == "red\ngreen\n"
    more = ["red", "green", "blue"]
    write_corpus(Corpus(X, csr_matrix([[1, 0, 1]]), label_names=more), tmp_path / "b.txt")
    assert (tmp_path / "labels.txt").read_text() == "red\ngreen\nblue\n"
    write_corpus(Corpus(X, csr_matrix([[1]]), label_names=["red"]), tmp_path / "c.txt")
    assert (tmp_path / "labels.txt").read_text() == "red\ngreen\nblue\n"
    with pytest.raises(DataError, match="holds other names than this corpus"):
        write_corpus(Corpus(X, csr_matrix([[1]]), label_names=["blue"]), tmp_path / "d.txt")
    assert not (tmp_path / "d.txt").exists()


def test_order_and_unused_names_are_kept_beside_where_there_is_room(tmp_path: Path) -> None:
    corpus = Corpus(None, csr_matrix([[1, 0, 1]]), texts=["a"], label_names=["red", "tall", "big"])
    write_corpus(corpus, tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").read_text() == "a\tred,big\n"
    back = read_corpus(tmp_path / "a.tsv")
    assert back.label_names == corpus.label_names
    assert back.Y.toarray().tolist() == [[1, 0, 1]]
    write(tmp_path / "labels.txt", "another\ncorpus\n")
    write_corpus(corpus, tmp_path / "a.tsv")
    assert (tmp_path / "labels.txt").read_text() == "another\ncorpus\n"


def test_failed_write_takes_its_names_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> bytes:
        raise RuntimeError

    monkeypatch.setattr("labelspace.data.formats.xc_write.format_rows", fail)
    corpus = Corpus(csr_matrix(np.eye(1)), csr_matrix([[1]]), label_names=["red"])
    with pytest.raises(RuntimeError):
        write_corpus(corpus, tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_names_with_commas_go_beside_the_tsv(tmp_path: Path) -> None:
    names = ["fruit, dried", "nuts"]
    corpus = Corpus(None, csr_matrix([[1, 1]]), texts=["raisins"], label_names=names)
    write_corpus(corpus, tmp_path / "a.tsv")
    assert (tmp_path / "a.tsv").read_text() == "raisins\t0,1\n"
    assert read_corpus(tmp_path / "a.tsv").label_names == names


ROWS = "0 1:1\n1 2:1\n2 3:1\n0 4:1\n"
TOO_WIDE = {
    "header, labels": ("4 5 10000000\n" + ROWS, "the first line asks for 10,000,000 labels, but 3"),
    "header, features": ("4 2000000000 5\n" + ROWS, "asks for 2,000,000,000 features, but 4 are"),
    "svmlight, label": ("2000000000 1:1\n", "1 labels, but their numbers ask for 2,000,000,001"),
    "svmlight, feature": ("0 2000000000:1\n", "1 features, but their numbers ask for 2,000,000,0"),
    "JSON, feature": ('{"features": [[2000000000, 1]], "labels": ["a"]}\n', "1 features, but"),
    "JSON, feature as a string": ('{"features": {"2000000000": 1}}\n', "1 features, but their"),
}


@pytest.mark.parametrize(("content", "expected"), TOO_WIDE.values(), ids=TOO_WIDE)
def test_far_more_columns_than_are_in_use_are_refused(
    tmp_path: Path, content: str, expected: str
) -> None:
    path = tmp_path / "corpus"
    path.write_text(content)
    with pytest.raises(DataError, match=expected):
        read_corpus(path)


@pytest.mark.parametrize("label_names", [None, ["red", "green"]])
@pytest.mark.parametrize("content", ["2000000000 1:1\n", "1 2 2000000000\n0 1:1\n"])
def test_a_model_does_not_make_room_for_far_more_labels(
    tmp_path: Path, content: str, label_names: list[str] | None
) -> None:
    path = tmp_path / "corpus"
    path.write_text(content)
    with pytest.raises(DataError, match="2,000,000,00"):
        read_corpus(path, n_features=2, n_labels=2, label_names=label_names)


@pytest.mark.parametrize("name", ["X", "Y"])
def test_arrays_with_far_more_columns_than_are_in_use_are_refused(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "corpus.npz"
    write_corpus(Corpus(csr_matrix(np.eye(2)), csr_matrix(np.eye(2))), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **arrays | {f"{name}_shape": np.array([2, 2_000_000_000])})
    with pytest.raises(DataError, match=f"{name}_shape asks for 2,000,000,000"):
        read_corpus(path)


def test_a_small_part_of_a_large_corpus_is_read(tmp_path: Path) -> None:
    path = tmp_path / "corpus"
    path.write_text("4 1000000 670091\n" + ROWS)  # as Amazon-670K says of its test rows
    assert read_corpus(path).Y.shape == (4, 670_091)
    wide = " ".join(f"{1000 * feature}:1" for feature in range(2000))
    path.write_text(f"1 2000000 5\n0 {wide}\n")
    assert read_corpus(path).n_features == 2_000_000


def test_columns_that_were_asked_for_are_there(tmp_path: Path) -> None:
    path = tmp_path / "corpus"
    path.write_text("4 5 3000000\n" + ROWS)
    assert read_corpus(path, n_labels=3_000_000).n_labels == 3_000_000
    path.write_text("150000 1:1\n")
    (tmp_path / "labels.txt").write_text("label\n" * 150_001)
    assert read_corpus(path).n_labels == 150_001
