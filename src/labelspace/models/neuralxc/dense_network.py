"""Dense layers while they are being trained, and decoders with an output for each column.

A decoder ends in a table with a row for each column of the matrix that it makes again, so that a
batch works out, and moves, only the columns that it asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from labelspace.deep.row_table import RowTable
from labelspace.deep.sparse_network import activated, random_layer, to_array
from labelspace.models.neuralxc.dense_layers import DenseLayers

Floats = NDArray[np.float32]


class DenseNetwork(nn.Module):
    """Layers of given widths.

    Parameters
    ----------
    widths : sequence of int
        Inputs of the first layer, then the outputs of each; a single number means no layer at all.
    activation, end : {"relu", "tanh", "linear"}
        What follows all layers but the last, and the last.
    dropout : float
        Share of each layer's inputs that training leaves out.

    A single linear layer that keeps the width starts as the identity, and so changes nothing until
    there is something to gain by it.
    """

    def __init__(
        self,
        widths: Sequence[int],
        *,
        activation: str = "relu",
        end: str = "linear",
        dropout: float = 0.0,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        n_layers = len(widths) - 1
        self.activations = [activation] * (n_layers - 1) + [end] * min(n_layers, 1)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            random_layer(before, after, generator).to(device) for before, after in pairwise(widths)
        )
        if n_layers == 1 and widths[0] == widths[1] and end == "linear":
            with torch.no_grad():
                self._linear()[0].weight.copy_(torch.eye(widths[0]))

    def forward(self, Z: Tensor) -> Tensor:
        """Return what the layers make of a batch."""
        for layer, activation in zip(self._linear(), self.activations, strict=True):
            Z = activated(layer(self.dropout(Z)), activation)
        return Z

    @torch.no_grad()
    def exported(self) -> DenseLayers:
        """Return the layers for prediction, which needs no torch."""
        return DenseLayers(
            [(to_array(layer.weight.T), to_array(layer.bias)) for layer in self._linear()],
            list(self.activations),
        )

    @torch.no_grad()
    def load(self, layers: DenseLayers) -> None:
        """Take over what was exported."""
        for layer, (weights, bias) in zip(self._linear(), layers.layers, strict=True):
            layer.weight.copy_(torch.from_numpy(weights).T)
            layer.bias.copy_(torch.from_numpy(bias))

    def _linear(self) -> list[nn.Linear]:
        return cast("list[nn.Linear]", list(self.layers))


class ColumnDecoder(nn.Module):
    """A network whose outputs are columns, of which a batch asks for some.

    Parameters
    ----------
    widths : sequence of int
        Of the code, then of hidden layers.
    biases : ndarray of shape (n_columns,)
        Where the columns start.
    scale : float
        Length of the columns' weights at the start, and factor of their steps.
    cosine : float, optional
        If given, outputs are cosines times a length that is learned and starts here: all columns'
        weights have this length, and hidden outputs have the length one.
    activation, dropout, seed
        As in ``DenseNetwork``; the activation follows all hidden layers.
    """

    def __init__(
        self,
        widths: Sequence[int],
        biases: Floats,
        *,
        scale: float = 1.0,
        cosine: float | None = None,
        activation: str = "relu",
        dropout: float = 0.0,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        self.hidden = DenseNetwork(
            widths, activation=activation, end=activation, dropout=dropout, seed=seed, device=device
        )
        generator = torch.Generator().manual_seed(seed + 1)
        start = torch.randn(biases.size, widths[-1], generator=generator)
        start *= 1.0 / widths[-1] ** 0.5
        self.scale = scale
        self.cosine = cosine
        log_length = torch.tensor(float(np.log(cosine or 1.0)), device=device)
        self.log_length = nn.Parameter(log_length, requires_grad=cosine is not None)
        self.table = RowTable(start.to(device))
        self.biases = RowTable(torch.from_numpy(biases / scale)[:, None].to(device))

    def forward(self, Z: Tensor) -> Tensor:
        """Return the last hidden layer, of which every column is a linear map."""
        hidden = self.hidden(Z)
        return hidden if self.cosine is None else functional.normalize(hidden, dim=1)

    def columns(self, columns: Tensor) -> tuple[Tensor, Tensor]:
        """Return weights and biases of some columns, each asked for once."""
        return self._scaled(self.table.rows(columns), self.biases.rows(columns))

    @torch.no_grad()
    def all_columns(self) -> tuple[Tensor, Tensor]:
        """Return weights and biases of all columns, as they are."""
        return self._scaled(self.table.values, self.biases.values)

    @torch.no_grad()
    def load(self, layers: DenseLayers, weights: Floats, biases: Floats) -> None:
        """Take over what was exported: hidden layers, weights and biases."""
        device = self.table.values.device
        self.hidden.load(layers)
        if self.cosine is not None:
            self.log_length.fill_(float(np.log(np.linalg.norm(weights, axis=1).mean())))
        self.table.values = torch.from_numpy(weights / self.scale).to(device)
        self.biases.values = torch.from_numpy(biases[:, np.newaxis] / self.scale).to(device)

    def _scaled(self, weights: Tensor, biases: Tensor) -> tuple[Tensor, Tensor]:
        if self.cosine is not None:
            return functional.normalize(weights, dim=1) * self.log_length.exp(), biases[:, 0]
        return self.scale * weights, self.scale * biases[:, 0]
