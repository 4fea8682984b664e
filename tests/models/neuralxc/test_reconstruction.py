from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")

from labelspace.models.neuralxc.reconstruction import (
    ReconstructionTarget,
    sampled_squared_error,
    squared_probability_error,
)

N_ROWS, N_COLUMNS, WIDTH = 5, 7, 3


@pytest.fixture
def X() -> csr_matrix:
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal((N_ROWS, N_COLUMNS)) * (rng.random((N_ROWS, N_COLUMNS)) < 0.4)
    drawn[1] = 0.0
    drawn[:, 4] = 0.0
    return csr_matrix(drawn)


@pytest.fixture
def decoder():
    generator = torch.Generator().manual_seed(0)

    def draw(*shape: int):
        return torch.randn(*shape, generator=generator, dtype=torch.float64, requires_grad=True)

    return draw(N_ROWS, WIDTH), draw(N_COLUMNS, WIDTH), draw(N_COLUMNS)


def dense_error(X, H, W, biases):
    full = H @ W.T + biases - torch.from_numpy(X.toarray())
    return full.square().sum() / N_ROWS


def sampled_error(X, sample, H, W, biases):
    rows = ReconstructionTarget.of(X, np.array(sample, dtype=np.int64), dtype=np.float64)
    columns = torch.from_numpy(rows.columns)
    return sampled_squared_error(H, W[columns], biases[columns], rows)


def test_with_all_columns_the_error_is_exact_and_so_are_its_gradients(X, decoder):
    whole = sampled_error(X, range(N_COLUMNS), *decoder)
    expected = dense_error(X, *decoder)
    assert whole.item() == pytest.approx(expected.item(), rel=1e-12)
    got = torch.autograd.grad(whole, decoder)
    for one, other in zip(got, torch.autograd.grad(expected, decoder), strict=True):
        assert torch.allclose(one, other, rtol=1e-10)


@pytest.mark.parametrize("n_sampled", [1, 3, 6])
def test_over_all_samples_of_columns_error_and_gradients_average_to_the_dense_ones(
    X, decoder, n_sampled
):
    every = list(combinations(range(N_COLUMNS), n_sampled))
    mean = sum(sampled_error(X, sample, *decoder) for sample in every) / len(every)
    expected = dense_error(X, *decoder)
    assert mean.item() == pytest.approx(expected.item(), rel=1e-12)
    got = torch.autograd.grad(mean, decoder)
    for one, other in zip(got, torch.autograd.grad(expected, decoder), strict=True):
        assert torch.allclose(one, other, rtol=1e-10)


def test_error_of_probabilities_counts_columns_by_their_weight():
    scores = torch.tensor([[0.0, 100.0], [0.0, -100.0]])
    relevant = torch.tensor([[True, False], [False, False]])
    assert squared_probability_error(scores, relevant, None).item() == pytest.approx(0.75)
    weights = torch.tensor([1.0, 4.0])
    assert squared_probability_error(scores, relevant, weights).item() == pytest.approx(2.25)
