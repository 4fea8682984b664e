"""Columns that all rows have, multiplied by BLAS: the same answers by another way."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack, random

from labelspace import store
from labelspace.csr import dense_tail, split_dense
from labelspace.explain import FeatureContributions
from labelspace.linear import sampled_hinge, squared_hinge
from labelspace.linear.contrastive import MapStep
from labelspace.models import LabelSpace, NearestNeighbors, OneVsAll
from labelspace.search.sparse import SparseIndex
from labelspace.topk import TopK


def _rows(n_rows: int = 300, n_dense: int = 70) -> csr_matrix:
    rng = np.random.default_rng(0)
    words = random(n_rows, 40, density=0.1, random_state=0, dtype=np.float32).toarray()
    vectors = rng.standard_normal((n_rows, n_dense)).astype(np.float32)
    return csr_matrix(np.hstack((words, vectors)))


def test_vectors_are_told_from_words() -> None:
    X = _rows()
    assert dense_tail(X) == 70
    assert dense_tail(csr_matrix(X[:, ::-1])) == 0  # at the beginning they are no tail
    assert dense_tail(csr_matrix(X[:100])) == 0
    assert dense_tail(csr_matrix((300, 500))) == 0
    blank = X.tolil()
    blank[:10] = 0
    assert dense_tail(csr_matrix(blank)) == 70  # a blank text has no vector


def test_split_rows_are_the_same_rows() -> None:
    X = _rows()
    sparse, dense = split_dense(X, 70)
    np.testing.assert_array_equal(np.hstack((sparse.toarray(), dense)), X.toarray())


def test_a_step_by_blas_is_the_step_of_the_kernel() -> None:
    X, rng = _rows(), np.random.default_rng(1)
    V = rng.standard_normal((X.shape[1], 8)).astype(np.float32)
    plain, split = V.copy(), V.copy()
    steps = MapStep(X, plain), MapStep(X, split, 70)
    rows = np.array([3, 7, 7, 250])
    for _ in range(3):
        by_kernel, by_blas = (step.encode(rows) for step in steps)
        np.testing.assert_allclose(by_blas, by_kernel, rtol=1e-3, atol=1e-4)
        gradient = rng.standard_normal(by_kernel.shape).astype(np.float32)
        for step in steps:
            step.descend(gradient, 0.1)
        np.testing.assert_allclose(split, plain, rtol=1e-3, atol=1e-4)
    assert not np.allclose(plain, V)


@pytest.mark.parametrize("solver", [squared_hinge, sampled_hinge])
def test_classifiers_are_the_same_whichever_way_vectors_go(
    solver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = _rows()
    Y = csr_matrix(np.eye(7, dtype=np.float32)[np.argmax(X[:, 40:47].toarray(), axis=1)])
    held_out = np.arange(X.shape[0]) % 10 == 0

    def classifiers(min_weight: float = 0.0) -> Any:
        told: dict[str, Any] = {"tol": 1e-3, "min_weight": min_weight, "n_threads": 1}
        if solver is squared_hinge:
            return squared_hinge.train_with_held_out(X, Y, held_out, **told)
        told |= {"max_passes": 300, "more_passes": 300}
        return sampled_hinge.train_sampled_hinge(X, Y, csr_matrix(Y), held_out=held_out, **told)

    by_vectors, cut = classifiers(), classifiers(min_weight=10.0)
    monkeypatch.setattr(solver, "dense_tail", lambda X: 0)
    for one, other, short in zip(by_vectors, classifiers(), cut, strict=True):
        np.testing.assert_allclose(one[0].toarray(), other[0].toarray(), atol=5e-3)
        np.testing.assert_allclose(one[1], other[1], atol=5e-3)
        assert np.diff(short[0].indptr).tolist() == [70] * 7  # words are cut, vectors are not


def test_an_index_with_dense_features_answers_as_one_without(tmp_path: Path) -> None:
    X, rng = _rows(), np.random.default_rng(2)
    offsets = rng.standard_normal(300).astype(np.float32)
    plain, split = SparseIndex(X, offsets), SparseIndex(X, offsets, n_dense=70)
    assert split.inverted.shape == (40, 300)
    asked = csr_matrix(X[:20])
    _assert_same(split.search(asked, 5), plain.search(asked, 5))
    np.testing.assert_allclose(split.keys.toarray(), X.toarray(), atol=2e-3)
    ids = np.array([3, 300])
    for index in (plain, split):
        index.put(ids, csr_matrix(X[[5, 6]]), np.zeros(2, dtype=np.float32))
    _assert_same(split.search(asked, 5), plain.search(asked, 5))
    np.testing.assert_allclose(split.some(ids)[0].toarray(), X[[5, 6]].toarray(), atol=2e-3)
    store.save(split, tmp_path / "index")
    again = store.load(tmp_path / "index")
    np.testing.assert_array_equal(again.dense, split.dense)


def _assert_same(one: TopK, other: TopK) -> None:
    np.testing.assert_array_equal(one.labels[:, 0], other.labels[:, 0])
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-2, atol=1e-2)


def test_what_a_vector_adds_is_one_reason() -> None:
    X = _rows()
    split = FeatureContributions(csr_matrix(X[0]), SparseIndex(X, n_dense=70))
    reasons = {reason.id: reason.weight for reason in split.reasons_for(0)}
    vector = X[0, 40:].toarray()
    assert max(reasons) == 40
    np.testing.assert_allclose(reasons[40], np.square(vector).sum(), rtol=1e-2)


def test_methods_answer_the_same_whichever_way_vectors_go(monkeypatch: pytest.MonkeyPatch) -> None:
    X = _rows()
    Y = csr_matrix(np.eye(7, dtype=np.float32)[np.argmax(X[:, 40:47].toarray(), axis=1)])
    for kind in (NearestNeighbors, OneVsAll):
        by_blas = kind(random_state=0).fit(X, Y)
        assert by_blas.index_.n_dense == 70
        monkeypatch.setattr(sys.modules[kind.__module__], "dense_tail", lambda X: 0)
        plain = kind(random_state=0).fit(X, Y)
        assert plain.index_.n_dense == 0
        _assert_same(by_blas.predict_topk(X, 3), plain.predict_topk(X, 3))


def test_the_default_answers_the_same_whichever_way_vectors_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = _rows()
    Y = csr_matrix(np.eye(7, dtype=np.float32)[np.argmax(X[:, 40:47].toarray(), axis=1)])
    by_blas = LabelSpace(random_state=0, C=1.0).fit(X, Y)
    assert by_blas.classifiers_.n_dense == 70
    monkeypatch.setattr(sys.modules[LabelSpace.__module__], "dense_tail", lambda X: 0)
    plain = LabelSpace(random_state=0, C=1.0).fit(X, Y)
    assert plain.classifiers_.n_dense == 0
    one, other = by_blas.predict_topk(X, 3), plain.predict_topk(X, 3)
    assert (one.labels[:, 0] == other.labels[:, 0]).mean() > 0.98
    assert by_blas.score(X, Y) > 0.9
    by_blas.partial_fit(csr_matrix(X[:3]), csr_matrix(Y[:3]))
    by_blas.save(tmp_path / "model")
    again = store.load(tmp_path / "model")
    np.testing.assert_allclose(
        again.predict_topk(X, 3).scores, by_blas.predict_topk(X, 3).scores, rtol=1e-5
    )
    assert again.explain(csr_matrix(X[:1]), 1)[0]


def test_vectors_beside_words_do_not_change_what_words_are_learned_by() -> None:
    words = random(300, 900, density=0.3, random_state=0, format="csr", dtype=np.float32)
    vectors = np.ones((300, 512), dtype=np.float32)
    Y = csr_matrix(np.eye(7, dtype=np.float32)[np.arange(300) % 7])
    alone = LabelSpace()._resolved(words, Y)
    beside = LabelSpace()._resolved(csr_matrix(hstack((words, vectors))), Y, 512)
    assert alone == beside
    assert LabelSpace()._resolved(csr_matrix(vectors), Y, 512).min_negatives == 5 * 512 // 16
