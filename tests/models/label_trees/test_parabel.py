"""Parabel: halves, path scores, several trees, and that it learns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.graph.tree import Tree
from labelspace.models import Parabel
from labelspace.models.label_trees.halving_tree import halves, halving_trees
from labelspace.search.tree_beam import TreeIndex
from tests.planted import planted_corpus


def clouds(n_clouds: int = 4, size: int = 8, seed: int = 0) -> csr_matrix:
    """Unit vectors around the axes, in turn."""
    random = np.random.default_rng(seed)
    axes = np.eye(n_clouds)[np.arange(n_clouds * size) % n_clouds]
    vectors = axes + np.abs(random.normal(0, 0.1, axes.shape))
    return csr_matrix(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@pytest.mark.parametrize("n", [2, 3, 7, 30, 31])
def test_halves_differ_by_one_at_most_and_lose_nobody(n: int) -> None:
    labels = np.random.default_rng(0).permutation(32)[:n].astype(np.int64)
    one, other = halves(clouds(), labels, np.random.default_rng(1))
    assert abs(one.size - other.size) <= 1
    assert sorted([*one, *other]) == sorted(labels)


def test_halves_keep_together_what_is_alike() -> None:
    vectors = clouds(2, 16)
    one, other = halves(vectors, np.arange(32), np.random.default_rng(0))
    assert {tuple(np.unique(half % 2)) for half in (one, other)} == {(0,), (1,)}


def test_halving_never_cuts_worse_than_it_began() -> None:
    vectors = clouds(3, 12, seed=2)
    dense = vectors.toarray()

    def coherence(parts: list[np.ndarray]) -> float:
        return sum(float(np.linalg.norm(dense[part].sum(axis=0))) for part in parts)

    random = np.random.default_rng(3)
    by_chance = max(coherence(np.array_split(random.permutation(36), 2)) for _ in range(20))
    assert coherence(halves(vectors, np.arange(36), random)) > by_chance


def test_leaves_are_small_and_of_one_size() -> None:
    X, Y = planted_corpus(300, n_labels=40)
    (tree,) = halving_trees(X, Y, [0], leaf_size=6)
    holders = np.unique(tree.parents[np.flatnonzero(tree.leaf_labels >= 0)])
    sizes = [tree.n_children[node] for node in holders]
    assert set(sizes) <= {5}
    assert sorted(tree.leaf_labels[tree.leaf_labels >= 0]) == list(range(40))


def test_a_path_scores_the_product_of_its_squared_hinges() -> None:
    tree = Tree.from_nested([[0, 1], [2, 3]], n_labels=4)
    random = np.random.default_rng(0)
    weights = random.normal(size=(7, 3)).astype(np.float32)
    biases = random.normal(size=7).astype(np.float32)
    index = TreeIndex(tree, csr_matrix(weights), biases, link="squared_hinge")
    x = random.normal(size=(1, 3)).astype(np.float32)
    top = index.search(csr_matrix(x), 4, 10).top
    log_p = -(np.maximum(0, 1 - (weights @ x[0] + biases)) ** 2)
    expected = [log_p[1] + log_p[3], log_p[1] + log_p[4], log_p[2] + log_p[5], log_p[2] + log_p[6]]
    assert sorted(top.labels[0]) == [0, 1, 2, 3]
    assert np.allclose(top.scores[0], np.array(expected)[top.labels[0]], rtol=1e-4, atol=1e-5)


def test_trees_are_averaged() -> None:
    X, Y = planted_corpus(200, n_labels=20)
    model = Parabel(n_trees=3, leaf_size=4, C=1.0, random_state=0).fit(X, Y)
    total = np.zeros(Y.shape)
    for index in model.indexes_:
        top = index.search(model.rows_.encode(X), 20, 10).top
        for row in range(200):
            found = top.labels[row] >= 0
            total[row, top.labels[row, found]] += np.exp(top.scores[row, found]) / 3
    given = model.predict_topk(X, 3)
    assert np.allclose(given.scores, -np.sort(-total, axis=1)[:, :3], atol=1e-5)


def test_it_finds_each_planted_label() -> None:
    X, Y = planted_corpus(400, n_labels=30)
    X_test, Y_test = planted_corpus(200, n_labels=30, seed=1)
    model = Parabel(leaf_size=5, random_state=0).fit(X, Y)
    assert model.score(X_test, Y_test) > 0.95
    assert Parabel(preset="paper").fit(X, Y).settings_.min_weight == 0.1
    narrow = Parabel(leaf_size=5, beam=1, n_trees=1, random_state=0).fit(X, Y)
    assert narrow.score(X_test, Y_test) <= model.score(X_test, Y_test)


def test_paper_has_the_values_of_the_program() -> None:
    # Prabhu et al. (2018), the defaults of their program, as the section "Usage" of its page has
    # them: -t 3 -c 1.0 -m 100 -tcl 0.1 -tce 0 -n 20, and -B 10 to ask.
    X, Y = planted_corpus(100)
    X.data[:] = 1.0
    model = Parabel(preset="paper", random_state=0).fit(X, Y)
    told = model.settings_
    assert (told.n_trees, told.leaf_size, told.beam, told.max_iter) == (3, 100, 10, 20)
    assert (told.C, told.min_weight, told.tol) == (1.0, 0.1, 0.1)
    assert told.centroid_features == X.shape[1]  # all
    # Rows are scaled to length one, features are not weighted, even 0-1 ones.
    assert told.normalize
    assert model.rows_.feature_weights is None
    assert Parabel(random_state=0).fit(X, Y).rows_.feature_weights is not None
