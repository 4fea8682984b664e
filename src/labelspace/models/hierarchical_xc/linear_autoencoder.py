"""The auto-encoder of HierarchicalXC's program: linear layers that make rows again.

    L = 1/d ‖D(E(x)) − x‖²,   x of d features, E and D products of layers with biases

Each layer of E has half the width of the one before, until the code is no narrower than that, and
D goes the same way back. Between layers there is nothing (``GenericAutoencoder(d, 0.5, dim)``), so
that all of E is one linear map, as which it is handed on. Labels are not looked at.

Its script leaves the optimiser and the code's width to who runs it. Ours are those of the
``setups`` of the same program's NeuralXC, Adam with an L2 term of 0.0001, of which the report does
not speak. It is large against the gradients of a mean over all features, and leaves the codes few
directions.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor, nn
from torch.nn import functional

from labelspace.deep.loop import DeepSettings, DeepTask, train
from labelspace.deep.program_widths import step_size
from labelspace.deep.sparse_network import to_array
from labelspace.encoders.network import NetworkEncoder

# Of the first layer: the program's own corpora have 12.5 million at most.
_MOST_WEIGHTS = 50_000_000


class LinearAutoencoderTask(DeepTask):
    """E and D on dense rows.

    Parameters
    ----------
    X : csr_matrix
        Rows to make again.
    dim : int
        Width of the code.
    seed : int
    """

    def __init__(self, X: csr_matrix, dim: int, *, seed: int = 0) -> None:
        self.X = X
        self.tables = {}
        widths = halved(X.shape[1], dim)
        generator = torch.Generator().manual_seed(seed)
        self.encoder = _layers(widths, generator)
        self.decoder = _layers(widths[::-1], generator)
        self.module = nn.ModuleList((self.encoder, self.decoder))

    def loss(self, rows: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Tensor]:
        x = torch.from_numpy(self.X[rows].toarray().astype(np.float32, copy=False))
        return {"loss": functional.mse_loss(self.decoder(self.encoder(x)), x)}

    def identity(self) -> str:
        parts = (self.X.indptr, self.X.indices, self.X.data)
        return str([zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in parts])

    @torch.no_grad()
    def exported(self) -> NetworkEncoder:
        """Return E as the one linear map that it is."""
        bias = self.encoder(torch.zeros(1, self.X.shape[1]))[0]
        first, *others = (cast(nn.Linear, layer).weight for layer in self.encoder)
        weights: Tensor = first.T
        for layer in others:
            weights = functional.linear(weights, layer)
        return NetworkEncoder(
            to_array(weights),
            to_array(bias),
            [],
            activation="linear",
            unit=False,
            storage="float32",
        )


def learn_linear_autoencoder(
    X: csr_matrix, dim: int, *, l2: float = 0.0, seed: int
) -> NetworkEncoder:
    """Return what encodes rows in ``dim`` dimensions, or as many as there are features if fewer.

    Ten passes in batches of 64 and Adam with steps that stay: what the program's arguments are if
    none are given, and the optimiser of its ``setups``, with its L2 term if asked to.

    Examples
    --------
    >>> X = csr_matrix(np.eye(4, dtype=np.float32)[np.arange(100) % 4])
    >>> learn_linear_autoencoder(X, dim=2, seed=0).encode(X).shape
    (100, 2)
    """
    task = LinearAutoencoderTask(X, min(dim, X.shape[1]), seed=seed)
    train(task, X.shape[0], training(X.shape[1], l2=l2, seed=seed))
    return task.exported()


def training(n_features: int, *, l2: float = 0.0, seed: int) -> DeepSettings:
    """Return how the program trains it."""
    return DeepSettings(
        n_epochs=10,
        batch_size=64,
        learning_rate=step_size(n_features),
        rule="adam-l2",
        decay=False,
        weight_decay=l2,
        seed=seed,
    )


def halved(n_features: int, dim: int) -> list[int]:
    """Return the widths from rows to codes, without those that no memory would hold.

    >>> halved(1836, 256), halved(500, 125)
    ([1836, 918, 459, 256], [500, 250, 125])
    >>> halved(100_000, 300)
    [100000, 390, 300]
    """
    widths, width = [], n_features // 2
    while width > dim:
        widths.append(width)
        width //= 2
    return [n_features, *(one for one in widths if n_features * one <= _MOST_WEIGHTS), dim]


def _layers(widths: Sequence[int], generator: torch.Generator) -> nn.Sequential:
    """Return layers that start as torch's do: uniform within 1/√inputs."""
    layers = []
    for before, after in pairwise(widths):
        layer = nn.Linear(before, after)
        for learned in (layer.weight, layer.bias):
            nn.init.uniform_(learned, -(before**-0.5), before**-0.5, generator=generator)
        layers.append(layer)
    return nn.Sequential(*layers)
