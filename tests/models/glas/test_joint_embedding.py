from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.encoders.network import NetworkEncoder
from labelspace.models.glas.coarse_to_fine import CoarseToFineIndex
from labelspace.models.glas.joint_embedding import JointEmbedding, LearnedNetwork
from labelspace.search.exact import ExactIndex
from labelspace.spaces import sphere

N_LABELS, DIM = 2500, 300


@pytest.fixture(scope="module")
def many() -> tuple[JointEmbedding, csr_matrix, csr_matrix]:
    """Rows have one feature for each of their labels, and a map to the sum of the labels."""
    rng = np.random.default_rng(0)
    V = sphere.keys(rng.standard_normal((N_LABELS, DIM)).astype(np.float32))
    own = (N_LABELS * rng.random((600, 3)) ** 3).astype(int)
    rows = np.repeat(np.arange(600), 3)
    Y = csr_matrix((np.ones(own.size, dtype=np.float32), (rows, own.ravel())), (600, N_LABELS))
    Y.data[:] = 1.0
    network = NetworkEncoder(V, np.zeros(DIM, dtype=np.float32), [])
    biases = rng.standard_normal(N_LABELS).astype(np.float32)
    learned = LearnedNetwork(network, V, biases, 20.0)
    return JointEmbedding.of_networks([learned], np.arange(N_LABELS)), Y[:500], Y[500:]


def test_many_labels_are_searched_by_short_forms_that_find_nearly_all(many):
    space, X, X_new = many
    counts = np.asarray(X.sum(axis=0))[0]
    space.estimate_statistics(X, X)
    space.build_index(counts, kind="exact")
    assert isinstance(space.index, ExactIndex)
    expected = space.search(X_new, 5)
    space.build_index(counts)
    assert isinstance(space.index, CoarseToFineIndex)
    assert space.index.directions.shape == (DIM, 191)
    found = space.search(X_new, 5)
    there = [np.isin(a, b).mean() for a, b in zip(expected.ids, found.ids, strict=True)]
    assert np.mean(there) > 0.97
    assert np.allclose(found.products[:, 0], expected.products[:, 0], atol=0.2)


def test_a_linear_map_adds_its_scores(many):
    space, X, _ = many
    network = space.networks(1)[0]
    linear = (network.encoder, network.vectors[::-1].copy())
    both = JointEmbedding.of_networks([network, network], space.labels, linear, linear_scale=5.0)
    rows = X[:4]
    Z = network.encoder.encode(rows)
    expected = 20.0 * Z @ network.vectors.T + 5.0 * Z @ linear[1].T
    products = both.scale * both.encoder.encode(rows) @ both.vectors.T
    assert np.allclose(products, expected, atol=1e-2)
