"""What is written comes back: every format, every compression, whatever is in the corpus."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from labelspace.data import Corpus, convert, read_corpus, write_corpus
from labelspace.errors import DataError, LabelspaceWarning

pytestmark = pytest.mark.filterwarnings("ignore::labelspace.errors.LabelspaceWarning")

NAMES = {
    "xc": "a.txt",
    "svmlight": "a.svm",
    "tsv": "a.tsv",
    "annif": "a.annif.tsv",
    "jsonl": "a.jsonl",
    "npz": "a.npz",
}
COMPRESSIONS = ["", ".gz", ".xz", ".bz2"]


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("round_trip")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)  # hundreds of files to no purpose
        yield folder
    shutil.rmtree(folder)


def plain(matrix: csr_matrix | None) -> list | None:
    return None if matrix is None else matrix.toarray().tolist()


def write_and_read(corpus: Corpus, folder: Path, format: str, compression: str) -> Corpus:
    for old in folder.iterdir():
        old.unlink()
    path = folder / (NAMES[format] + compression)
    write_corpus(corpus, path)
    wide = format in ("xc", "npz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelspaceWarning)
        return read_corpus(
            path,
            n_features=None if wide or corpus.X is None else corpus.n_features,
            n_labels=None if wide else corpus.n_labels,
            label_names=None if wide else corpus.label_names,
            feature_names=None if wide else corpus.feature_names,
        )


def check(corpus: Corpus, back: Corpus) -> None:
    assert plain(back.X) == plain(corpus.X)
    assert plain(back.Y) == plain(corpus.Y)
    assert back.texts == corpus.texts
    assert back.label_names == corpus.label_names
    assert back.feature_names == corpus.feature_names


# Line breaks and tabs are lost in TSV; a name beside the corpus cannot be blank or hold them.
words = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\t\r\n\0\ufeff"), max_size=8
)
names = words.filter(str.strip)


@st.composite
def corpora(draw: st.DrawFn, with_text: bool, with_features: bool) -> Corpus:
    n, d, n_labels = (draw(st.integers(1, 4)) for _ in range(3))
    value = st.one_of(
        st.just(0.0),
        st.floats(-100, 100, width=32, allow_subnormal=False),
        st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False),
    )
    grid = st.lists(st.lists(value, min_size=d, max_size=d), min_size=n, max_size=n)
    bits = st.lists(
        st.lists(st.booleans(), min_size=n_labels, max_size=n_labels), min_size=n, max_size=n
    )
    return Corpus(
        X=csr_matrix(np.array(draw(grid), np.float32)) if with_features else None,
        Y=csr_matrix(np.array(draw(bits), np.float32)),
        texts=draw(st.lists(words, min_size=n, max_size=n)) if with_text else None,
        label_names=draw(st.none() | st.lists(names, min_size=n_labels, max_size=n_labels)),
        feature_names=draw(st.none() | st.lists(names, min_size=d, max_size=d))
        if with_features
        else None,
    )


@pytest.mark.parametrize("format", ["xc", "svmlight", "jsonl", "npz"])
@settings(max_examples=40, deadline=None)
@given(
    corpus=corpora(with_text=False, with_features=True), compression=st.sampled_from(["", ".gz"])
)
def test_features_come_back(scratch: Path, format: str, corpus: Corpus, compression: str) -> None:
    # Rows of nothing at all look like no corpus, unless a first line says that they are one.
    assume(format != "svmlight" or corpus.X.nnz or corpus.Y.nnz)
    check(corpus, write_and_read(corpus, scratch, format, compression))


@pytest.mark.parametrize("format", ["tsv", "annif", "jsonl", "npz"])
@settings(max_examples=40, deadline=None)
@given(corpus=corpora(with_text=True, with_features=False))
def test_texts_come_back(scratch: Path, format: str, corpus: Corpus) -> None:
    check(corpus, write_and_read(corpus, scratch, format, ""))


@settings(max_examples=30, deadline=None)
@given(corpus=corpora(with_text=True, with_features=True), format=st.sampled_from(["jsonl", "npz"]))
def test_both_come_back(scratch: Path, format: str, corpus: Corpus) -> None:
    check(corpus, write_and_read(corpus, scratch, format, ""))


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("format", NAMES)
def test_every_format_in_every_compression(tmp_path: Path, format: str, compression: str) -> None:
    has_text = format in ("tsv", "annif")
    corpus = Corpus(
        X=None if has_text else csr_matrix([[0.5, 0, 1], [0, 0.1, 0]], dtype=np.float32),
        Y=csr_matrix([[1, 0, 1], [0, 1, 0]]),
        texts=["a red ball", "ein grüner Ball"] if has_text else None,
        label_names=["green", "red", "round"],
    )
    check(corpus, write_and_read(corpus, tmp_path, format, compression))


@pytest.mark.parametrize("format", ["svmlight", "jsonl", "npz", "xc"])
def test_convert_keeps_everything_on_the_way_through(tmp_path: Path, format: str) -> None:
    corpus = Corpus(csr_matrix([[0, 0.3], [1, 0]]), csr_matrix([[1, 1], [0, 1]]))
    write_corpus(corpus, tmp_path / "a.txt")
    (tmp_path / "labels.txt").write_text("red\nround\n")
    target = tmp_path / "other" / (NAMES[format] + ".gz")
    target.parent.mkdir()
    convert(tmp_path / "a.txt", target)
    back = read_corpus(target)
    assert plain(back.X) == plain(corpus.X)
    assert plain(back.Y) == plain(corpus.Y)
    assert back.label_names == ["red", "round"]


def test_line_breaks_in_a_text_become_blanks_in_tsv(tmp_path: Path) -> None:
    corpus = Corpus(None, csr_matrix([[1]]), texts=["a\tred\r\nball"], label_names=["red"])
    assert write_and_read(corpus, tmp_path, "tsv", "").texts == ["a red  ball"]


LOOKS_LIKE_OTHERS = {
    "fastText": "__label__red is how fastText writes labels",
    "svmlight": "0 1:1",
    "XC text": "1 5 3",
    "a table": "text",
    "Parquet": "PAR1 is how it begins",
}


@pytest.mark.parametrize("text", LOOKS_LIKE_OTHERS.values(), ids=LOOKS_LIKE_OTHERS)
@pytest.mark.parametrize("labels", [["labels"], []], ids=["a label", "no label"])
@pytest.mark.parametrize("format", ["tsv", "annif"])
def test_a_text_like_another_format_comes_back_or_is_refused(
    tmp_path: Path, format: str, labels: list[str], text: str
) -> None:
    corpus = Corpus(None, csr_matrix([[len(labels)]]), texts=[text], label_names=["labels"])
    refused = ""
    try:
        back = write_and_read(corpus, tmp_path, format, "")
    except DataError as error:
        refused = str(error)
    if refused:
        assert refused.endswith("write .jsonl or .csv, which hold any text.")
        assert list(tmp_path.iterdir()) == []
    else:
        check(corpus, back)


def test_a_text_of_annif_may_begin_as_fasttext_does(tmp_path: Path) -> None:
    corpus = Corpus(
        None, csr_matrix([[1]]), texts=[LOOKS_LIKE_OTHERS["fastText"]], label_names=["u:labels"]
    )
    check(corpus, write_and_read(corpus, tmp_path, "annif", ""))


def test_a_label_in_angle_brackets_keeps_them_in_tsv(tmp_path: Path) -> None:
    corpus = Corpus(None, csr_matrix([[1]]), texts=["a red ball"], label_names=["<red>"])
    check(corpus, write_and_read(corpus, tmp_path, "tsv", ""))
    write_corpus(corpus, tmp_path / "b.tsv")
    assert read_corpus(tmp_path / "b.tsv").labels_of(0) == ["<red>"]


def test_the_same_corpus_gives_the_same_bytes(tmp_path: Path) -> None:
    corpus = Corpus(csr_matrix([[0, 0.3]]), csr_matrix([[1, 1]]))
    for suffix in (".gz", ".xz", ".bz2"):
        first, second = tmp_path / f"a.txt{suffix}", tmp_path / f"b.txt{suffix}"
        write_corpus(corpus, first)
        write_corpus(corpus, second)
        assert first.read_bytes() == second.read_bytes()
