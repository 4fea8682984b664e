from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.encoders.network import NetworkEncoder
from labelspace.models.glas.concatenated import ConcatenatedEncoder, concatenated


def encoder(dim: int, seed: int) -> NetworkEncoder:
    weights = np.random.default_rng(seed).standard_normal((6, dim)).astype(np.float32)
    return NetworkEncoder(weights, np.zeros(dim, dtype=np.float32), [], storage="float32")


def test_an_inner_product_is_the_weighted_mean_of_those_of_the_parts():
    parts, shares = [encoder(3, 0), encoder(5, 1)], (0.3, 0.7)
    both = ConcatenatedEncoder(parts, shares)
    X = csr_matrix(np.random.default_rng(2).random((4, 6)), dtype=np.float32)
    Z = both.encode(X)
    assert Z.shape == (4, both.dim) == (4, 8)
    expected = sum(
        share * (part.encode(X) @ part.encode(X).T)
        for part, share in zip(parts, shares, strict=True)
    )
    assert np.allclose(Z @ Z.T, expected, atol=1e-6)
    assert np.allclose(np.linalg.norm(Z, axis=1), 1.0)


def test_coordinates_are_split_as_they_were_put_together():
    both = ConcatenatedEncoder([encoder(3, 0), encoder(5, 1)], (0.5, 0.5))
    vectors = [np.full((2, dim), float(dim), dtype=np.float32) for dim in (3, 5)]
    found = both.split(concatenated(vectors, (1.0, 1.0)))
    assert all(map(np.array_equal, found, vectors))


def test_a_share_for_every_part_is_needed():
    with pytest.raises(ValueError, match="zip"):
        concatenated([np.eye(2, dtype=np.float32)], (0.5, 0.5))
