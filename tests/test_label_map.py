"""Labels' parents and nearest labels, and where that puts them in a disk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from labelspace.label_map import (
    NO_PARENT,
    Relations,
    label_map,
    label_profiles,
    tree_positions,
)
from labelspace.models import MostCommon, NearestNeighbors, OneVsAll
from tests.planted import planted_corpus


def test_parents_are_the_narrowest_labels_that_hold_a_label():
    # animal ⊃ dog ⊃ poodle, animal ⊃ cat, and a label that is never with others
    rows = [[0], [0, 1], [0, 1, 2], [0, 1], [0, 3], [0, 3], [4]]
    Y = np.zeros((len(rows), 5), dtype=np.float32)
    for row, labels in enumerate(rows):
        Y[row, labels] = 1
    relations = Relations(csr_matrix(Y.T), Y.sum(axis=0).astype(np.int64))
    assert relations.parent.tolist() == [NO_PARENT, 0, 1, 0, NO_PARENT]
    assert relations.nearest[2, :2].tolist() == [1, 0]
    assert (relations.nearest[4] == -1).all()


def test_labels_that_keep_the_same_company_are_near_though_they_never_meet():
    # Ten kinds of ten labels, which never stand together; each kind has a label above, and one
    # is above all.
    rows = [[0, 1 + kind, 11 + 10 * kind + one] for kind in range(10) for one in range(10)]
    Y = np.zeros((len(rows), 111), dtype=np.float32)
    for row, labels in enumerate(rows):
        Y[row, labels] = 1
    relations = Relations(csr_matrix(Y.T), Y.sum(axis=0).astype(np.int64))
    for kind in range(10):
        kin = {1 + kind, *range(11 + 10 * kind, 21 + 10 * kind)}
        for label in range(11 + 10 * kind, 21 + 10 * kind):
            assert len(kin & set(relations.nearest[label].tolist())) >= 9
            assert relations.parent[label] == 1 + kind


def test_a_label_whose_company_goes_with_very_many_is_near_what_it_goes_with(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("labelspace.label_map.MAX_COMPANIES", 1)
    Y = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0]], dtype=np.float32)
    relations = Relations(csr_matrix(Y.T), Y.sum(axis=0).astype(np.int64))
    assert relations.nearest[0, :2].tolist() == [1, 2]


def test_a_vocabulary_says_what_the_parents_are_where_these_are_more_frequent():
    alike = csr_matrix(np.eye(4, dtype=np.float32))
    counts = np.array([5, 3, 2, 4])
    relations = Relations(alike, counts, [[1], [0], [0, 1], []])
    assert relations.parent.tolist() == [NO_PARENT, 0, 1, NO_PARENT]


@given(st.integers(1, 60), st.integers(0, 10**6))
def test_a_layout_is_the_same_each_time_with_rarer_labels_further_out(n: int, seed: int):
    rng = np.random.default_rng(seed)
    rank = rng.permutation(n)
    order = np.argsort(rank)
    parent = np.full(n, NO_PARENT)
    for place, label in enumerate(order):
        if place and rng.random() < 0.8:
            parent[label] = order[rng.integers(place)]
    places = tree_positions(parent, rank)
    radius = np.linalg.norm(places, axis=1)
    assert (np.diff(radius[order]) >= -1e-6).all()  # the rarer, the further out
    assert radius.max() <= 1 + 1e-6
    assert np.array_equal(places, tree_positions(parent, rank))


@pytest.mark.parametrize("method", [NearestNeighbors, OneVsAll, MostCommon])
def test_every_method_has_a_map(method: type):
    X, Y = planted_corpus()
    model = method().fit(X, Y)
    kind, labels, places = label_map(model, Relations(label_profiles(model), model.label_counts_))
    assert kind == "tree"
    assert sorted(labels) == list(range(12))
    assert (np.diff(model.label_counts_[labels]) <= 0).all()
    assert np.isfinite(places).all()
    assert (np.linalg.norm(places, axis=1) <= 1 + 1e-6).all()
    assert len(np.unique(places.round(6), axis=0)) == 12


def test_a_models_own_map_is_shown_unless_it_is_broken():
    X, Y = planted_corpus()
    model = MostCommon().fit(X, Y)
    model.label_map_ = np.random.default_rng(0).uniform(-0.7, 0.7, size=(12, 2))
    relations = Relations(None, model.label_counts_)
    kind, labels, places = label_map(model, relations)
    assert kind == "poincare"
    np.testing.assert_allclose(places, model.label_map_[labels], rtol=1e-5)
    model.label_map_[3, 0] = np.nan
    assert label_map(model, relations).kind == "tree"


def test_labels_without_rows_have_no_place_and_take_no_room():
    X, Y = planted_corpus()
    wide = csr_matrix((Y.data, Y.indices + 1, Y.indptr), shape=(Y.shape[0], 20))
    few, many = (NearestNeighbors().fit(X, labels) for labels in (Y, wide))
    one, other = (
        label_map(model, Relations(label_profiles(model), model.label_counts_))
        for model in (few, many)
    )
    assert other.labels.tolist() == (one.labels + 1).tolist()
    assert np.array_equal(one.places, other.places)
