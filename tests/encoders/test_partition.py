from __future__ import annotations

import numpy as np
import pytest

from labelspace.encoders.partition import kmeans_partition
from labelspace.encoders.unit_rows import UnitRows
from tests.planted import planted_corpus


@pytest.fixture(scope="module")
def corpus():
    X, Y = planted_corpus(600)
    return UnitRows().encode(X), Y


@pytest.mark.parametrize("n_parts", [1, 4])
def test_kmeans_is_decided_by_its_seed(corpus, n_parts: int) -> None:
    X, _ = corpus
    one, two = (kmeans_partition(X, n_parts, seed=0).assign(X) for _ in range(2))
    assert np.array_equal(one, two)
    assert one.max() < n_parts
