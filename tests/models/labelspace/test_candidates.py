"""Candidates and what speaks for them, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random_array

from labelspace.label_features import LabelFeatures
from labelspace.models.labelspace.candidates import (
    Candidates,
    LabelCentroids,
    Neighbors,
    gather_candidates,
)
from labelspace.models.labelspace.impact_index import ImpactIndex
from labelspace.models.labelspace.name_index import NameIndex
from labelspace.models.labelspace.stacking import Stacker, best_candidates, terms
from labelspace.search.result import SearchResult
from labelspace.search.sparse import SparseIndex
from labelspace.spaces import sphere
from labelspace.topk import TopK, topk_dense

N_ROWS, N_FEATURES, N_LABELS, DIM = 12, 25, 30, 8


@pytest.fixture(scope="module")
def given():
    rng = np.random.default_rng(0)
    X = csr_matrix(random_array((N_ROWS, N_FEATURES), density=0.2, rng=rng, dtype=np.float32))
    W = csr_matrix(random_array((N_LABELS, N_FEATURES), density=0.2, rng=rng, dtype=np.float32))
    biases = rng.normal(size=N_LABELS).astype(np.float32)
    Z = sphere.keys(rng.normal(size=(N_ROWS, DIM)).astype(np.float32))
    centroids = sphere.keys(rng.normal(size=(N_LABELS, DIM)).astype(np.float32))
    votes = topk_dense(rng.random((N_ROWS, N_LABELS)).astype(np.float32), 4)
    votes.labels[3, 2:] = -1  # a row with fewer votes
    return X, W, biases, Z, centroids, votes


@pytest.fixture(scope="module")
def neighbors():
    rng = np.random.default_rng(1)
    ids = np.stack([rng.permutation(20)[:6] for _ in range(N_ROWS)])
    ids[0, 4:] = -1
    cosines = -np.sort(-rng.random((N_ROWS, 6)).astype(np.float32), axis=1)
    weights = rng.random((N_ROWS, 6)).astype(np.float32)
    weights[2, 0] = 0.0  # a row that is not heard
    Y = csr_matrix(random_array((20, N_LABELS), density=0.3, rng=rng, dtype=np.float32))
    return Neighbors(SearchResult(ids, cosines), weights), Y


def gathered(given, neighbors, n_by_margin: int, X=None, votes=None, names=None) -> Candidates:
    rows, W, biases, Z, centroids, voted = given
    near, Y = neighbors
    return gather_candidates(
        rows if X is None else X,
        Z,
        voted if votes is None else votes,
        near,
        near.count_votes(Y, 4)[1],
        SparseIndex(W, biases),
        LabelCentroids(centroids),
        names,
        n_by_margin=n_by_margin,
        n_by_name=4,
    )


def test_candidates_are_those_voted_for_and_those_of_the_largest_margins(given, neighbors) -> None:
    X, W, biases, Z, centroids, votes = given
    found = gathered(given, neighbors, 5)
    margins, cosines = X @ W.T.toarray() + biases, Z @ centroids.T
    shares_a_feature = (abs(X) @ abs(W).T).toarray() > 0
    for row in range(N_ROWS):
        labels = found.labels[row][found.labels[row] >= 0]
        voted = votes.labels[row][votes.labels[row] >= 0]
        others = np.setdiff1d(np.flatnonzero(shares_a_feature[row]), voted)
        by_margin = others[np.argsort(-margins[row, others], kind="stable")][:5]
        assert labels.tolist() == [*voted, *by_margin]
        n = len(labels)
        np.testing.assert_allclose(found.margins[row, :n], margins[row, labels], atol=1e-5)
        np.testing.assert_allclose(found.cosines[row, :n], cosines[row, labels], atol=0.02)
        np.testing.assert_allclose(found.shares[row, : len(voted)], votes.scores[row, : len(voted)])
        assert np.all(found.shares[row, len(voted) :] == 0)


def test_a_row_without_features_has_only_what_was_voted_for(given, neighbors) -> None:
    biases, votes = given[2], given[5]
    nothing = csr_matrix((N_ROWS, N_FEATURES), dtype=np.float32)
    found = gathered(given, neighbors, 5, X=nothing)
    assert np.array_equal(found.labels[:, :4], votes.labels)
    assert np.all(found.labels[:, 4:] == -1)
    np.testing.assert_allclose(found.margins[0, :4], biases[votes.labels[0]])


def test_labels_whose_whole_name_a_row_has_are_candidates_with_all_their_figures(
    given, neighbors
) -> None:
    X, W, biases, votes = given[0], given[1], given[2], given[5]
    named = LabelFeatures.of(csr_matrix(np.eye(N_LABELS, N_FEATURES)), N_LABELS, N_FEATURES)
    found = gathered(given, neighbors, 5, names=NameIndex(named, X, N_LABELS))
    margins = X @ W.T.toarray() + biases
    for row in range(N_ROWS):
        labels = found.labels[row][found.labels[row] >= 0]
        assert len(set(labels)) == len(labels)
        voted = votes.labels[row][votes.labels[row] >= 0]
        assert labels[: len(voted)].tolist() == voted.tolist()
        n_named = min(4, X[row].nnz)
        assert len(set(labels) & set(X[row].indices)) >= n_named
        np.testing.assert_allclose(
            found.margins[row, : len(labels)], margins[row, labels], atol=1e-5
        )
        whole = found.names[row, : len(labels), 0] > 0.99
        assert np.array_equal(whole, np.isin(labels, X[row].indices))


def test_support_is_that_of_the_voters_who_are_heard(given, neighbors) -> None:
    (near, weights, _), Y = neighbors
    found = gathered(given, neighbors, 5)
    has = Y.toarray() > 0
    for row, at in zip(*np.nonzero(found.labels >= 0), strict=True):
        heard = (near.ids[row] >= 0) & (weights[row] > 0)
        heard &= has[near.ids[row], found.labels[row, at]]
        assert found.n_voters[row, at] == heard.sum()
        assert found.nearest[row, at] == np.where(heard, near.products[row], 0.0).max()


def test_rows_say_how_near_their_neighbours_are_and_how_long_they_are(given, neighbors) -> None:
    near = neighbors[0].found
    found = gathered(given, neighbors, 5)
    assert found.rows[2, 0] == near.products[2, 1]  # the nearest is not heard
    np.testing.assert_allclose(found.rows[5, 1], near.products[5, :5].mean(), rtol=1e-6)
    assert np.array_equal(found.rows[:, 3], np.diff(given[0].indptr))


def test_a_probability_is_the_logistic_of_weighted_terms(given, neighbors) -> None:
    found = gathered(given, neighbors, 5)
    counts = np.arange(N_LABELS) * 3
    there = found.labels >= 0
    phi = terms(found, counts)
    weights = np.random.default_rng(1).normal(size=phi.shape[1]) / 3
    probabilities = Stacker(weights).probabilities(found, counts)
    np.testing.assert_allclose(probabilities[there], 1 / (1 + np.exp(-phi @ weights)), atol=1e-5)
    assert np.all(probabilities[~there] == 0)


def test_best_candidates_are_sorted_and_ties_go_to_the_smaller_label() -> None:
    labels = np.array([[5, 2, 9, -1, 7], [-1, -1, -1, -1, -1]])
    scores = np.array([[0.3, 0.8, 0.3, 0.9, 0.1], [0.9] * 5], dtype=np.float32)
    top = best_candidates(labels, scores, 3)
    assert top.labels.tolist() == [[2, 5, 9], [-1, -1, -1]]
    np.testing.assert_allclose(top.scores[0], [0.8, 0.3, 0.3])


def test_centroids_move_by_the_weight_of_old_and_new_rows() -> None:
    centroids = LabelCentroids(np.eye(3, dtype=np.float32)[:2])
    pulls = np.array([[0.0, 0.0, 1.0], [3.0, 4.0, 0.0]], dtype=np.float32)
    centroids.move(np.array([1, 3]), np.array([1, 0]), pulls)
    vectors = centroids.vectors * centroids.scales[:, np.newaxis]
    half = np.sqrt(0.5)
    expected = [[1, 0, 0], [0, half, half], [0, 0, 0], [0.6, 0.8, 0]]
    np.testing.assert_allclose(vectors, expected, atol=0.01)


def test_empty_votes(given, neighbors) -> None:
    X, W = given[:2]
    found = gathered(given, neighbors, 3, votes=TopK.empty(N_ROWS, 4))
    best = SparseIndex(W, np.zeros(N_LABELS)).search(X, 1).scores[:, 0] > 0
    assert np.array_equal(found.labels[:, 0] >= 0, best)


@pytest.mark.parametrize("density", [0.002, 0.05, 0.6])
@pytest.mark.parametrize("n_labels", [300, 40_000])
def test_margins_of_short_long_and_cut_lists_are_the_same(density: float, n_labels: int) -> None:
    rng = np.random.default_rng(0)
    W = csr_matrix(random_array((n_labels, 20), density=density, rng=rng, dtype=np.float32))
    X = csr_matrix(rng.normal(size=(6, 20)).astype(np.float32))
    X[3] = 0.0
    X.eliminate_zeros()
    biases = rng.normal(size=n_labels).astype(np.float32)
    told = np.zeros((6, 4), np.float32), TopK.empty(6, 1)
    nobody = Neighbors(SearchResult.none(6, 0), np.zeros((6, 0), np.float32))
    support = nobody.count_votes(csr_matrix((1, n_labels)), 1)[1]
    centroids = LabelCentroids(np.ones((n_labels, 4), np.float32))
    margins = np.where((abs(X) @ abs(W).T).toarray() > 0, (X @ W.T).toarray() + biases, -np.inf)
    for index in (SparseIndex(W, biases), ImpactIndex(W, biases, longest=n_labels)):
        found = gather_candidates(
            X, *told, nobody, support, index, centroids, None, n_by_margin=5, n_by_name=0
        )
        for row in range(6):
            best = np.argsort(-margins[row], kind="stable")[:5]
            best = best[np.isfinite(margins[row, best])]
            assert found.labels[row, : best.size].tolist() == best.tolist()
            assert (found.labels[row, best.size :] == -1).all()
