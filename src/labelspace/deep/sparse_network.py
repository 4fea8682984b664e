"""The network x → z from sparse features to a short vector, while it is being trained.

The first layer adds up table rows of a row's features, so that its cost is non-zeros × width
whatever the number of features. Its gradient is the same sum over the transposed batch: one row for
each feature that the batch has, nothing for the others. Dense layers follow, with ReLU or tanh
between them, and at the end vectors are put on the unit sphere unless asked not to.
``weight_norm`` is the form of weight normalisation in which every output of a layer has a direction
of its own and all share one length, w_j = g · d_j / ‖d_j‖. A direction's length depends on all
features, so there every row of the table has a gradient, not only those of the batch.

Input dropout keeps each non-zero with probability ρ and divides it by ρ, unless told not to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix
from torch import Tensor, nn
from torch.nn import functional

from labelspace.deep.row_table import RowTable
from labelspace.encoders.network import NetworkEncoder


@dataclass(frozen=True)
class SparseBatch:
    """Sparse rows as the network wants them: by row, and by feature for the way back."""

    X: csr_matrix
    device: torch.device | str

    @staticmethod
    def of(
        X: csr_matrix,
        device: torch.device | str = "cpu",
        *,
        keep: float = 1.0,
        rescaled: bool = True,
        rng: np.random.Generator | None = None,
    ) -> SparseBatch:
        """Return the rows of ``X``, of whose non-zeros a share ``keep`` is kept.

        Those are divided by ``keep`` if ``rescaled``, so that sums are the same on average.
        """
        if keep < 1.0 and rng is not None:
            X = _dropped(X, keep, rng, divisor=keep if rescaled else 1.0)
        return SparseBatch(X, device)

    def sums(self, table: Tensor) -> Tensor:
        """Return for each row the sum of its features' table rows."""
        return _bags(self.X.indices, self.X.data, self.X.indptr[:-1], table)

    def sums_by_feature(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the features that the batch has, and for each the sum of ``rows`` that have it."""
        columns = csc_matrix(self.X)
        own = np.flatnonzero(np.diff(columns.indptr))
        sums = _bags(columns.indices, columns.data, columns.indptr[own], rows)
        return torch.from_numpy(own).to(self.device), sums


def _bags(
    which: NDArray[Any], weights: NDArray[Any], starts: NDArray[Any], table: Tensor
) -> Tensor:
    def put(array: NDArray[Any], dtype: Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, dtype=dtype)).to(table.device)

    return functional.embedding_bag(
        put(which, np.int64),
        table,
        put(starts, np.int64),
        mode="sum",
        per_sample_weights=put(weights, np.float32).to(table.dtype),
    )


def _dropped(X: csr_matrix, keep: float, rng: np.random.Generator, divisor: float) -> csr_matrix:
    kept = rng.random(X.nnz, dtype=np.float32) < keep
    sums = np.concatenate(([0], np.cumsum(kept)))
    return csr_matrix((X.data[kept] / divisor, X.indices[kept], sums[X.indptr]), shape=X.shape)


class _TableSums(torch.autograd.Function):
    """Sums of table rows; what flows back stays in the table."""

    @staticmethod
    def forward(ctx: Any, table: RowTable, batch: SparseBatch, anchor: Tensor) -> Tensor:
        ctx.table, ctx.batch = table, batch
        return batch.sums(table.values)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        features, rows = ctx.batch.sums_by_feature(gradients[0].contiguous())
        if features.numel():
            ctx.table.add_gradient(features, rows)
        return None, None, None


def table_sums(table: RowTable, batch: SparseBatch) -> Tensor:
    """Return the weighted sums of table rows that a batch asks for; the table finds its gradient.

    >>> import torch
    >>> rows = SparseBatch.of(csr_matrix([[0.0, 2.0, 1.0]], dtype=np.float32))
    >>> table_sums(RowTable(torch.eye(3)), rows).tolist()
    [[0.0, 2.0, 1.0]]
    """
    # Gradients flow into the table by the side; a tensor that wants one makes autograd walk there.
    anchor = torch.zeros((), requires_grad=True)
    return cast(Tensor, _TableSums.apply(table, batch, anchor))


class _DirectionSums(torch.autograd.Function):
    """Sums of the rows of a table whose columns are scaled to length one.

    With S = X T, n_j the length of T's column j and H_ij = S_ij / n_j,

        dL/dT = Xᵀ (dL/dH / n) − T · (Σ_i dL/dH_ij H_ij) / n_j².
    """

    @staticmethod
    def forward(ctx: Any, table: RowTable, batch: SparseBatch, anchor: Tensor) -> Tensor:
        lengths = _column_lengths(table.values)
        sums = batch.sums(table.values).div_(lengths)
        ctx.table, ctx.batch = table, batch
        ctx.save_for_backward(sums, lengths)
        return sums

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        sums, lengths = ctx.saved_tensors
        values = ctx.table.values
        along = (gradients[0] * sums).sum(dim=0) / lengths.square()
        features, rows = ctx.batch.sums_by_feature((gradients[0] / lengths).contiguous())
        gradient = values * -along
        gradient.index_add_(0, features, rows)
        ctx.table.add_gradient(torch.arange(values.shape[0], device=values.device), gradient)
        return None, None, None


def direction_sums(table: RowTable, batch: SparseBatch) -> Tensor:
    """Return the same of a table whose columns count by their direction alone.

    >>> import torch
    >>> rows = SparseBatch.of(csr_matrix([[0.0, 2.0]], dtype=np.float32))
    >>> direction_sums(RowTable(torch.tensor([[3.0], [4.0]])), rows).tolist()
    [[1.6...]]
    """
    anchor = torch.zeros((), requires_grad=True)
    return cast(Tensor, _DirectionSums.apply(table, batch, anchor))


def _column_lengths(values: Tensor) -> Tensor:
    return values.norm(dim=0).clamp_min(1e-6)


class SparseNetwork(nn.Module):
    """A network of given widths from sparse rows to the unit sphere, or to all of space.

    Parameters
    ----------
    n_features : int
    widths : sequence of int
        Outputs of each layer; the last is the dimension of the space.
    activation : {"relu", "tanh", "linear"}
        What stands between layers.
    weight_norm : bool
        Whether outputs of a layer share one length of weights.
    dropout : float
        Share of hidden outputs that training leaves out.
    unit : bool
        Whether vectors are scaled to length one.
    output_dropout : float
        Share of the last layer's outputs that training leaves out.
    seed : int
    """

    def __init__(
        self,
        n_features: int,
        widths: Sequence[int],
        *,
        activation: str = "relu",
        weight_norm: bool = False,
        dropout: float = 0.0,
        unit: bool = True,
        output_dropout: float = 0.0,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.activation = activation
        self.weight_norm = weight_norm
        self.dropout = nn.Dropout(dropout)
        self.unit = unit
        self.output_dropout = nn.Dropout(output_dropout)
        # Small at first: a feature that is too rare to learn from should not add noise.
        # In place: the table may be the largest part of the model.
        start = torch.randn(n_features, widths[0], generator=generator)
        self.table = RowTable(start.mul_(0.1).div_(widths[0] ** 0.5).to(device))
        self.bias = nn.Parameter(torch.zeros(widths[0], device=device))
        self.layers = nn.ModuleList(
            random_layer(before, after, generator).to(device) for before, after in pairwise(widths)
        )
        lengths = torch.ones(len(widths), device=device)
        self.lengths = nn.Parameter(lengths, requires_grad=weight_norm)

    def forward(self, batch: SparseBatch) -> Tensor:
        """Return the vectors of a batch."""
        if self.weight_norm:
            hidden = self.lengths[0] * direction_sums(self.table, batch)
        else:
            hidden = table_sums(self.table, batch)
        hidden = hidden + self.bias
        for number, layer in enumerate(self._linear()):
            hidden = self.dropout(activated(hidden, self.activation))
            weight = self._weight(layer, number)
            hidden = functional.linear(hidden, weight, layer.bias)
        hidden = self.output_dropout(hidden)
        return functional.normalize(hidden, dim=1) if self.unit else hidden

    @torch.no_grad()
    def load(self, encoder: NetworkEncoder) -> None:
        """Take over what was exported, into a network of the same widths without weight norm."""
        self.table.values.copy_(torch.from_numpy(encoder.first.to_float()))
        self.bias.copy_(torch.from_numpy(encoder.bias))
        for layer, (weights, bias) in zip(self._linear(), encoder.layers, strict=True):
            layer.weight.copy_(torch.from_numpy(weights).T)
            layer.bias.copy_(torch.from_numpy(bias))

    @torch.no_grad()
    def exported(self, storage: str = "int8") -> NetworkEncoder:
        """Return the network for prediction, which needs no torch."""
        first = self.table.values
        if self.weight_norm:
            first = first * (self.lengths[0] / _column_lengths(first))
        layers = [
            (to_array(self._weight(layer, number).T), to_array(layer.bias))
            for number, layer in enumerate(self._linear())
        ]
        return NetworkEncoder(
            to_array(first),
            to_array(self.bias),
            layers,
            activation=self.activation,
            unit=self.unit,
            storage=storage,
        )

    def _linear(self) -> list[nn.Linear]:
        return cast("list[nn.Linear]", list(self.layers))

    def _weight(self, layer: nn.Linear, number: int) -> Tensor:
        if self.weight_norm:
            return self.lengths[number + 1] * functional.normalize(layer.weight, dim=1)
        return layer.weight


def activated(hidden: Tensor, activation: str) -> Tensor:
    """Return what goes on from a layer to the next."""
    if activation == "relu":
        return torch.relu(hidden)
    return torch.tanh(hidden) if activation == "tanh" else hidden


def random_layer(before: int, after: int, generator: torch.Generator) -> nn.Linear:
    """Return a layer to start from, so drawn that sizes stay through it and a relu."""
    layer = nn.Linear(before, after)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(after, before, generator=generator) * (2.0 / before) ** 0.5)
        layer.bias.zero_()
    return layer


def to_array(tensor: Tensor) -> NDArray[np.float32]:
    """Return what prediction keeps of a tensor."""
    return np.ascontiguousarray(tensor.detach().cpu().numpy(), dtype=np.float32)
