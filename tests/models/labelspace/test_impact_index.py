"""Keys with cut lists: lists have the largest values, keys stay whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

import labelspace
from labelspace.models import LabelSpace
from labelspace.models.labelspace import classifiers
from labelspace.models.labelspace.impact_index import ImpactIndex
from labelspace.search.sparse import SparseIndex
from tests.planted import planted_corpus


@pytest.fixture
def keys() -> csr_matrix:
    rng = np.random.default_rng(0)
    made = random_array((40, 12), density=0.5, rng=rng, dtype=np.float32)
    return csr_matrix(made - 0.3 * (made > 0))


def test_lists_keep_their_largest_values_in_order(keys: csr_matrix) -> None:
    index = ImpactIndex(keys, longest=5)
    for feature in range(12):
        column = keys[:, feature].toarray().ravel()
        kept = index.inverted[feature]
        assert kept.nnz == min(5, np.count_nonzero(column))
        assert np.all(np.diff(kept.indices) > 0)
        left_out = np.setdiff1d(np.flatnonzero(column), kept.indices)
        assert kept.data.min() >= column[left_out].max(initial=-np.inf)


def test_keys_are_whole_and_can_be_replaced_and_added(keys: csr_matrix) -> None:
    cut, whole = ImpactIndex(keys, longest=3), SparseIndex(keys)
    new = csr_matrix(np.arange(24, dtype=np.float32).reshape(2, 12))
    for index in (cut, whole):
        index.put(np.array([7, 41]), new, np.ones(2, dtype=np.float32))
    assert cut.n_keys == 42
    assert (cut.keys != whole.keys).nnz == 0
    assert np.array_equal(cut.some(np.array([7, 3]))[0].toarray(), whole.keys[[7, 3]].toarray())
    features = np.array([2, 5, 11])
    for key in (0, 7, 40):
        expected = whole.keys[key].toarray().ravel()[features]
        assert np.array_equal(cut.weights_of(key, features), expected)
        assert np.array_equal(whole.weights_of(key, features), expected)


def test_a_model_with_cut_lists_answers_nearly_as_one_with_all(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(classifiers, "WORTH_CUTTING", 10)
    X, Y = planted_corpus()
    how = {"random_state": 0, "n_threads": 1}
    whole = LabelSpace(**how).fit(X, Y)
    cut = LabelSpace(**how, settings={"longest_list": 1}).fit(X, Y)
    assert type(cut.classifiers_) is ImpactIndex
    assert type(whole.classifiers_) is SparseIndex
    one, other = whole.predict_topk(X, 3), cut.predict_topk(X, 3)
    assert (one.labels[:, 0] == other.labels[:, 0]).mean() > 0.97
    cut.save(tmp_path / "model")
    again = labelspace.load(tmp_path / "model").partial_fit(X[:5], Y[:5])
    assert again.predict_topk(X, 3).k == 3
