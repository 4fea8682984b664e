"""The networks of the report's program, trained as it trains them.

Dense rows go in, and every column comes out. With d_x features, d_y labels, and decoders that end
in a sigmoid,

    L(x, y) = α/d_x ‖ψ_i(φ_i(x)) − x‖² + β/d_y ‖ψ_o(φ_o(y)) − y‖² + 1/d_y BCE(ψ_o(f(φ_i(x))), y)

with α = β = 0.01: errors are *means* over columns (``mse_loss``, ``binary_cross_entropy``), which
makes gradients small against the L2 term that Adam is told of. ``errors="sum"`` takes sums over
columns instead, as the report's formula (1) has them. Hidden layers end in ReLU, those of ψ_i in
LeakyReLU with slope 0.2 and those of φ_o with slope 0.1; codes of label sets go through tanh.
Weights start as Glorot and Bengio have them (``xavier_uniform``).
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

from labelspace import metrics
from labelspace.deep.loop import DeepTask
from labelspace.deep.sparse_network import to_array
from labelspace.encoders.network import NetworkEncoder
from labelspace.models.neuralxc.dense_layers import DenseLayers
from labelspace.models.neuralxc.label_network import LabelNetwork
from labelspace.models.neuralxc.settings import NeuralXCSettings
from labelspace.topk import TopK

_BLOCK = 1024
_LEAK_OF_ROWS, _LEAK_OF_LABELS = 0.2, 0.1


class ReportTask(DeepTask):
    """φ_i, ψ_i, φ_o, ψ_o and f on dense rows.

    Parameters
    ----------
    X, Y : csr_matrix
        Training rows; each has a label.
    settings : NeuralXCSettings
    held_out : (X, Y), optional
        Rows to measure quality on.
    seed : int
    device : torch.device or str
    """

    def __init__(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        settings: NeuralXCSettings,
        *,
        held_out: tuple[csr_matrix, csr_matrix] | None = None,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        self.X, self.Y = X, Y
        self.settings = settings
        self.held_out = held_out
        self.device = device
        self.tables = {}
        rows = (X.shape[1], *settings.hidden, settings.dim)
        labels = (Y.shape[1], *settings.label_hidden, settings.label_dim)
        between = (settings.dim, *settings.regressor_hidden, settings.label_dim)
        generator = torch.Generator().manual_seed(seed)
        leaky_rows, leaky_labels = nn.LeakyReLU(_LEAK_OF_ROWS), nn.LeakyReLU(_LEAK_OF_LABELS)
        self.encoder = _layers(rows, nn.ReLU(), generator)
        self.decoder = _layers(rows[::-1], leaky_rows, generator)
        self.label_encoder = _layers(labels, leaky_labels, generator, nn.Tanh())
        self.label_decoder = _layers(labels[::-1], nn.ReLU(), generator)
        self.regressor = _layers(between, nn.ReLU(), generator, nn.Tanh())
        if settings.label_priors:
            self._begin_at_priors()
        networks = (
            self.encoder,
            self.decoder,
            self.label_encoder,
            self.label_decoder,
            self.regressor,
        )
        self.module = nn.ModuleList(networks).to(device)

    def loss(self, rows: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Tensor]:
        told = self.settings
        x, y = self._dense(self.X[rows]), self._dense(self.Y[rows])
        code = self.encoder(x)
        scores = self.label_decoder(self.regressor(code))
        losses = {
            "fit": self._of_columns(functional.binary_cross_entropy_with_logits(scores, y), y)
        }
        losses["loss"] = losses["fit"]
        if told.alpha:
            losses["rows"] = self._squared(self.decoder(code), x)
            losses["loss"] = losses["loss"] + told.alpha * losses["rows"]
        if told.beta:
            losses["labels"] = self._squared(self.label_decoder(self.label_encoder(y)), y)
            losses["loss"] = losses["loss"] + told.beta * losses["labels"]
        return losses

    def evaluate(self) -> dict[str, float]:
        if self.held_out is None:
            return {}
        X, Y = self.held_out
        top = self.rank(X, min(5, Y.shape[1]))
        return metrics.evaluate(Y, top, ks=(1, top.k))

    def identity(self) -> str:
        parts = (self.X.indptr, self.X.indices, self.X.data, self.Y.indices)
        sums = [zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in parts]
        return f"{sums} {self.settings}"

    @torch.no_grad()
    def rank(self, X: csr_matrix, k: int) -> TopK:
        """Return the labels with the largest outputs."""
        parts = []
        for start in range(0, X.shape[0], _BLOCK):
            code = self.encoder(self._dense(X[start : start + _BLOCK]))
            best = self.label_decoder(self.regressor(code)).topk(k, dim=1)
            parts.append(TopK(best.indices.cpu().numpy(), best.values.cpu().numpy()))
        return TopK.stack(parts)

    @torch.no_grad()
    def exported(self, storage: str, n_rows: int = 1024) -> LabelNetwork:
        """Return φ_i, f and ψ_o in a form that needs no torch."""
        (first, bias), *others = _weights(self.encoder)
        *hidden, (last, biases) = _weights(self.label_decoder)
        encoder = NetworkEncoder(first, bias, others, unit=False, storage=storage)
        regressor = _weights(self.regressor)
        kinds = ["relu"] * (len(regressor) - 1) + ["tanh"] + ["relu"] * len(hidden)
        layers = DenseLayers(regressor + hidden, kinds)
        Y = self.Y[:n_rows]
        H = layers.apply(encoder.encode(self.X[:n_rows]))
        rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
        own = np.einsum("ij,ij->i", H[rows], last.T[Y.indices]) + biases[Y.indices]
        mean = H.mean(axis=0)
        at_mean = float((mean @ last + biases).mean())
        return LabelNetwork(
            encoder, layers, np.ascontiguousarray(last.T), biases, mean, float(own.mean()), at_mean
        )

    @torch.no_grad()
    def _begin_at_priors(self) -> None:
        """Let outputs begin at the log-odds of labels, which is what a label knows of itself."""
        counts = np.bincount(self.Y.indices, minlength=self.Y.shape[1])
        share = (counts + 0.5) / (self.Y.shape[0] + 1.0)
        logits = np.log(share / (1.0 - share)).astype(np.float32)
        cast(nn.Linear, self.label_decoder[-1]).bias.copy_(torch.from_numpy(logits))

    def _squared(self, scores: Tensor, wanted: Tensor) -> Tensor:
        return self._of_columns(functional.mse_loss(torch.sigmoid(scores), wanted), wanted)

    def _of_columns(self, mean: Tensor, wanted: Tensor) -> Tensor:
        """Return a mean over rows and columns as it is, or as a sum over columns."""
        return mean * wanted.shape[1] if self.settings.errors == "sum" else mean

    def _dense(self, X: csr_matrix) -> Tensor:
        return torch.from_numpy(X.toarray().astype(np.float32, copy=False)).to(self.device)


def _layers(
    widths: Sequence[int],
    activation: nn.Module,
    generator: torch.Generator,
    end: nn.Module | None = None,
) -> nn.Sequential:
    parts: list[nn.Module] = []
    for before, after in pairwise(widths):
        layer = nn.Linear(before, after)
        nn.init.xavier_uniform_(layer.weight, generator=generator)
        bound = before**-0.5
        nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
        parts += [layer, activation]
    parts[-1:] = [] if end is None else [end]
    return nn.Sequential(*parts)


def _weights(network: nn.Sequential) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    linear = [one for one in network if isinstance(one, nn.Linear)]
    return [(to_array(one.weight.T), to_array(one.bias)) for one in linear]
