from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labelspace.models.neuralxc.dense_network import ColumnDecoder, DenseNetwork


@pytest.mark.parametrize("end", ["linear", "tanh", "relu"])
@pytest.mark.parametrize("widths", [(4,), (4, 6), (4, 6, 5, 3)])
def test_exported_layers_give_the_same_numbers(widths, end):
    network = DenseNetwork(widths, activation="tanh", end=end).eval()
    Z = torch.randn(7, 4, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = network(Z).numpy()
    layers = network.exported()
    assert np.allclose(layers.apply(Z.numpy()), expected, atol=1e-5)
    again = DenseNetwork(widths, activation="tanh", end=end, seed=9).eval()
    again.load(layers)
    with torch.no_grad():
        assert np.allclose(again(Z).numpy(), expected, atol=1e-6)


def test_a_single_layer_that_keeps_the_width_starts_as_the_identity():
    Z = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(DenseNetwork((4, 4))(Z), Z)


def test_layers_can_be_put_together_and_taken_apart():
    first, second = DenseNetwork((4, 6)).exported(), DenseNetwork((6, 3), end="tanh").exported()
    both = first.then(second)
    Z = np.ones((2, 4), dtype=np.float32)
    assert np.allclose(both.apply(Z), second.apply(first.apply(Z)))
    assert np.allclose(both.part(1, None).apply(first.apply(Z)), both.apply(Z))


def test_only_columns_that_are_asked_for_get_a_gradient():
    decoder = ColumnDecoder((4, 5), np.zeros(10, dtype=np.float32))
    weights, biases = decoder.columns(torch.tensor([2, 7]))
    (decoder(torch.ones(3, 4)) @ weights.T + biases).sum().backward()
    [(columns, gradient)] = decoder.table.pop_gradients()
    assert columns.tolist() == [2, 7]
    assert gradient.shape == (2, 5)
    [(columns, gradient)] = decoder.biases.pop_gradients()
    assert gradient[:, 0].tolist() == [3.0, 3.0]


def test_outputs_may_be_cosines_of_one_length():
    decoder = ColumnDecoder((4,), np.zeros(6, dtype=np.float32), cosine=20.0)
    weights, _ = decoder.all_columns()
    assert torch.allclose(weights.norm(dim=1), torch.tensor(20.0))
    assert torch.allclose(decoder(torch.randn(3, 4)).norm(dim=1), torch.tensor(1.0))
    again = ColumnDecoder((4,), np.zeros(6, dtype=np.float32), cosine=3.0, seed=5)
    again.load(decoder.hidden.exported(), weights.numpy(), np.ones(6, dtype=np.float32))
    loaded, biases = again.all_columns()
    assert torch.allclose(loaded, weights, atol=1e-4)
    assert biases.tolist() == [1.0] * 6
