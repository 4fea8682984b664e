from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.graph.cooccurrence import (
    SIMILARITIES,
    cooccurrence,
    dense_block,
    label_graph,
    similarity,
)


@pytest.fixture
def labels() -> csr_matrix:
    rng = np.random.default_rng(0)
    Y = (rng.random((60, 9)) < rng.uniform(0.05, 0.7, size=9)).astype(np.float32)
    Y[:, 8] = 0
    return csr_matrix(Y)


def test_counts_are_those_of_pairs(labels):
    dense = labels.toarray()
    assert np.array_equal(cooccurrence(labels).toarray(), dense.T @ dense)


@pytest.mark.parametrize("kind", SIMILARITIES)
def test_likeness_is_symmetric_from_zero_to_one_and_one_with_itself(labels, kind):
    alike = similarity(cooccurrence(labels), 60, kind).toarray()
    assert np.allclose(alike, alike.T)
    assert alike.min() >= 0.0
    assert alike.max() <= 1.0 + 1e-6
    assert np.allclose(np.diag(alike)[:8], 1.0)
    assert np.all(alike[8] == 0), "a label without rows is like nothing"


def test_likeness_is_the_formula(labels):
    A = labels.toarray().T @ labels.toarray()
    a, b = 1, 5
    given = {kind: similarity(cooccurrence(labels), 60, kind)[a, b] for kind in SIMILARITIES}
    forward, backward = A[a, b] / A[b, b], A[a, b] / A[a, a]
    assert given["arithmetic"] == pytest.approx((forward + backward) / 2, rel=1e-5)
    assert given["geometric"] == pytest.approx(np.sqrt(forward * backward), rel=1e-5)
    assert given["jaccard"] == pytest.approx(A[a, b] / (A[a, a] + A[b, b] - A[a, b]), rel=1e-5)
    pmi = np.log(60 * A[a, b] / (A[a, a] * A[b, b])) / -np.log(A[a, b] / 60)
    assert given["pmi"] == pytest.approx(max(pmi, 0.0), rel=1e-4)


def test_labels_of_every_row_are_alike_by_pmi():
    Y = csr_matrix(np.ones((4, 2), dtype=np.float32))
    assert np.array_equal(similarity(cooccurrence(Y), 4, "pmi").toarray(), np.ones((2, 2)))


def test_block_is_cut_out_in_the_given_order(labels):
    alike = similarity(cooccurrence(labels), 60)
    chosen = np.array([7, 2, 8, 0])
    assert np.array_equal(dense_block(alike, chosen), alike.toarray()[np.ix_(chosen, chosen)])


def test_an_unknown_likeness_is_refused(labels):
    with pytest.raises(ValueError, match="arithmetic"):
        similarity(cooccurrence(labels), 60, "cosine")


def test_label_graph_joins_labels_of_one_row():
    Y = csr_matrix(np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]], dtype=np.float32))
    binary = label_graph(Y).toarray()
    assert binary.tolist() == [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    assert label_graph(Y, "counts")[0, 1] == 2
    assert 0 < label_graph(Y, "jaccard")[0, 2] < 1
