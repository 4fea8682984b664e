from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.graph.label_knn import label_knn


def random_labels(n_examples: int = 200, n_labels: int = 30, seed: int = 0) -> csr_matrix:
    rng = np.random.default_rng(seed)
    return csr_matrix((rng.random((n_examples, n_labels)) < 0.1).astype(np.float32))


def dense_similarity(Y: csr_matrix, similarity: str) -> np.ndarray:
    shared = (Y @ Y.T).toarray()
    sizes = np.maximum(Y.sum(axis=1).A1, 1e-9)
    if similarity == "cosine":
        result = shared / np.sqrt(np.outer(sizes, sizes))
    else:
        result = shared / sizes[np.newaxis, :]
    np.fill_diagonal(result, 0.0)
    return result


@pytest.mark.parametrize("similarity", ["cosine", "overlap"])
def test_finds_what_the_dense_product_finds(similarity: str) -> None:
    Y = random_labels()
    graph = label_knn(Y, 7, similarity=similarity)
    expected = dense_similarity(Y, similarity)
    best = -np.sort(-expected, axis=1)[:, :7]
    assert np.allclose(graph.similarities, best, atol=1e-6)
    for row, neighbors in enumerate(graph.neighbors):
        given = neighbors[neighbors >= 0]
        assert row not in given
        assert np.unique(given).size == given.size
        assert np.allclose(expected[row, given], graph.similarities[row, : given.size], atol=1e-6)


def test_same_on_any_number_of_threads_and_other_ties_with_another_seed() -> None:
    Y = csr_matrix(np.repeat(np.eye(3, dtype=np.float32), 4000, axis=0))
    one = label_knn(Y, 5, budget=10**6, n_threads=1)
    two = label_knn(Y, 5, budget=10**6, n_threads=2)
    other = label_knn(Y, 5, budget=10**6, seed=1)
    assert np.array_equal(one.neighbors, two.neighbors)
    assert not np.array_equal(one.neighbors, other.neighbors)


def test_row_with_frequent_labels_only_gets_rows_of_its_rarest() -> None:
    Y = np.zeros((3000, 3), dtype=np.float32)
    Y[:, 0] = 1
    Y[:2000, 1] = 1
    Y[:20, 2] = 1
    graph = label_knn(csr_matrix(Y), 5, budget=1)
    assert np.all(graph.neighbors[100:2000] >= 0)
    assert np.all(graph.neighbors[100:2000] < 2000)
    assert np.all(graph.neighbors[:20] < 20), "the rare label is still walked"
    assert np.all(graph.neighbors != np.arange(3000)[:, np.newaxis])


def test_lists_left_out_by_length_keep_equal_ones_and_give_no_rows_of_the_rarest() -> None:
    # Pairs of the first three lists are 2, 4, 6 in all, and those of the last 6 more: a budget of
    # five has room for two lists, and by length for the third as well, which is as long.
    Y = csr_matrix([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
    told = {"similarity": "overlap", "budget": 1}
    usual, by_length = (label_knn(Y, 3, by_length=one, **told) for one in (False, True))
    assert usual.n_neighbors.tolist() == [2, 1, 1, 1, 2]
    assert by_length.n_neighbors.tolist() == [2, 2, 1, 1, 0]
    assert set(by_length.neighbors[1]) == {0, 3, -1}


def test_row_without_labels_has_no_neighbors() -> None:
    Y = csr_matrix(np.array([[1, 0], [0, 0], [1, 0], [0, 1]], dtype=np.float32))
    graph = label_knn(Y, 3)
    assert graph.n_neighbors.tolist() == [1, 0, 1, 0]


def test_queries_beside_the_rows_and_among_them() -> None:
    Y = random_labels()
    whole = label_knn(Y, 5)
    last = label_knn(Y, 5, queries=Y[150:], first_query=150)
    assert np.array_equal(last.similarities, whole.similarities[150:])
    beside = label_knn(Y, 1, queries=Y[150:])
    has_labels = Y[150:].sum(axis=1).A1 > 0
    assert np.allclose(beside.similarities[has_labels], 1.0), "a row is most like itself"


def test_unknown_similarity_is_named() -> None:
    with pytest.raises(ValueError, match="cosine, overlap"):
        label_knn(random_labels(), similarity="jaccard")
