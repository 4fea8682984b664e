from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_matrix

from labelspace.models.dxml.graph_embedding import KINDS, graph_embedding
from labelspace.models.dxml.skip_gram import skip_gram
from labelspace.models.dxml.walks import random_walks
from tests.models.dxml.villages import share_of_own_village, villages


@pytest.mark.parametrize("kind", KINDS)
def test_every_label_gets_a_unit_vector_even_alone(kind):
    graph = csr_matrix(block_diag([villages().toarray(), np.zeros((3, 3))]), dtype=np.float32)
    vectors = graph_embedding(graph, 12, kind, seed=0)
    assert vectors.shape == (51, 12)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)
    assert np.unique(vectors[48:], axis=0).shape[0] == 3
    if kind != "random":
        assert share_of_own_village(vectors[:48]) > 0.8


def test_vectors_of_walks_can_be_had_as_they_are():
    graph = csr_matrix(block_diag([villages().toarray(), np.zeros((3, 3))]), dtype=np.float32)
    graph.eliminate_zeros()
    vectors = graph_embedding(graph, 12, unit=False, seed=0)
    walks = random_walks(graph, 10, 40, seed=0)
    assert np.array_equal(vectors[:48], skip_gram(walks, 51, 12, window=5, seed=0)[:48])
    lengths = np.linalg.norm(vectors, axis=1)
    assert lengths[:48].std() > 1e-3
    assert lengths[48:] == pytest.approx(lengths[:48].mean(), rel=1e-4)


def test_one_label_and_no_edges_are_no_trouble():
    for kind in KINDS:
        assert graph_embedding(csr_matrix((1, 1), dtype=np.float32), 6, kind).shape == (1, 6)


def test_a_kind_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="deepwalk, svd, random"):
        graph_embedding(villages(), 4, "eigen")
