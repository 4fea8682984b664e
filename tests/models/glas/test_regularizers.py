from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labelspace.models.glas import regularizers


def unit_rows(n: int, dim: int, seed: int = 0):
    drawn = torch.from_numpy(np.random.default_rng(seed).standard_normal((n, dim)))
    return torch.nn.functional.normalize(drawn, dim=1)


@pytest.fixture
def likeness():
    drawn = np.random.default_rng(1).random((7, 7))
    drawn = (drawn + drawn.T) / 2
    np.fill_diagonal(drawn, 1.0)
    return torch.from_numpy(drawn)


def test_laplacian_and_spread_out_make_glas_up_to_a_constant(likeness):
    constant = (likeness.square() - 2.0 * likeness).mean()
    for seed in range(3):
        V = unit_rows(7, 4, seed)
        both = regularizers.laplacian(V, likeness) + regularizers.spread_out(V)
        assert torch.allclose(both, regularizers.glas(V, likeness) - constant)


def test_without_likeness_glas_is_spread_out():
    V = unit_rows(5, 3)
    nothing = torch.zeros((5, 5), dtype=V.dtype)
    assert torch.equal(regularizers.glas(V, nothing), regularizers.spread_out(V))


def test_gravity_is_the_mean_of_all_squared_products():
    Z, V = unit_rows(6, 3), unit_rows(5, 3, seed=2)
    assert torch.allclose(regularizers.gravity(Z, V), (Z @ V.T).square().mean())


def test_gradient_of_glas_is_the_formula(likeness):
    V = unit_rows(7, 4).requires_grad_()
    regularizers.glas(V, likeness).backward()
    expected = 4.0 / 49.0 * (V @ V.T - likeness) @ V
    assert torch.allclose(V.grad, expected.detach())


@pytest.mark.parametrize("name", ["glas", "spread_out", "laplacian", "gravity"])
def test_gradients_match_finite_differences_in_double_precision(name, likeness):
    V = unit_rows(7, 4).requires_grad_()
    Z = unit_rows(6, 4, seed=3).requires_grad_()
    arguments = {
        "glas": lambda V, Z: regularizers.glas(V, likeness),
        "spread_out": lambda V, Z: regularizers.spread_out(V),
        "laplacian": lambda V, Z: regularizers.laplacian(V, likeness),
        "gravity": lambda V, Z: regularizers.gravity(Z, V),
    }
    assert torch.autograd.gradcheck(arguments[name], (V, Z))
