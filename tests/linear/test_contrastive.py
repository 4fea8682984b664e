from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.graph.label_knn import label_knn
from labelspace.linear.contrastive import (
    ALIKE,
    ContrastiveSettings,
    MapStep,
    alike,
    batches,
    train_map,
)
from labelspace.linear.contrastive_loss import contrast
from labelspace.spaces import sphere
from tests.planted import planted_corpus


def test_pairs_as_alike_as_the_own_partner_are_no_negatives() -> None:
    _, Y = planted_corpus(80)
    rng = np.random.default_rng(0)
    anchors, partners = rng.permutation(80)[:30], rng.permutation(80)[:30]
    shared = (Y[anchors] @ Y[partners].T).toarray()
    cosines = shared / np.sqrt(np.outer(Y[anchors].sum(axis=1).A1, Y[partners].sum(axis=1).A1))
    expected = (cosines >= ALIKE * np.diag(cosines)[:, np.newaxis]) & (shared > 0)
    np.fill_diagonal(expected, False)
    near = np.isclose(cosines, ALIKE * np.diag(cosines)[:, np.newaxis], atol=1e-5)
    got = alike(Y, anchors, partners)
    assert np.array_equal(got[~near], expected[~near])


def test_a_step_is_adagrad_on_the_gradient_of_each_feature() -> None:
    X, _ = planted_corpus(40)
    V = np.random.default_rng(0).standard_normal((X.shape[1], 5)).astype(np.float32)
    step, before = MapStep(X, V), V.copy()
    rows = np.array([1, 5, 5, 9])
    assert np.allclose(step.encode(rows), X[rows] @ before, atol=1e-5)
    slope = np.random.default_rng(1).standard_normal((4, 5)).astype(np.float32)
    step.descend(slope, 0.1)
    gradient = X[rows].T @ slope
    squares = 1.0 + np.square(gradient).mean(axis=1, keepdims=True)
    assert np.allclose(V, before - 0.1 * gradient / np.sqrt(squares), atol=1e-5)
    step.encode(rows)
    step.descend(slope, 0.1)
    later = before - 0.1 * gradient / np.sqrt(squares)
    squares += np.square(gradient).mean(axis=1, keepdims=True)
    assert np.allclose(V, later - 0.1 * gradient / np.sqrt(squares), atol=1e-5)


def test_training_lowers_the_loss_and_is_decided_by_the_seed() -> None:
    X, Y = planted_corpus()
    graph = label_knn(Y, 5)
    settings = ContrastiveSettings(dim=16)
    V = train_map(X, Y, graph, settings, seed=0).weights
    assert np.array_equal(V, train_map(X, Y, graph, settings, seed=0).weights)
    assert not np.array_equal(V, train_map(X, Y, graph, settings, seed=1).weights)
    start = np.random.default_rng(0).standard_normal(V.shape).astype(np.float32)
    anchors, partners = np.arange(60), graph.neighbors[:60, 0].astype(np.int64)

    def loss(weights: np.ndarray) -> float:
        U = sphere.queries(np.asarray(X @ weights))
        ignored = alike(Y, anchors, partners)
        return contrast(U[anchors], U[partners], 10.0, ignored=ignored)[0]

    assert loss(V) < 0.5 * loss(start)


def test_features_that_no_row_has_get_no_weight() -> None:
    X, Y = planted_corpus(50)
    wider = csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], X.shape[1] + 3))
    settings = ContrastiveSettings(dim=4, n_epochs=1)
    V = train_map(wider, Y, label_knn(Y, 5), settings, seed=0).weights
    assert np.all(V[-3:] == 0)


def test_batches_pair_each_usable_row_with_a_neighbor_once_an_epoch() -> None:
    X, Y = planted_corpus(100)
    Y = Y.tolil()
    Y[3] = 0
    Y = Y.tocsr()
    graph = label_knn(Y, 5)
    settings = ContrastiveSettings(n_epochs=2, min_steps=1, batch_size=32)
    seen = []
    for anchors, partners, progress in batches(X, graph, settings, np.random.default_rng(0)):
        assert 0.0 <= progress < 1.0
        assert all(b in graph.neighbors[a] for a, b in zip(anchors, partners, strict=True))
        seen.extend(anchors.tolist())
    assert sorted(seen) == sorted(2 * [row for row in range(100) if row != 3])


def test_nothing_to_learn_from_leaves_a_random_map() -> None:
    X, Y = planted_corpus(10)
    empty = csr_matrix(Y.shape, dtype=np.float32)
    settings = ContrastiveSettings(dim=4, label_weight=0.3)
    trained = train_map(X, empty, label_knn(empty, 5), settings, seed=0)
    assert np.isfinite(trained.weights).all()
    assert np.isfinite(trained.labels).all()


def test_labels_come_near_to_their_rows() -> None:
    X, Y = planted_corpus()
    settings = ContrastiveSettings(dim=16, label_weight=0.3, n_candidates=8)
    trained = train_map(X, Y, label_knn(Y, 5), settings, seed=0)
    cosines = sphere.queries(np.asarray(X @ trained.weights)) @ trained.labels.T
    assert np.mean(Y.toarray()[np.arange(300), cosines.argmax(axis=1)]) > 0.95
