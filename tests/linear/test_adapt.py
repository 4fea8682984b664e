"""A map that learns on: what moves, what stays, and what comes nearer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.encoders.linear import LinearEncoder
from labelspace.graph.label_knn import label_knn
from labelspace.linear.adapt import adapt_map
from labelspace.linear.contrastive import ContrastiveSettings, train_map
from labelspace.search.exact import ExactIndex
from labelspace.spaces import sphere
from tests.planted import planted_corpus

N_OLD = 200
ON = ContrastiveSettings(dim=16, gamma=10.0, n_epochs=10)


@pytest.fixture
def corpus() -> tuple[csr_matrix, csr_matrix]:
    """Rows from ``N_OLD`` on have the words of label 0 in another spelling, as new features."""
    X, Y = planted_corpus(260)
    both = np.hstack((X.toarray(), np.zeros((260, 4), dtype=np.float32)))
    both[N_OLD:, -4:], both[N_OLD:, :4] = both[N_OLD:, :4], 0.0
    return csr_matrix(both), Y


def _trained(X: csr_matrix, Y: csr_matrix) -> LinearEncoder:
    settings = ContrastiveSettings(dim=16, gamma=10.0)
    old = X[:N_OLD], Y[:N_OLD]
    return LinearEncoder(train_map(*old, label_knn(old[1], 5), settings, 0).weights, "float32")


def test_new_rows_come_nearer_to_old_ones_and_only_their_features_move(corpus) -> None:
    X, Y = corpus
    encoder = _trained(X, Y)
    keys = sphere.keys(encoder.encode(X[:N_OLD]))
    graph = label_knn(Y, 5, queries=Y[N_OLD:], first_query=N_OLD)
    partners = graph.neighbors[:, 0]
    told = (partners < N_OLD) & (Y[N_OLD:, 0].toarray().ravel() > 0)

    def nearness() -> float:
        U = sphere.queries(encoder.encode(X[N_OLD:]))
        return float(np.sum(U[told] * keys[partners[told]], axis=1).mean())

    before, weights = nearness(), encoder.weights.copy()
    assert not weights[-4:].any()
    adapt_map(encoder, X[N_OLD:], Y, graph, N_OLD, ExactIndex(keys), ON, seed=0)
    assert nearness() > before + 0.1
    unseen = np.setdiff1d(np.arange(X.shape[1]), X[N_OLD:].indices)
    assert np.array_equal(encoder.weights[unseen], weights[unseen])


def test_rows_without_features_change_nothing(corpus) -> None:
    X, Y = corpus
    encoder = _trained(X, Y)
    before = encoder.weights.copy()
    nothing = csr_matrix((2, X.shape[1]), dtype=np.float32)
    graph = label_knn(Y[: N_OLD + 2], 5, queries=Y[N_OLD : N_OLD + 2], first_query=N_OLD)
    adapt_map(encoder, nothing, Y[: N_OLD + 2], graph, N_OLD, None, ON, seed=0)  # type: ignore[arg-type]
    assert np.array_equal(encoder.weights, before)


def test_rows_that_lie_nowhere_draw_nothing_to_them(corpus) -> None:
    X, Y = corpus
    graph = label_knn(Y, 5, queries=Y[N_OLD:], first_query=N_OLD)
    lost = np.unique(graph.neighbors[:10])
    lost = np.append(lost[(lost >= 0) & (lost < N_OLD)], N_OLD - 1)
    kept = np.setdiff1d(np.arange(N_OLD), lost)
    first, second = _trained(X, Y), _trained(X, Y)
    keys = sphere.keys(first.encode(X[:N_OLD]))
    some = ExactIndex(keys[kept], kept)
    adapt_map(first, X[N_OLD:], Y, graph, N_OLD, some, ON, seed=0)
    adapt_map(second, X[N_OLD:], Y, graph.without(lost), N_OLD, ExactIndex(keys), ON, seed=0)
    assert np.array_equal(first.weights, second.weights)
