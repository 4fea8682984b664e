from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csr_matrix

from labelspace.graph import spectral
from labelspace.graph.spectral import (
    kmeans_split,
    laplacian_eigenmaps,
    random_tree,
    spectral_split,
    spectral_tree,
)

CAT, TIGER, PEN, PENCIL = range(4)
# The confusions of the slides on label embedding trees.
ALIKE = csr_matrix(
    [[1, 0.6, 0.1, 0.12], [0.6, 1, 0.2, 0.16], [0.1, 0.2, 1, 0.9], [0.12, 0.16, 0.9, 1]]
)


def groups(n_groups: int, size: int, seed: int = 0) -> csr_matrix:
    """Labels in groups, alike within and little between."""
    random = np.random.default_rng(seed)
    n = n_groups * size
    alike = (random.random((n, n)) < 0.05) * 0.1
    for start in range(0, n, size):
        alike[start : start + size, start : start + size] += random.random((size, size))
    return csr_matrix(alike + alike.T)


def test_cats_and_pens_part_as_on_the_slides():
    tree = spectral_tree(ALIKE, np.arange(4), branching=2)
    parts = {tuple(tree.labels_of(node)) for node in tree.children(0)}
    assert parts == {(CAT, TIGER), (PEN, PENCIL)}
    assert tree.depth == 2


@pytest.mark.parametrize("size", [20, 120])
def test_groups_are_found_again(size):
    order = np.random.default_rng(1).permutation(4 * size)
    alike = csr_matrix(groups(4, size)[order][:, order])
    parts = {frozenset(order[part] // size) for part in spectral_split(alike, 4)}
    assert parts == {frozenset([group]) for group in range(4)}


@pytest.mark.parametrize(("balance", "largest"), [(1.0, 25), (0.5, 50), (0.0, 97)])
def test_balance_bounds_the_largest_part(balance, largest):
    points = np.concatenate([np.zeros((97, 3)), np.eye(3) * 9])
    points += np.random.default_rng(0).normal(scale=0.01, size=points.shape)
    sizes = [part.size for part in kmeans_split(points, 4, balance=balance)]
    assert sum(sizes) == 100
    assert max(sizes) == largest


def test_eigenmaps_are_those_of_the_dense_problem(monkeypatch):
    alike = groups(3, 15)
    dense = alike.toarray()
    dense += spectral._EVERYWHERE * dense.sum(axis=1).mean() / len(dense)
    degrees = np.diag(dense.sum(axis=1))
    # L v = λ D v, smallest first; the first is constant.
    values, expected = eigh(degrees - dense, degrees)
    for cut in (0, 1000):
        monkeypatch.setattr(spectral, "_DENSE", cut)
        V = laplacian_eigenmaps(alike, 2)
        np.testing.assert_allclose(V.T @ degrees @ V, np.eye(2), atol=1e-4)
        for axis in range(2):
            cosine = V[:, axis] @ degrees @ expected[:, axis + 1]
            assert abs(cosine) == pytest.approx(1.0, abs=1e-3)
    assert values[0] == pytest.approx(0.0, abs=1e-9)


def test_labels_that_nothing_is_alike_to_are_placed_too():
    tree = spectral_tree(csr_matrix((500, 500)), np.arange(500), branching=4, balance=0.5)
    assert tree.labels_of(0).size == 500


def test_a_random_tree_has_all_labels_in_parts_of_one_size():
    tree = random_tree(np.arange(64), 64, branching=4, leaf_size=4)
    assert tree.labels_of(0).tolist() == list(range(64))
    assert [tree.labels_of(node).size for node in tree.children(0)] == [16] * 4
    assert tree.depth == 3


def test_more_dimensions_than_labels_are_zero():
    V = laplacian_eigenmaps(ALIKE, 6)
    assert V.shape == (4, 6)
    assert np.all(V[:, 3:] == 0)
