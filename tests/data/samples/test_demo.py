"""The demo corpus."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace.data import read_corpus
from labelspace.data.samples.demo import build_demo_corpus, write_demo_corpus
from labelspace.errors import DataError


@pytest.fixture(scope="module")
def corpora():
    return build_demo_corpus(["numpy"])


def test_labels_are_modules_parameters_and_names(corpora):
    train, _ = corpora
    assert {"numpy", "numpy.linalg", "axis=", "arctan"} <= set(train.label_names)
    row = next(row for row in range(len(train)) if "arctan" in train.labels_of(row))
    assert "numpy" in train.labels_of(row)


def test_labels_have_a_hierarchy_and_a_long_tail(corpora):
    train, test = corpora
    counts = np.asarray(train.Y.sum(axis=0) + test.Y.sum(axis=0)).ravel()
    assert counts.min() >= 2
    assert np.median(counts) <= 5
    assert counts.max() == len(train) + len(test)  # all are in numpy
    assert len(counts) > 300


def test_texts_are_prose_of_their_own(corpora):
    train, test = corpora
    assert not set(train.texts) & set(test.texts)
    for text in (*train.texts, *test.texts):
        assert text == " ".join(text.split())
        assert 6 <= len(text.split()) <= 300
        assert "Parameters ---" not in text
        assert "See Also ---" not in text


def test_the_corpus_is_the_same_every_time(corpora):
    again = build_demo_corpus(["numpy"])
    for corpus, other in zip(corpora, again, strict=True):
        assert corpus.texts == other.texts
        assert corpus.label_names == other.label_names
        assert (corpus.Y != other.Y).nnz == 0


def test_other_packages_do_not_move_documents_between_the_corpora(corpora):
    train, test = build_demo_corpus(["numpy", "json"])
    assert not set(corpora[0].texts) & set(test.texts)
    assert not set(corpora[1].texts) & set(train.texts)


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl"])
def test_written_files_read_back(suffix, tmp_path):
    paths = write_demo_corpus(tmp_path / "demo", ["logging", "email", "json"], suffix)
    expected = build_demo_corpus(["logging", "email", "json"])
    for path, corpus in zip(paths, expected, strict=True):
        read = read_corpus(path)
        assert read.texts == corpus.texts
        assert read.labels_of(3) == corpus.labels_of(3)


def test_no_documentation_is_an_error():
    with pytest.raises(DataError, match="too little documentation"):
        build_demo_corpus([])
