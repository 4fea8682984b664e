from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")

from labelspace.deep.row_table import RowTable
from labelspace.deep.sparse_network import SparseBatch, SparseNetwork, table_sums


@pytest.fixture
def X() -> csr_matrix:
    rng = np.random.default_rng(0)
    drawn = rng.random((6, 10)) * (rng.random((6, 10)) < 0.4)
    drawn[2] = 0
    drawn[:, 7] = 0
    return csr_matrix(drawn, dtype=np.float32)


def dense_answer(network: SparseNetwork, X: csr_matrix, table):
    hidden = torch.from_numpy(X.toarray()) @ table + network.bias
    for layer in network.layers:
        hidden = torch.relu(hidden) @ layer.weight.T + layer.bias
    return torch.nn.functional.normalize(hidden, dim=1)


def test_rows_land_on_the_sphere(X):
    Z = SparseNetwork(10, (8, 5), activation="linear").eval()(SparseBatch.of(X))
    lengths = Z.detach().norm(dim=1)
    assert np.array_equal(lengths.numpy().round(4), np.diff(X.indptr) > 0)


def test_gradient_of_the_table_is_that_of_a_dense_product(X):
    network = SparseNetwork(10, (8, 5))
    pull = torch.from_numpy(np.random.default_rng(1).standard_normal((6, 5)).astype(np.float32))
    (network(SparseBatch.of(X)) * pull).sum().backward()
    [(features, gradient)] = network.table.pop_gradients()
    table = network.table.values.clone().requires_grad_()
    (dense_answer(network, X, table) * pull).sum().backward()
    assert 7 not in features.tolist(), "a feature that no row has is not touched"
    assert torch.allclose(gradient, table.grad[features], atol=1e-5)


@pytest.mark.parametrize("weight_norm", [False, True])
@pytest.mark.parametrize("widths", [(5,), (8, 5), (8, 6, 5)])
def test_exported_network_gives_the_same_vectors(X, widths, weight_norm):
    network = SparseNetwork(10, widths, weight_norm=weight_norm).eval()
    with torch.no_grad():
        expected = network(SparseBatch.of(X)).numpy()
    got = network.exported("float32").encode(X)
    assert np.allclose(got, expected, atol=1e-5)
    again = SparseNetwork(10, widths, seed=9).eval()
    again.load(network.exported("float32"))
    with torch.no_grad():
        assert np.allclose(again(SparseBatch.of(X)).numpy(), expected, atol=1e-5)


def test_weight_norm_gives_all_outputs_one_length(X):
    network = SparseNetwork(10, (8, 5), weight_norm=True)
    exported = network.exported("float32")
    assert np.allclose(np.linalg.norm(exported.first.to_float(), axis=0), 1.0, atol=1e-5)
    assert np.allclose(np.linalg.norm(exported.layers[0][0], axis=0), 1.0, atol=1e-5)


def test_input_dropout_keeps_a_share_and_its_sum():
    X = csr_matrix(np.ones((50, 200), dtype=np.float32))
    batch = SparseBatch.of(X, keep=0.25, rng=np.random.default_rng(0))
    assert batch.X.nnz == pytest.approx(2500, rel=0.1)
    assert np.all(batch.X.data == 4.0)
    assert batch.X.shape == X.shape


@pytest.mark.parametrize("activation", ["relu", "tanh", "linear"])
def test_a_network_need_not_end_on_the_sphere(X, activation):
    network = SparseNetwork(10, (8, 5), activation=activation, unit=False).eval()
    with torch.no_grad():
        table = network.table.values
        hidden = torch.from_numpy(X.toarray()) @ table + network.bias
        between = {"relu": torch.relu, "tanh": torch.tanh, "linear": lambda value: value}
        [layer] = network.layers
        expected = between[activation](hidden) @ layer.weight.T + layer.bias
        assert torch.allclose(network(SparseBatch.of(X)), expected, atol=1e-6)
    assert np.allclose(network.exported("float32").encode(X), expected.numpy(), atol=1e-5)


def test_a_batch_without_features_leaves_the_table_alone():
    table = RowTable(torch.eye(4))
    sums = table_sums(table, SparseBatch.of(csr_matrix((3, 4), dtype=np.float32)))
    sums.sum().backward()
    assert sums.shape == (3, 4)
    assert torch.equal(table.values, torch.eye(4))


def test_gradient_of_weight_norm_is_that_of_trainable_directions(X):
    # w_j = g · d_j / ‖d_j‖: the length of a direction moves with it, also where no row has a
    # feature.
    network = SparseNetwork(10, (8, 5), weight_norm=True)
    pull = torch.from_numpy(np.random.default_rng(1).standard_normal((6, 5)).astype(np.float32))
    (network(SparseBatch.of(X)) * pull).sum().backward()
    [(features, gradient)] = network.table.pop_gradients()
    assert features.tolist() == list(range(10))
    found = network.lengths.grad.clone()
    network.lengths.grad = None
    table = network.table.values.clone().requires_grad_()
    first = network.lengths[0] * table / table.norm(dim=0)
    [layer] = network.layers
    second = network.lengths[1] * torch.nn.functional.normalize(layer.weight, dim=1)
    hidden = torch.from_numpy(X.toarray()) @ first + network.bias
    hidden = torch.relu(hidden) @ second.T + layer.bias
    (torch.nn.functional.normalize(hidden, dim=1) * pull).sum().backward()
    assert torch.allclose(gradient, table.grad, atol=1e-4, rtol=1e-4)
    assert gradient[7].abs().max() > 1e-3
    assert torch.allclose(found, network.lengths.grad, atol=1e-5)


def test_lengths_are_measured_at_every_step(X):
    network = SparseNetwork(10, (8, 5), weight_norm=True).eval()
    with torch.no_grad():
        before = network(SparseBatch.of(X))
        network.table.values.mul_(3.0)
        assert torch.allclose(network(SparseBatch.of(X)), before, atol=1e-5)
