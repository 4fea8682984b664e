"""Eigenmaps of graphs that may be in pieces, and how pieces are joined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_matrix
from scipy.sparse.csgraph import connected_components

from labelspace.manifold.self_expression import express
from labelspace.manifold.spectrum import component_eigenmaps, join_components


def test_long_curves_and_dense_answers_agree() -> None:
    """Beyond some hundred points eigenvectors are found by other means."""
    angle = np.linspace(0, np.pi, 700)
    curve = np.column_stack((np.cos(angle), np.sin(angle)))
    solved = express(curve, n_candidates=8)
    graph = solved.as_csr(solved.edges(), 700)
    graph = graph.maximum(graph.T).tocsr()
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    exact = np.linalg.eigh(graph.toarray() / np.sqrt(np.outer(degrees, degrees)))[1][:, -3:-1]
    exact = exact[:, ::-1] / np.sqrt(degrees)[:, None] * np.sqrt(degrees.sum())
    assert np.abs(component_eigenmaps(graph, 3)[:, 1:]) == pytest.approx(np.abs(exact), abs=1e-4)


def test_joined_pieces_are_one() -> None:
    points = np.random.default_rng(0).random((50, 2))
    solved = express(points, n_candidates=3)
    graph = solved.as_csr(solved.edges(), 50)
    graph = graph.maximum(graph.T).tocsr()
    known = solved.as_csr(solved.distances, 50)
    assert connected_components(join_components(graph, points, known))[0] == 1


def test_each_component_has_a_column_of_its_own_before_all_others() -> None:
    random = np.random.default_rng(0)
    parts = [random.random((size, size)) for size in (4, 7)]
    graph = csr_matrix(block_diag([part + part.T for part in parts]))
    found = component_eigenmaps(graph, 3)
    constant = found[:, :2] != 0
    assert constant[:4].all(axis=0).tolist() != constant[4:].all(axis=0).tolist()
    for column, inside in ((0, slice(0, 4)), (1, slice(4, 11))):
        assert np.ptp(found[inside, column]) == pytest.approx(0.0, abs=1e-12)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    np.testing.assert_allclose(degrees @ found**2 / degrees.sum(), 1.0)
