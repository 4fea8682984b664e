"""Made-up corpora with a label hierarchy to be found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import vstack

from labelspace.data import read_corpus
from labelspace.data.samples.synthetic import PRESETS, SyntheticCorpus, make_corpus
from labelspace.errors import UsageError

SMALL = SyntheticCorpus(
    2000, n_features=3000, n_labels=1500, n_test=300, labels_per_row=5.0, features_per_row=40.0
)


@pytest.fixture(scope="module")
def train():
    return SMALL.sample()


@pytest.fixture(scope="module")
def test():
    return SMALL.sample(split="test")


def test_rows_have_the_sizes_asked_for(train, test):
    assert train.X.shape == (2000, 3000)
    assert test.Y.shape == (300, 1500)
    for corpus in (train, test):
        assert corpus.Y.nnz / len(corpus) == pytest.approx(5.0, rel=0.06)
        assert corpus.X.nnz / len(corpus) == pytest.approx(40.0, rel=0.06)
        assert corpus.Y.getnnz(axis=1).min() >= 1
        assert corpus.X.getnnz(axis=1).min() >= 1


def test_matrices_are_as_everywhere(train):
    for matrix in (train.X, train.Y):
        assert matrix.has_canonical_format
        assert matrix.dtype == np.float32
        assert matrix.indices.dtype == np.int32
    np.testing.assert_allclose(train.X.multiply(train.X).sum(axis=1), 1.0, rtol=1e-3)
    assert train.X.data.min() > 0


def test_every_label_occurs_in_train(train):
    assert train.Y.getnnz(axis=0).min() >= 1


@pytest.mark.parametrize("n_labels", [1, 2, 37, 4000])
def test_every_label_occurs_whatever_their_number(n_labels):
    corpus = replace(SMALL, n_labels=n_labels, labels_per_row=3.0).sample()
    assert corpus.Y.getnnz(axis=0).min() >= 1
    assert corpus.Y.getnnz(axis=1).max() <= n_labels


def test_blocks_are_the_rows_of_the_whole(train):
    blocks = list(SMALL.iter_blocks(rows=333))
    assert [len(block) for block in blocks] == [333] * 6 + [2]
    assert (vstack([block.X for block in blocks]) != train.X).nnz == 0
    assert (vstack([block.Y for block in blocks]) != train.Y).nnz == 0


def test_a_sample_is_the_first_rows(train):
    assert (train.X[:10] != SMALL.sample(10).X).nnz == 0


def test_seeds_and_splits_differ(train, test):
    again = replace(SMALL, seed=1).sample(300)
    for other in (again, test):
        assert (train.Y[:300] != other.Y).nnz > 1000
        assert (train.X[:300] != other.X).nnz > 1000


def test_labels_have_a_long_tail(train):
    counts = -np.sort(-train.Y.getnnz(axis=0))
    assert counts[0] > 10 * np.median(counts)
    assert np.mean(counts <= 5) > 0.4


def test_labels_of_a_row_are_near_each_other_in_the_tree(train):
    together = shared_topics(train.Y)
    shuffled = np.random.default_rng(0).permutation(train.Y.indices)
    apart = train.Y.copy()
    apart.indices[:] = shuffled
    assert together > 3 * shared_topics(apart)


def shared_topics(Y):
    """Count pairs of a row's labels, one of which stands above the other."""
    above = {label: set(SMALL.topics(label)) for label in range(SMALL.n_labels)}
    rows = np.split(Y.indices, Y.indptr[1:-1])[:500]
    return sum(len(above[label] & set(row.tolist())) for row in rows for label in row.tolist())


def test_labels_can_be_learned(train, test):
    nearest = np.asarray((test.X @ train.X.T).argmax(axis=1)).ravel()
    hits = test.Y.multiply(train.Y[nearest]).sum() / test.Y.sum()
    chance = test.Y.multiply(train.Y[: len(test)]).sum() / test.Y.sum()
    assert hits > 0.25
    assert hits > 5 * chance


def test_topics_lead_up_to_the_root():
    corpus = SyntheticCorpus(10, 10, 40, branching=3)
    roots = [label for label in range(40) if not corpus.topics(label)]
    assert len(roots) == 1
    assert all(corpus.topics(label)[-1] == roots[0] for label in range(40) if label != roots[0])


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz", ".npz"])
def test_written_files_read_back(suffix, tmp_path, train, test):
    paths = make_corpus(SMALL, tmp_path / "made", suffix=suffix)
    for path, corpus in zip(paths, (train, test), strict=True):
        read = read_corpus(path)
        assert read.X.shape == corpus.X.shape
        assert read.Y.shape == corpus.Y.shape
        assert (read.X != corpus.X).nnz == 0
        assert (read.Y != corpus.Y).nnz == 0


def test_presets_have_the_shape_of_the_originals():
    amazon, wiki = PRESETS["amazon-670k"], PRESETS["wiki10-31k"]
    assert (amazon.n_examples, amazon.n_test) == (490_449, 153_025)
    assert (amazon.n_features, amazon.n_labels) == (135_909, 670_091)
    assert (wiki.n_examples, wiki.n_test) == (14_146, 6_616)
    assert (wiki.n_features, wiki.n_labels) == (101_938, 30_938)
    small = SyntheticCorpus.preset("wiki10-31k", scale=0.02, seed=3)
    assert (small.n_examples, small.n_labels, small.seed) == (283, 619, 3)
    assert small.sample().Y.nnz / 283 == pytest.approx(18.64, rel=0.1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_examples": 0}, "n_examples is 0"),
        ({"labels_per_row": 0.5}, "labels_per_row is 0.5"),
        ({"branching": 1}, "branching is 1"),
        ({"n_labels": 100_000}, "cannot have all of 100000 labels"),
    ],
)
def test_impossible_shapes_are_refused(change, message):
    with pytest.raises(UsageError, match=message):
        replace(SMALL, **change)


def test_unknown_names_are_refused():
    with pytest.raises(UsageError, match="choose one of amazon-670k, wiki10-31k"):
        SyntheticCorpus.preset("amazon")
    with pytest.raises(UsageError, match="no split 'dev'"):
        SMALL.sample(split="dev")
