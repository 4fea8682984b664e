"""Every bad corpus gives one sentence: the file, the line, what is wrong and what to do.

The tables are by format: what is in the file, what the error must say.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelspace.data import Corpus, read_corpus, write_corpus
from labelspace.errors import DataError

XC_TEXT = {
    "word as label": ("1 5 3\nred 1:1\n", 'line 2: "red" is not a label number'),
    "decimal label": ("2 5 3\n0 1:1\n1.5 1:1\n", 'line 3: "1.5" is not a label number'),
    "label missing after comma": ("1 5 3\n0, 1:1\n", 'line 2: "" is not a label number'),
    "label missing between commas": ("1 5 3\n0,,1 1:1\n", 'line 2: "" is not a label number'),
    "blank between labels": ("1 5 3\n0, 1 1:1\n", 'line 2: "" is not a label number'),
    "negative label": ("1 5 3\n0,-1 1:1\n", 'line 2: label "-1" is negative'),
    "label beyond the first line": ("1 5 3\n3 1:1\n", "line 2: label 3 is too large: the first"),
    "no colon": ("2 5 3\n0 1:1\n0 1:1 4\n", 'line 3: "4" is not a feature; write it as number:'),
    "label after a blank": ("1 5 3\n 2 1:1\n", 'line 2: "2" is not a feature'),
    "word as feature": ("1 5 3\n0 ball:1\n", 'line 2: "ball:1" is not a feature'),
    "negative feature": ("1 5 3\n0 -1:1\n", 'line 2: feature "-1:1" is negative'),
    "feature beyond the first line": ("1 5 3\n0 5:1\n", "line 2: feature 5 is too large: the fi"),
    "no value": ("1 5 3\n0 1: 2:1\n", 'line 2: "1:" has no number after its colon'),
    "word as value": ("1 5 3\n0 1:x\n", 'line 2: "1:x" has no number after its colon'),
    "two points": ("1 5 3\n0 1:1.2.3\n", 'line 2: "1:1.2.3" has no number'),
    "exponent missing": ("1 5 3\n0 1:1e\n", 'line 2: "1:1e" has no number'),
    "two colons": ("1 5 3\n0 1:2:3\n", 'line 2: "1:2:3" has no number'),
    "nan": ("1 5 3\n0 1:nan\n", 'line 2: the value of "1:nan" is not finite'),
    "infinity": ("1 5 3\n0 1:-Inf\n", 'line 2: the value of "1:-Inf" is not finite'),
    "overflow": ("1 5 3\n0 1:1e39\n", 'line 2: the value of "1:1e39" is beyond what a float32'),
    "fewer rows": ("3 5 3\n0 1:1\n", "line 1: the first line promises 3 rows but 1 follow"),
    "more rows": ("1 5 3\n0 1:1\n1 1:1\n", "line 1: the first line promises 1 rows but 2 follow"),
    "absurd sizes": ("9 99999999999999 3\n0 1:1\n", "line 1: 99999999999999 is beyond 2**31"),
    "old Mac line ends": ("1 5 3\n0 1:1\r1 2:1\n", "line 2: "),
    "zero byte": ("1 5 3\n0 1:1\0\n", "line 2: "),
    "error far down": ("3 5 3\n" + "0 1:1\n" * 2 + "0 1:1 x\n", 'line 4: "x" is not a feature'),
}
SVMLIGHT = {
    "word as label": ("0 1:1\nred 1:1\n", 'line 2: "red" is not a label number'),
    "word as label in the first row": ("red 1:1\n", 'line 1: "red" is not a label number'),
    "no colon": ("0 1:1\n0 4\n", 'line 2: "4" is not a feature'),
    "two numbers": ("3 4\n0 1:1\n", 'line 1: "4" is not a feature'),
    "nan in the first row": ("0 1:nan\n", 'line 1: the value of "1:nan" is not finite'),
    "huge label": ("2147483648 1:1\n", "line 1: label 2147483648 is too large: numbers end at"),
    "huge feature": ("0 99999999999:1\n", "line 1: feature 99999999999 is too large"),
    "negative label": ("-1 1:1\n", 'line 1: label "-1" is negative'),
    "negative feature": ("0 -1:1\n", 'line 1: feature "-1:1" is negative'),
    "query id": ("0 qid:1 1:1\n", 'line 1: "qid:1" is not a feature'),
    "only comments": ("# nothing\n#\n", "holds no rows"),
}
TSV = {
    "no tab": ("a ball\tred\na cube\n", "line 2: there is no tab; write text, a tab, then"),
    "no tab in the first row": ("a cube\na ball\tred\n", "line 1: there is no tab"),
    "empty label": ("a ball\tred,,round\n", "line 1: there is nothing between two commas"),
    "comma at the end": ("a ball\tred,\n", "line 1: there is nothing between two commas"),
    "not UTF-8": (b"a ball\tred\na b\xe4ll\tred\n", "line 2: byte 4 is not UTF-8"),
    "UTF-16": ("a ball\tred\n".encode("utf-16"), "line 1: the text is UTF-16"),
}
ANNIF = {
    "no tab": ("a ball\t<u:red>\na cube\n", "line 2: there is no tab"),
    "no brackets": ("a ball\t<u:red>\na cube\tu:red\n", 'line 2: "u:red" is not a subject; write'),
    "half a bracket": ("a ball\t<u:red> <u:round\na\t<u:a>\n", 'line 1: "<u:round" is not a subj'),
    "comma": ("a ball\t<u:red>\na\t<u:a>,<u:b> <u:c>\n", 'line 2: "<u:a>,<u:b>" is not a subject'),
    "empty brackets": ("a ball\t<u:red> <>\n", 'line 1: "<>" is not a subject'),
    "not UTF-8": (b"a ball\t<u:red>\n\xff\t<u:red>\n", "line 2: byte 1 is not UTF-8"),
}
JSONL = {
    "cut short": ('{"text": "a", "labels": []}\n{"text": "b"\n', "line 2: this is not JSON"),
    "broken first row": ('{"text": "a", labels: []}\n', "line 1: this is not JSON"),
    "array in a row": ('{"text": "a"}\n[1]\n', "line 2: this is a list; write an object"),
    "array cut short": ('[{"text": "a", "labels": ["b"]}, {\n', "row 2: this is not JSON"),
    "array of other things": ('[{"text": "a", "labels": ["b"]}, 7]', "row 2: this is no object"),
    "neither text nor features": ('{"labels": [1]}\n', 'line 1: the row has neither "text" nor'),
    "text is a number": ('{"text": 1, "labels": []}\n', 'line 1: "text" is a number; write a str'),
    "text missing later": (
        '{"text": "a"}\n{"features": {"1": 1}}\n',
        'line 2: the row has no "text", unlike the first row',
    ),
    "labels are an object": ('{"text": "a", "labels": {}}\n', 'line 1: "labels" is an object'),
    "labels are null": ('{"text": "a", "labels": null}\n', 'line 1: "labels" is null; write a li'),
    "label is true": ('{"text": "a", "labels": [true]}\n', "line 1: a label is true or false"),
    "label is a decimal": ('{"text": "a", "labels": [1.5]}\n', "line 1: a label is a number; wri"),
    "label is blank": ('{"text": "a", "labels": [" "]}\n', "line 1: a label's name is blank"),
    "label is negative": ('{"text": "a", "labels": [-1]}\n', "line 1: label -1 is negative"),
    "label is huge": ('{"text": "a", "labels": [99999999999]}\n', "line 1: label 99999999999 is t"),
    "labels by name and number": (
        '{"text": "a", "labels": ["red"]}\n{"text": "b", "labels": [1]}\n',
        "line 2: labels are given by name and by number",
    ),
    "features are a string": ('{"features": "1:1"}\n', 'line 1: "features" is a string; write'),
    "feature is a number": ('{"features": [1, 2]}\n', "line 1: a feature is a number; write it as"),
    "feature is a triple": ('{"features": [[1, 2, 3]]}\n', "line 1: a feature is a list; write it"),
    "feature's key is null": ('{"features": [[null, 2]]}\n', "line 1: a feature's key is null"),
    "feature is negative": ('{"features": {"-1": 2}}\n', "line 1: feature -1 is negative"),
    "feature is huge": ('{"features": [[4294967296, 2]]}\n', "line 1: feature 4294967296 is too l"),
    "features by name and number": (
        '{"features": [[1, 1]]}\n{"features": [["ball", 1]]}\n',
        "line 2: features are given by name and by number",
    ),
    "value is a string": ('{"features": {"1": "x"}}\n', "the value of feature '1' is a string"),
    "value is nan": ('{"features": {"1": NaN}}\n', "line 1: NaN is not finite"),
    "value is infinite": ('{"features": {"1": -Infinity}}\n', "line 1: -Infinity is not finite"),
    "value overflows": ('{"features": {"1": 1e39}}\n', "is beyond what a float32 can hold"),
    "nested": ('{"text": ' + "[" * 100_000 + "\n", "line 1: "),
    "not UTF-8": (b'{"text": "a"}\n{"text": "\xe4"}\n', "line 2: byte 11 is not UTF-8"),
}
ANY = {
    "empty": ("", "is empty; give a file with at least one row."),
    "blank": ("\n \n\n", "holds no rows"),
    "prose": ("It was a dark night.\n", "line 1: this is no corpus format that we know; use a"),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a picture; give a corpus of text or fe"),
}
TABLES = {
    "xc": XC_TEXT,
    "svmlight": SVMLIGHT,
    "tsv": TSV,
    "annif": ANNIF,
    "jsonl": JSONL,
    "any": ANY,
}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param(*case, id=f"{name}: {what}")
        for name, table in TABLES.items()
        for what, case in table.items()
    ],
)
def test_one_sentence_for_bad_text(tmp_path: Path, content: str | bytes, expected: str) -> None:
    path = tmp_path / "corpus"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    check(path, expected)


def check(path: Path, expected: str, **columns: Any) -> None:
    with pytest.raises(DataError) as caught:
        read_corpus(path, **columns)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert expected in message
    assert message.endswith((".", ")."))
    assert "\n" not in message
    assert len(message) - len(str(path)) < 260


GOOD_NPZ: dict[str, Any] = {
    "X_data": np.array([0.5, 1, 0.25], np.float32),
    "X_indices": np.array([1, 4, 0]),
    "X_indptr": np.array([0, 2, 3]),
    "X_shape": np.array([2, 5]),
    "Y_indices": np.array([0, 2]),
    "Y_indptr": np.array([0, 2, 2]),
    "Y_shape": np.array([2, 3]),
}
NPZ: dict[str, tuple[dict[str, Any], str]] = {
    "no labels": ({"Y_indptr": None}, "has no array Y_indptr"),
    "no shape": ({"X_shape": None}, "has no array X_shape"),
    "neither features nor text": ({"X_indptr": None}, "has neither X_indptr nor texts"),
    "pickled names": (
        {"label_names": np.array(["a", 1, None], dtype=object)},
        "label_names holds Python objects, which are not loaded",
    ),
    "pickled features": ({"X_data": np.array([{}] * 3)}, "X_data holds Python objects"),
    "words as indices": ({"X_indices": np.array(["1", "4", "0"])}, "X_indices is an array of <U1"),
    "decimal indices": ({"X_indices": np.array([1.0, 4, 0])}, "X_indices is an array of float64"),
    "matrix as indices": ({"X_indices": np.ones((3, 1), int)}, "with 2 dimensions"),
    "shape of one number": ({"X_shape": np.array([2])}, "X_shape is not (rows, columns)"),
    "negative shape": ({"Y_shape": np.array([2, -3])}, "Y_shape is not (rows, columns)"),
    "too few offsets": ({"X_indptr": np.array([0, 3])}, "X_indptr does not fit X_shape"),
    "offsets go back": ({"X_indptr": np.array([0, 4, 3])}, "X_indptr does not fit X_shape"),
    "too few values": ({"X_data": np.ones(2)}, "X_data has 2 values for 3 X_indices"),
    "column too large": ({"X_indices": np.array([1, 5, 0])}, "X_indices go beyond the columns"),
    "column negative": ({"Y_indices": np.array([-1, 2])}, "Y_indices go beyond the columns"),
    "nan": ({"X_data": np.array([np.nan, 1, 1])}, "X_data has values that are not finite"),
    "overflow": ({"X_data": np.array([1e39, 1, 1])}, "X_data has values that are not finite"),
    "other number of rows": (
        {"Y_shape": np.array([1, 3]), "Y_indptr": np.array([0, 2])},
        "has 2 rows in X instead of 1",
    ),
    "too few names": ({"label_names": np.array(["red"])}, "has 1 label names instead of 3"),
    "too few texts": ({"texts": np.array(["a ball"])}, "has 1 texts instead of 2"),
    "texts are not UTF-8": (
        {"texts": np.array([255, 255], np.uint8), "texts_indptr": np.array([0, 1, 2])},
        "texts are not UTF-8",
    ),
    "texts' offsets do not fit": (
        {"texts": np.array([65], np.uint8), "texts_indptr": np.array([0, 1, 2])},
        "texts_indptr does not fit texts",
    ),
}


@pytest.mark.parametrize(("change", "expected"), NPZ.values(), ids=NPZ)
def test_one_sentence_for_bad_arrays(tmp_path: Path, change: dict, expected: str) -> None:
    path = tmp_path / "corpus.npz"
    arrays = {name: array for name, array in {**GOOD_NPZ, **change}.items() if array is not None}
    np.savez(path, **arrays)
    check(path, expected)


def test_one_sentence_for_a_lone_scipy_matrix(tmp_path: Path) -> None:
    from scipy.sparse import eye, save_npz

    path = tmp_path / "X.npz"
    save_npz(path, eye(3, format="csr"))
    check(path, "is one matrix saved by scipy, without its partner")


@pytest.mark.filterwarnings("ignore::labelspace.errors.LabelspaceWarning")
def test_damaged_archive_is_a_data_error_wherever_it_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "corpus.npz"
    np.savez(path, **GOOD_NPZ)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for size in rng.integers(4, len(whole) - 1, 40):
        path.write_bytes(whole[:size])
        check(path, "")
    for place in rng.integers(4, len(whole), 200):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
        with contextlib.suppress(DataError):
            read_corpus(path)


COMPRESS = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize("table", ["xc", "tsv", "jsonl", "npz"])
def test_truncated_and_damaged_compression(tmp_path: Path, kind: str, table: str) -> None:
    file = io.BytesIO()
    np.savez(file, **GOOD_NPZ)
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefgh"), 8)) for _ in range(4000)]
    content = {
        "xc": b"4000 5 3\n" + b"".join(b"0,2 1:0.%d\n" % i for i in rng.integers(1, 10**9, 4000)),
        "tsv": "".join(f"{word}\tred\n" for word in words).encode(),
        "jsonl": "".join(f'{{"text": "{word}", "labels": ["red"]}}\n' for word in words).encode(),
        "npz": file.getvalue(),
    }[table]
    whole = COMPRESS[kind](content)
    path = tmp_path / "corpus"
    for size in (len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:size])
        check(path, f"is a .{kind} file that is cut short; fetch or write it again.")
    # The checksum of gz stands in the last 8 bytes; the others notice wherever it is.
    place = len(whole) - 8 if kind == "gz" else len(whole) // 2
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
    check(path, f"is a .{kind} file that is damaged")


def test_folder_missing_file_and_near_name(tmp_path: Path) -> None:
    check(tmp_path, "is a folder without documents; give a corpus file, or a")
    (tmp_path / "train.txt.xz").touch()
    check(tmp_path / "train.txt", "does not exist; check the name (is it train.txt.xz?).")
    check(tmp_path / "nowhere" / "train.txt", "does not exist; check the name.")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("0 1:1\n")
    path.chmod(0)
    check(path, "cannot be opened (Permission denied)")


def test_features_that_a_model_cannot_have(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text('{"features": {"1": 1}}\n\n{"features": {"7": 1}}\n')
    check(path, "line 3: feature 7 is too large: the model has 5 features", n_features=5)
    path.write_text('{"features": {"ball": 1}}\n')
    check(path, "line 1: features have names but the model knows them by number", n_features=5)
    path = tmp_path / "test.npz"
    np.savez(path, **GOOD_NPZ)
    check(path, "has 5 features but the model has 6", n_features=6)
    np.savez(path, feature_names=np.array(list("abcde")), **GOOD_NPZ)
    check(path, "has features of other names than the model", feature_names=list("edcba"))


def test_names_file_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_bytes(b"red\nr\xf6t\n")
    path = tmp_path / "train.txt"
    path.write_text("0,1 1:1\n")
    with pytest.raises(DataError, match=r"labels.txt, line 2: byte 2 is not UTF-8"):
        read_corpus(path)


WRITING = {
    "no text for TSV": ("a.tsv", Corpus(np.eye(2), np.eye(2)), "features but no text"),
    "no features for XC": ("a.txt", Corpus(None, np.eye(1), ["a"]), "text but no features"),
    "half a character": ("a.tsv", Corpus(None, np.eye(1), ["\ud800"]), "half a character"),
    "half a character in npz": ("a.npz", Corpus(None, np.eye(1), ["\ud800"]), "half a character"),
    "half a character in JSON": ("a.jsonl", Corpus(None, np.eye(1), ["\ud800"]), "half a charact"),
    "no such format": ("a.doc", Corpus(np.eye(2), np.eye(2)), "does not say its format; end the"),
    "no such folder": ("b/a.txt", Corpus(np.eye(2), np.eye(2)), "make the folder"),
}


@pytest.mark.parametrize(("name", "corpus", "expected"), WRITING.values(), ids=WRITING)
def test_one_sentence_for_what_cannot_be_written(
    tmp_path: Path, name: str, corpus: Corpus, expected: str
) -> None:
    with pytest.raises(DataError, match=expected):
        write_corpus(corpus, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_parts_of_a_corpus_that_do_not_fit_together() -> None:
    with pytest.raises(DataError, match="cannot have 3 rows of X; make them 2"):
        Corpus(np.eye(3), np.eye(2))
    with pytest.raises(DataError, match="cannot have 1 label names; make them 2"):
        Corpus(None, np.eye(2), ["a", "b"], label_names=["red"])


def test_half_a_character_in_a_name_is_refused_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for row in (
        '{"features": {"3": 1}, "labels": ["\\udfff"]}',
        '{"features": {"a\\ud800": 1}, "labels": ["a"]}',
    ):
        path.write_text(row + "\n", encoding="utf-8")
        with pytest.raises(DataError, match=r"line 1: .* half a character"):
            read_corpus(path)


def test_a_feature_that_adds_up_beyond_float32_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("0 1:1\n0 1:3e38 1:3e38\n", encoding="utf-8")
    with pytest.raises(DataError, match="in row 2 adds up"):
        read_corpus(path)


def test_a_member_of_an_npz_that_is_no_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Y_indptr.npy", b"no array")
        archive.writestr("Y_shape.npy", b"none either")
    with pytest.raises(DataError, match="is no array"):
        read_corpus(path)


def test_what_does_not_fit_into_memory_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def bomb(*arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr("labelspace.data.read._read", bomb)
    with pytest.raises(DataError, match="does not fit into memory"):
        read_corpus(tmp_path / "rows.txt.gz")
