"""Neighbours in several spaces; the maps themselves are in tests/linear."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.ensemble import Learner, search_all
from labelspace.models.labelspace.learners import (
    find_neighbors,
    held_out_rows,
    miss_many_rows,
    neighbor_weights,
    train_spaces,
)
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.search.result import SearchResult
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def learners() -> list[Learner]:
    X, Y = planted_corpus(80)
    settings = LabelSpaceSettings(dim=8, n_learners=2, min_steps=10)
    return train_spaces(X, Y, Y, settings, seed=0, n_threads=1)


def test_each_row_is_encoded_once_by_each_learner(learners, monkeypatch) -> None:
    X, _ = planted_corpus(10, seed=1)
    expected, _ = search_all(learners, X, 5, 0)
    cosines = [vectors @ vectors.T for vectors in (learner.encode(X) for learner in learners)]
    encoded = []
    encode = Learner.encode
    monkeypatch.setattr(Learner, "encode", lambda self, X: encoded.append(self) or encode(self, X))
    found, Z = find_neighbors(learners, X, 5)
    assert encoded == learners
    assert np.allclose(Z @ Z.T, np.mean(cosines, axis=0), atol=1e-6)
    assert np.array_equal(found.ids, expected.ids)
    assert np.array_equal(found.products, expected.products)


def test_a_row_that_lies_nowhere_has_no_neighbours() -> None:
    products = np.array([[0.0, 0.0], [0.5, 0.0], [0.9, -np.inf]], dtype=np.float32)
    found = SearchResult(np.array([[0, 1], [0, 1], [0, -1]]), products)
    assert neighbor_weights(found, 20.0).sum(axis=1).tolist() == [0.0, 1.0, 1.0]


def test_a_row_that_finds_only_itself_has_no_votes() -> None:
    found = SearchResult(np.array([[4, -1]]), np.array([[1.0, -np.inf]], dtype=np.float32))
    assert neighbor_weights(found, 20.0, own=np.array([4])).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(
    ("n_rows", "n_held_out"), [(10, 3), (1000, 300), (5000, 1000), (20_000, 2000), (90_000, 4000)]
)
def test_few_rows_are_held_out_in_larger_shares(n_rows: int, n_held_out: int) -> None:
    ones = csr_matrix(np.ones((n_rows, 1), dtype=np.float32))
    rows = held_out_rows(ones, ones, LabelSpaceSettings(), 0, None)
    assert rows.sum() == n_held_out


def test_nothing_is_held_out_where_no_share_is() -> None:
    ones = csr_matrix(np.ones((100, 1), dtype=np.float32))
    assert not held_out_rows(ones, ones, LabelSpaceSettings(validation_fraction=0), 0, None).any()


@pytest.mark.parametrize(("n_labelled", "expected"), [(900, True), (11_000, False)])
def test_spaces_miss_many_rows_where_few_have_labels(n_labelled: int, expected: bool) -> None:
    Y = csr_matrix((np.arange(12_000) < n_labelled).astype(np.float32)[:, np.newaxis])
    ones = csr_matrix(np.ones((12_000, 1), dtype=np.float32))
    assert miss_many_rows(ones, Y, LabelSpaceSettings()) is expected
