"""Numbers about a corpus, on one small enough to count by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.data import Corpus, describe
from labelspace.data.info import FrequencyBin


def test_small_corpus_counted_by_hand() -> None:
    X = csr_matrix(
        [[1.0, 0, 0, 2], [1, 0, 0, 2], [1, 0, 0, 2], [0, 0, 0, 0], [0, 1, 0, 0], [0, 2, 0, 0]]
    )
    Y = csr_matrix([[1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]])
    info = describe(Corpus(X, Y))
    assert (info.n_examples, info.n_features, info.n_labels) == (6, 4, 3)
    assert (info.n_feature_values, info.n_assignments) == (8, 8)
    assert info.labels_per_row == pytest.approx(8 / 6)
    assert info.max_labels_per_row == 2
    assert info.feature_density == pytest.approx(8 / 24)
    assert info.rows_without_labels == 0
    assert info.rows_without_features == 1
    assert info.labels_without_examples == 1
    assert info.tail_labels == 1
    assert info.tail_share_of_labels == pytest.approx(1 / 2)
    assert info.tail_share_of_assignments == pytest.approx(2 / 8)
    assert info.duplicate_features == 2
    assert info.duplicate_rows == 1
    assert info.label_frequencies == [
        FrequencyBin(2, 2, 1, 2),
        FrequencyBin(3, 5, 0, 0),
        FrequencyBin(6, 10, 1, 6),
    ]
    assert json.loads(json.dumps(info.as_dict()))["n_labels"] == 3


def test_text_corpus_counts_empty_and_repeated_texts() -> None:
    info = describe(Corpus(None, csr_matrix((3, 2)), texts=["a ball", " ", "a ball"]))
    assert info.has_text
    assert info.rows_without_features == 1
    assert info.rows_without_labels == 3
    assert (info.duplicate_features, info.duplicate_rows) == (1, 1)
    assert info.label_frequencies == []


def test_labels_may_have_huge_ids() -> None:
    Y = csr_matrix(([1.0], [2_000_000_000], [0, 1]), shape=(1, 2_000_000_001))
    assert describe(Corpus(csr_matrix((1, 1)), Y)).labels_without_examples == 2_000_000_000


def test_corpus_without_rows() -> None:
    info = describe(Corpus(csr_matrix((0, 4)), csr_matrix((0, 2))))
    assert (info.n_examples, info.labels_per_row, info.tail_share_of_labels) == (0, 0, 0)


def test_frequencies_add_up_to_all_labels_with_examples() -> None:
    rng = np.random.default_rng(0)
    Y = csr_matrix((rng.random((1000, 60)) < np.linspace(0, 0.9, 60) ** 4).astype(np.float32))
    info = describe(Corpus(csr_matrix((1000, 1)), Y))
    assert sum(b.n_labels for b in info.label_frequencies) == 60 - info.labels_without_examples
    assert sum(b.n_assignments for b in info.label_frequencies) == Y.nnz
    tail = [b for b in info.label_frequencies if b.high <= 5]
    assert sum(b.n_labels for b in tail) == info.tail_labels
