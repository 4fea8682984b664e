"""SMCE's label graph and partition on corpora with planted labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models import AnnexML
from labelspace.models.annexml.label_manifolds import label_vectors, smce_graph, smce_partition
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def corpus() -> tuple[csr_matrix, csr_matrix]:
    return planted_corpus()


@pytest.fixture(scope="module")
def two_worlds() -> tuple[csr_matrix, csr_matrix]:
    """Rows 0 to 99 have some of labels 0 to 4, rows 100 to 199 some of labels 5 to 9."""
    rng = np.random.default_rng(0)
    Y = np.zeros((200, 10))
    Y[:100, :5] = rng.random((100, 5)) < 0.5
    Y[100:, 5:] = rng.random((100, 5)) < 0.5
    Y[:100, 0] = Y[100:, 5] = 1.0
    X = np.zeros((200, 6))
    X[:100, :3] = rng.random((100, 3))
    X[100:, 3:] = rng.random((100, 3))
    return csr_matrix(X, dtype=np.float32), csr_matrix(Y, dtype=np.float32)


def test_rows_with_the_same_labels_coincide(two_worlds) -> None:
    _, Y = two_worlds
    Z = label_vectors(Y)
    same = (Y[[3]].toarray() == Y.toarray()).all(axis=1)
    assert np.all(Z[same] == Z[3])
    assert np.linalg.norm(Z, axis=1) == pytest.approx(np.ones(200))


def test_neighbours_share_labels_and_the_same_labels_come_first(two_worlds) -> None:
    _, Y = two_worlds
    graph = smce_graph(Y, n_neighbors=8)
    dense = Y.toarray()
    for row in range(200):
        found = graph.neighbors[row][graph.neighbors[row] >= 0]
        assert found.size > 0
        assert row not in found
        assert np.unique(found).size == found.size
        assert np.all((found < 100) == (row < 100))
        copies = (dense == dense[row]).all(axis=1).sum() - 1
        assert np.all(dense[found[: min(copies, 8)]] == dense[row])


def test_rows_outside_of_the_sample_have_neighbours_in_it(two_worlds) -> None:
    _, Y = two_worlds
    graph = smce_graph(Y, n_neighbors=5, sample=60, seed=1)
    assert np.all(graph.n_neighbors > 0)
    assert np.unique(graph.neighbors[graph.neighbors >= 0]).size <= 60


def test_rows_without_labels_have_no_neighbours() -> None:
    graph = smce_graph(csr_matrix([[1, 0], [0, 0], [1, 0], [1, 1]]), n_neighbors=2)
    assert graph.n_neighbors[1] == 0
    assert graph.neighbors[0, 0] == 2
    alone = smce_graph(csr_matrix([[1], [1], [0]]), n_neighbors=3)
    assert alone.neighbors[:, 0].tolist() == [1, 0, -1]


def test_partition_separates_worlds(two_worlds) -> None:
    X, Y = two_worlds
    parts = smce_partition(X, Y, 2, seed=0).assign(X)
    assert len(set(parts[:100])) == len(set(parts[100:])) == 1
    assert parts[0] != parts[100]


def test_there_are_no_more_parts_than_places() -> None:
    X = csr_matrix(np.eye(3, dtype=np.float32))
    assert smce_partition(X, csr_matrix([[1], [1], [1]]), 3, seed=0).n_parts == 1


@pytest.mark.parametrize(
    "settings",
    [{"similarity": "smce"}, {"partition": "smce", "part_size": 100, "similarity": "smce"}],
)
def test_annexml_learns_with_it(corpus, settings) -> None:
    X_test, Y_test = planted_corpus(100, seed=1)
    model = AnnexML(n_learners=1, random_state=0, settings=settings).fit(*corpus)
    assert model.score(X_test, Y_test) >= 0.9
    again = AnnexML(n_learners=1, random_state=0, n_threads=1, settings=settings).fit(*corpus)
    assert np.array_equal(
        model.predict_topk(X_test, k=3).labels, again.predict_topk(X_test, k=3).labels
    )
