"""Complete-link clustering on a sparse graph, against scipy's on the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_matrix
from scipy.spatial.distance import squareform

from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.models.hierarchical_xc.complete_link import complete_link, complete_link_tree


def dense_linkage(alike: csr_matrix) -> np.ndarray:
    distances = -alike.toarray().astype(np.float64)
    np.fill_diagonal(distances, 0.0)
    return linkage(squareform(distances, checks=False), "complete")


def random_graph(seed: int, *, ties: bool) -> csr_matrix:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 40))
    weights = random.integers(1, 4, (n, n)).astype(float) if ties else random.random((n, n))
    weights *= random.random((n, n)) < random.choice([0.1, 0.3, 0.7, 1.0])
    upper = np.triu(weights, 1)
    return csr_matrix(upper + upper.T)


def random_labels(n_rows: int, n_labels: int, seed: int) -> csr_matrix:
    """Return labels with a long tail: label l comes with a chance of about 1 / l."""
    random = np.random.default_rng(seed)
    chances = np.minimum(1.0, 3.0 / np.arange(1, n_labels + 1))
    return csr_matrix((random.random((n_rows, n_labels)) < chances).astype(np.float32))


@pytest.mark.parametrize("ties", [True, False])
def test_merges_are_those_of_scipy(ties):
    for seed in range(60):
        alike = random_graph(seed, ties=ties)
        np.testing.assert_array_equal(complete_link(alike), dense_linkage(alike))


@pytest.mark.parametrize("kind", ["cooccurrence", "iou"])
def test_likenesses_of_labels_give_the_merges_of_scipy(kind):
    Y = random_labels(200, 60, seed=0)
    counts = cooccurrence(Y)
    alike = counts if kind == "cooccurrence" else similarity(counts, 200, "jaccard")
    np.testing.assert_array_equal(complete_link(alike), dense_linkage(alike))


@pytest.mark.parametrize(
    ("kind", "measure", "merges"),
    [
        # d of labels 0 and 1 is the least, −3; label 2 has −1 from one of them, −2 from the other.
        ("cooccurrence", None, [[0, 1, -3.0, 2], [2, 3, -1.0, 3]]),
        # −3/10, −1/10 and −2/4: labels 1 and 2 are nearest, and label 0 is −1/10 from label 2.
        ("iou", "jaccard", [[1, 2, -0.5, 2], [0, 3, -0.1, 3]]),
    ],
)
def test_distances_are_those_of_the_formulas(kind, measure, merges):
    # |c_0|, |c_1|, |c_2| = 9, 4, 2; |c_0 ∩ c_1|, |c_0 ∩ c_2|, |c_1 ∩ c_2| = 3, 1, 2
    Y = csr_matrix([[1, 1, 1]] + 2 * [[1, 1, 0]] + [[0, 1, 1]] + 6 * [[1, 0, 0]], dtype=np.float32)
    counts = cooccurrence(Y)
    alike = similarity(counts, Y.shape[0], measure) if measure else counts
    np.testing.assert_allclose(complete_link(alike), merges, rtol=1e-6)
    tree = complete_link_tree(Y, kind, balanced=False)
    first = {frozenset(tree.labels_of(child).tolist()) for child in tree.children(0)}
    one, other = map(int, merges[0][:2])
    assert first == {frozenset({one, other}), frozenset({0, 1, 2} - {one, other})}


def test_what_is_on_the_diagonal_does_not_matter():
    alike = random_graph(3, ties=False)
    with_diagonal = csr_matrix(alike + csr_matrix(np.diag(np.full(alike.shape[0], 9.0))))
    np.testing.assert_array_equal(complete_link(with_diagonal), complete_link(alike))


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("likeness", ["iou", "cooccurrence"])
def test_a_tree_is_binary_and_has_each_label_once(likeness, balanced):
    Y = random_labels(150, 90, seed=1)
    tree = complete_link_tree(Y, likeness, balanced=balanced)
    seen = np.flatnonzero(np.bincount(Y.indices, minlength=90))
    assert np.sort(tree.leaf_labels[tree.leaf_labels >= 0]).tolist() == seen.tolist()
    assert set(tree.n_children.tolist()) == {0, 2}
    assert tree.n_nodes == 2 * len(seen) - 1


def test_the_plain_tree_holds_the_clusters_of_scipy():
    Y = random_labels(150, 30, seed=2)
    tree = complete_link_tree(Y, "cooccurrence", balanced=False)
    members = [{label} for label in range(30)]
    for one, other in dense_linkage(cooccurrence(Y))[:, :2].astype(int):
        members.append(members[one] | members[other])
    ours = {frozenset(tree.labels_of(node).tolist()) for node in range(tree.n_nodes)}
    assert ours == {frozenset(cluster) for cluster in members}


def test_balance_turns_a_chain_into_a_tree():
    # Label 0 comes with every other label, and no two others come together.
    n = 256
    rows = np.repeat(np.arange(n - 1), 2)
    columns = np.stack([np.zeros(n - 1, dtype=int), np.arange(1, n)], axis=1).ravel()
    Y = csr_matrix((np.ones(2 * (n - 1), dtype=np.float32), (rows, columns)))
    assert complete_link_tree(Y, balanced=False).depth > 200
    assert complete_link_tree(Y).depth <= 20


def test_labels_that_never_meet_are_joined_evenly():
    tree = complete_link_tree(csr_matrix(np.eye(64, dtype=np.float32)))
    assert tree.depth == 6


def test_small_clusters_may_have_their_labels_as_children():
    Y = random_labels(150, 90, seed=1)
    binary, wide = (complete_link_tree(Y, leaf_size=leaf_size) for leaf_size in (1, 8))
    sets = [
        {frozenset(tree.labels_of(node).tolist()) for node in range(tree.n_nodes)}
        for tree in (binary, wide)
    ]
    assert sets[1] < sets[0]
    assert 2 < wide.n_children.max() <= 8


def test_one_label_or_none_makes_a_root_with_a_leaf():
    for Y in (csr_matrix([[0, 1.0]]), csr_matrix((3, 2))):
        tree = complete_link_tree(Y)
        assert tree.n_nodes == 2
        assert tree.leaf_labels[1] in (0, 1)


def test_many_labels_need_no_dense_matrix():
    random = np.random.default_rng(0)
    n_rows, n_labels = 40_000, 100_000
    labels = (n_labels * random.random((n_rows, 5)) ** 3).astype(int)
    Y = csr_matrix(
        (np.ones(labels.size, dtype=np.float32), labels.ravel(), np.arange(0, labels.size + 1, 5)),
        shape=(n_rows, n_labels),
    )
    Y.sum_duplicates()
    tree = complete_link_tree(Y)
    # All pairs of these take tens of gigabytes.
    assert np.sum(tree.leaf_labels >= 0) > 60_000
    assert tree.depth < 64
