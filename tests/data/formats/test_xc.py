"""XC text and svmlight: every tolerated form, and agreement with a slow, obvious parser."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from labelspace.data import Corpus, read_corpus, write_corpus
from labelspace.data.formats import xc_blocks
from labelspace.data.formats.xc_write import format_rows, write_blocks
from labelspace.errors import DataError, LabelspaceWarning


def read(path: Path, content: str | bytes, **columns: object) -> Corpus:
    """Write a file and read it as a corpus, without the warnings of empty rows."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelspaceWarning)
        return read_corpus(path, **columns)  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "corpus"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file that every example of a property test writes over."""
    return tmp_path_factory.mktemp("xc") / "corpus"


X = np.array([[0, 0.5, 0, 0, 1], [0.25, 0, 0, 0, 0]], dtype=np.float32)
Y = np.array([[1, 0, 1], [0, 0, 0]], dtype=np.float32)


@pytest.mark.parametrize(
    "content",
    [
        "2 5 3\n0,2 1:0.5 4:1\n 0:0.25\n",
        "2 5 3\r\n0,2 1:0.5 4:1\r\n 0:0.25\r\n",
        "2 5 3\n0,2 1:0.5 4:1\n 0:0.25",
        "2 5 3\n0,2 1:0.5 4:1\n 0:0.25\n\n\n",
        "2 5 3\n0,2 1:0.5 4:1\n 0:0.25\n  \n",
        "2 5 3 \n0,2 1:0.5 4:1  \n 0:0.25 \t \n",
        "\ufeff2 5 3\n0,2 1:0.5 4:1\n 0:0.25\n",
        "2 5 3\n2,0 4:1 1:0.5\n 0:0.25\n",
        "2 5 3\n0,2,2 1:5e-1 4:1.000\n 0:.25\n",
        "2 5 3\n0,2 1:+0.5 3:0 4:1.\n 0:25E-2\n",
        "2 5 3\n0,2\t1:0.5\t4:1\n\t0:0.25\n",
        "2 5 3\n0,2 1:0.5 4:1 # a comment: 7\n0:0.25\n",
        "# written by hand\n0,2 1:0.5 4:1\n 0:0.25\n",
        "0,2 1:0.5 4:1\n 0:0.25\n",
        "\ufeff0,2 1:0.5 4:1\n\n 0:0.25\n\n",
    ],
)
def test_tolerated_forms_read_alike(file: Path, content: str) -> None:
    corpus = read(file, content)
    np.testing.assert_array_equal(corpus.X.toarray(), X)
    np.testing.assert_array_equal(corpus.Y.toarray(), Y)
    assert corpus.X.dtype == corpus.Y.dtype == np.float32
    assert corpus.X.indices.dtype == corpus.Y.indices.dtype == np.int32
    assert corpus.X.has_sorted_indices


def test_empty_line_is_a_row_only_where_the_first_line_counts_rows(file: Path) -> None:
    assert read(file, "3 2 2\n0 1:1\n\n1 0:1\n").Y.toarray().tolist() == [[1, 0], [0, 0], [0, 1]]
    assert read(file, "0 1:1\n\n1 0:1\n").Y.toarray().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("first_row", ["3 ", "3", "3,4", "0 1:1", " 1:1", "1:1"])
def test_first_row_is_not_mistaken_for_the_line_of_sizes(file: Path, first_row: str) -> None:
    corpus = read(file, first_row + "\n4 2:1\n")
    assert len(corpus) == 2
    assert corpus.X.shape == (2, 3)


def test_duplicate_features_are_added_up_and_counted(file: Path) -> None:
    file.write_text("2 3 1\n0 1:0.5 2:1 1:0.25\n0 0:1 0:1\n")
    with pytest.warns(LabelspaceWarning, match="2 features were given again"):
        corpus = read_corpus(file)
    assert corpus.X.toarray().tolist() == [[0, 0.75, 1], [2, 0, 0]]


def test_explicit_zeros_are_dropped_but_widen_the_rows(file: Path) -> None:
    corpus = read(file, "0 1:1 5:0\n")
    assert (corpus.X.nnz, corpus.n_features) == (1, 6)


def test_rows_without_labels_or_features_are_kept_and_counted_once(file: Path) -> None:
    file.write_text("4 2 2\n0 1:1\n 1:1\n1\n \n")
    with pytest.warns(LabelspaceWarning) as record:
        corpus = read_corpus(file)
    assert len(corpus) == 4
    assert len(record) == 1
    assert "2 of 4 rows without labels and 2 of 4 rows without features" in str(record[0].message)


def test_model_widths_make_room_for_labels_and_bind_features(file: Path) -> None:
    corpus = read(file, "4 1:1\n", n_features=7, n_labels=3)
    assert (corpus.n_features, corpus.n_labels) == (7, 5)
    assert read(file, "1 7 2\n1 1:1\n", n_features=7, n_labels=9).n_labels == 9
    with pytest.raises(DataError, match="line 1: the file has 8 features but the model has 7"):
        read(file, "1 8 2\n1 1:1\n", n_features=7)
    with pytest.raises(DataError, match="line 2: feature 7 is too large: the model has 7"):
        read(file, "1 1:1\n1 7:1\n", n_features=7)


def test_reads_what_scikit_learn_writes_and_the_other_way_round(file: Path) -> None:
    rng = np.random.default_rng(0)
    features = csr_matrix(rng.random((50, 20)) * (rng.random((50, 20)) < 0.3))
    labels = csr_matrix((rng.random((50, 7)) < 0.3).astype(float))
    dump_svmlight_file(features, labels, str(file), multilabel=True, zero_based=True)
    corpus = read(file, file.read_bytes(), n_features=20, n_labels=7)
    np.testing.assert_array_equal(corpus.X.toarray(), features.astype(np.float32).toarray())
    np.testing.assert_array_equal(corpus.Y.toarray(), labels.toarray())

    write_corpus(corpus, file, format="svmlight")
    theirs, their_labels = load_svmlight_file(
        str(file), multilabel=True, zero_based=True, n_features=20
    )
    np.testing.assert_array_equal(theirs.astype(np.float32).toarray(), corpus.X.toarray())
    assert [sorted(map(int, row)) for row in their_labels] == [
        corpus.Y[i].indices.tolist() for i in range(50)
    ]


def test_blocks_written_one_by_one_read_as_one_corpus(file: Path) -> None:
    block = csr_matrix(X), csr_matrix(Y)
    write_blocks(file, [block] * 3, (6, 5, 3))
    assert read(file, file.read_bytes()).X.shape == (6, 5)
    with pytest.raises(DataError, match="promised 9 rows but given 6"):
        write_blocks(file, [block] * 3, (9, 5, 3))


decimals = st.one_of(
    st.floats(min_value=2.0**-126, max_value=2.0**127, width=32).map(repr),
    st.integers(0, 10**6).map(str),
    st.from_regex(r"[+-]?[0-9]{1,5}\.[0-9]{0,15}", fullmatch=True),
    st.from_regex(r"-?[0-9]{1,8}(\.[0-9]{1,7})?[eE][+-]?[0-9]{1,2}", fullmatch=True),
).filter(lambda text: abs(float(text)) < 3e38)
row_strategy = st.tuples(
    st.lists(st.integers(0, 40), max_size=5),
    st.lists(st.tuples(st.integers(0, 60), decimals), max_size=6, unique_by=lambda pair: pair[0]),
)


def by_hand(lines: list[str]) -> list[tuple[list[int], dict[int, np.float32]]]:
    """Parse rows in the plainest way."""
    rows = []
    for line in lines:
        head, *words = line.split(" ")
        pairs = (word.split(":") for word in words if word)
        values = {int(index): np.float32(float(value)) for index, value in pairs}
        labels = sorted({int(label) for label in head.split(",") if label})
        rows.append((labels, {index: value for index, value in values.items() if value != 0}))
    return rows


@settings(max_examples=150, deadline=None)
@given(rows=st.lists(row_strategy, min_size=1, max_size=8), data=st.data())
def test_parser_agrees_with_a_plain_one(scratch: Path, rows: list, data: st.DataObject) -> None:
    lines = [
        ",".join(map(str, labels)) + "".join(f" {index}:{value}" for index, value in pairs)
        for labels, pairs in rows
    ]
    lines = [line or " " for line in lines]
    end = data.draw(st.sampled_from(["\n", "\r\n", " \n"]))
    size = f"{len(lines)} 61 41"
    corpus = read(scratch, end.join([size, *lines]) + end)
    for i, (labels, values) in enumerate(by_hand(lines)):
        assert corpus.Y[i].indices.tolist() == labels
        assert corpus.X[i].indices.tolist() == sorted(values)
        for index, value in values.items():
            np.testing.assert_array_max_ulp(corpus.X[i, index], value, maxulp=1)


@settings(max_examples=300, deadline=None)
@given(value=st.floats(min_value=0, max_value=1e9, width=32), digits=st.integers(1, 15))
def test_usual_decimals_are_rounded_as_python_rounds_them(
    scratch: Path, value: float, digits: int
) -> None:
    text = f"{value:.{digits}g}"
    corpus = read(scratch, f"1 1 1\n0 0:{text}\n")
    assert corpus.X[0, 0] == np.float32(float(text))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=5))
def test_written_values_read_back_the_same(scratch: Path, values: list[float]) -> None:
    row = csr_matrix(np.array([[*values, 1.0]], dtype=np.float32))
    text = format_rows(row, csr_matrix(np.ones((1, 1))))
    corpus = read(scratch, f"1 {row.shape[1]} 1\n".encode() + text)
    np.testing.assert_array_equal(corpus.X.toarray(), row.toarray())


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=200),
        st.text(alphabet="0123456789,:. \t\n\r-+eE#n", max_size=120).map(str.encode),
        st.text(alphabet="01,: \n", max_size=60).map(lambda text: b"3 4 5\n" + text.encode()),
    )
)
def test_any_bytes_give_a_corpus_or_a_data_error(scratch: Path, content: bytes) -> None:
    try:
        corpus = read(scratch, content)
    except DataError as error:
        message = str(error)
    else:
        corpus.Y.check_format(full_check=True)
        return
    assert message.startswith(str(scratch))
    assert message.endswith(".")


@pytest.mark.parametrize("n_threads", [1, 2])
def test_blocks_of_any_size_give_the_same_corpus(
    file: Path, monkeypatch: pytest.MonkeyPatch, n_threads: int
) -> None:
    rng = np.random.default_rng(1)
    features = csr_matrix(rng.random((300, 40)) * (rng.random((300, 40)) < 0.2))
    labels = csr_matrix((rng.random((300, 9)) < 0.2).astype(np.float32))
    write_corpus(Corpus(features, labels), file, format="xc")
    whole = read(file, file.read_bytes())
    monkeypatch.setattr("labelspace.threads.current", lambda: n_threads)
    for size in (7, 64, 1000):
        monkeypatch.setattr(xc_blocks, "BLOCK_SIZE", size)
        pieces = read(file, file.read_bytes())
        assert (pieces.X != whole.X).nnz == (pieces.Y != whole.Y).nnz == 0
    lines = file.read_text().splitlines()
    lines[200] = "0 1:x"
    with pytest.raises(DataError, match="line 201: "):
        read(file, "\n".join(lines))
