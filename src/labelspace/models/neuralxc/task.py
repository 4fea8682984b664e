"""Two auto-encoders and a regressor, trained together.

    x ──φ_i──► z ──ψ_i──► x̂            y ──φ_o──► c ──ψ_o──► ŷ
               └────f───► c' ──ψ_o──► p

    L = α ‖x̂ − x‖² + β ‖ŷ − y‖² + BCE(p, y)

Both encoders read sparse rows, both decoders work out a sample of columns, and the same sample of
labels serves ŷ and p, so that a step costs rows × sample and never rows × columns.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from labelspace import metrics
from labelspace.deep import label_losses
from labelspace.deep.loop import DeepTask
from labelspace.deep.row_table import RowTable
from labelspace.deep.sparse_network import SparseBatch, SparseNetwork, activated
from labelspace.encoders.network import NetworkEncoder
from labelspace.models.neuralxc.autoencoder_settings import AutoencoderSettings
from labelspace.models.neuralxc.column_sampling import sample_columns
from labelspace.models.neuralxc.dense_layers import DenseLayers
from labelspace.models.neuralxc.dense_network import ColumnDecoder, DenseNetwork
from labelspace.models.neuralxc.reconstruction import (
    ReconstructionTarget,
    sampled_squared_error,
    squared_probability_error,
)
from labelspace.topk import TopK

Floats = NDArray[np.float32]
_BLOCK = 1024
# Features are small numbers: rows made again start near the mean row and take small steps.
_FEATURE_SCALE = 0.02


class AutoencoderTask(DeepTask):
    """Auto-encoders of rows and labels, and the way from one code to the other.

    Parameters
    ----------
    X, Y : csr_matrix
        Training rows; each has a label.
    settings : AutoencoderSettings
    held_out : (X, Y), optional
        Rows to measure quality on.
    start : (φ_i, f and hidden layers of ψ_o, last layer of ψ_o, its biases), optional
        What was learned before, to learn on from.
    seed : int
    device : torch.device or str
    """

    def __init__(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        settings: AutoencoderSettings,
        *,
        held_out: tuple[csr_matrix, csr_matrix] | None = None,
        start: tuple[NetworkEncoder, DenseLayers, Floats, Floats] | None = None,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        self.X = X
        self.Y = Y
        self.settings = settings
        self.held_out = held_out
        self.device = device
        self.counts = np.bincount(Y.indices, minlength=Y.shape[1])
        self._build(seed)
        if start is not None:
            self._load(*start)
        self.module = nn.ModuleDict(self._modules())
        self.tables = self._tables()

    def loss(self, rows: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Tensor]:
        chosen = self.settings
        X, Y = self.X[rows], self.Y[rows]
        Z = self.encoder(SparseBatch.of(X, self.device, keep=chosen.keep_features, rng=rng))
        codes = [self.regressor(Z)]
        if chosen.beta:
            batch = SparseBatch.of(Y, self.device, keep=chosen.keep_labels, rng=rng)
            codes.append(activated(self.label_encoder(batch), chosen.code))
        sample = sample_columns(Y.shape[1], chosen.n_sampled, Y.indices, rng)
        weights = None if sample.weights is None else self._tensor(sample.weights)
        relevant = self._tensor(_dense_columns(Y, sample.columns))
        W, biases = self.label_decoder.columns(self._tensor(sample.columns))
        scores = torch.addmm(biases, self.label_decoder(torch.cat(codes)), W.T)
        fit = label_losses.binary(scores[: len(rows)], relevant, weights)
        losses = {"loss": fit, "fit": fit}
        if chosen.beta:
            losses["labels"] = squared_probability_error(scores[len(rows) :], relevant, weights)
            losses["loss"] = losses["loss"] + chosen.beta * losses["labels"]
        if chosen.alpha:
            some = slice(0, chosen.n_rebuilt)
            losses["rows"] = self._row_error(Z[some], X[some], rng)
            losses["loss"] = losses["loss"] + chosen.alpha * losses["rows"]
        return losses

    def _row_error(self, Z: Tensor, X: csr_matrix, rng: np.random.Generator) -> Tensor:
        none = np.zeros(0, dtype=np.int64)
        sample = sample_columns(X.shape[1], self.settings.n_zeros, none, rng)
        rows = ReconstructionTarget.of(X, sample.columns, self.device)
        W, biases = self.decoder.columns(self._tensor(rows.columns))
        return sampled_squared_error(self.decoder(Z), W, biases, rows)

    def evaluate(self) -> dict[str, float]:
        if self.held_out is None:
            return {}
        X, Y = self.held_out
        top = self.rank(X, min(5, Y.shape[1]))
        found = metrics.evaluate(Y, top, ks=(1, top.k))
        learned = slice(0, X.shape[0])
        known = metrics.evaluate(self.Y[learned], self.rank(self.X[learned], 1), ks=(1,))
        return found | {"train P@1": known["P@1"]}

    def identity(self) -> str:
        parts = (self.X.indptr, self.X.indices, self.X.data, self.Y.indices)
        sums = [zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in parts]
        return f"{sums} {self.settings}"

    @torch.no_grad()
    def rank(self, X: csr_matrix, k: int) -> TopK:
        """Return the labels with the largest scores, all labels looked at."""
        table, biases = self.label_decoder.all_columns()
        parts = []
        for start in range(0, X.shape[0], _BLOCK):
            H = self._last_hidden(X[start : start + _BLOCK])
            best = torch.addmm(biases, H, table.T).topk(k, dim=1)
            parts.append(TopK(best.indices.cpu().numpy(), best.values.cpu().numpy()))
        return TopK.stack(parts)

    @torch.no_grad()
    def output_statistics(self, n_rows: int = 1024) -> tuple[Floats, float, float]:
        """Return the mean of some rows before the last layer, and two mean scores.

        The scores are those of the rows' own labels, and of all labels.
        """
        H = self._last_hidden(self.X[:n_rows])
        Y = self.Y[:n_rows]
        table, biases = self.label_decoder.all_columns()
        rows = self._tensor(np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)))
        own = self._tensor(Y.indices.astype(np.int64))
        own_scores = (H[rows] * table[own]).sum(dim=1) + biases[own]
        mean = H.mean(dim=0)
        mean_scores = table @ mean + biases
        return mean.cpu().numpy(), float(own_scores.mean()), float(mean_scores.mean())

    def _last_hidden(self, X: csr_matrix) -> Tensor:
        Z = self.encoder(SparseBatch.of(X, self.device))
        return self.label_decoder(self.regressor(Z))

    def exported_layers(self) -> DenseLayers:
        """Return f and the hidden layers of ψ_o, for prediction."""
        return self.regressor.exported().then(self.label_decoder.hidden.exported())

    @torch.no_grad()
    def output_layer(self) -> tuple[Floats, Floats]:
        """Return weights and biases of ψ_o's last layer."""
        table, biases = self.label_decoder.all_columns()
        return table.cpu().numpy().copy(), biases.cpu().numpy().copy()

    def _build(self, seed: int) -> None:
        chosen = self.settings
        both: dict[str, Any] = {
            "activation": chosen.activation,
            "dropout": chosen.dropout,
            "device": self.device,
        }
        n_features, n_labels = self.X.shape[1], self.Y.shape[1]
        widths = (*chosen.hidden, chosen.dim)
        label_widths = (*chosen.label_hidden, chosen.label_dim)
        self.encoder = SparseNetwork(n_features, widths, unit=False, seed=seed, **both)
        regressor_widths = (chosen.dim, *chosen.regressor_hidden, chosen.label_dim)
        self.regressor = DenseNetwork(regressor_widths, end=chosen.code, seed=seed + 1, **both)
        # The logit of each label's frequency is what a label knows of itself.
        share = (self.counts + 0.5) / (self.X.shape[0] + 1.0)
        logits = np.log(share / (1.0 - share)).astype(np.float32)
        self.label_decoder = ColumnDecoder(
            label_widths[::-1], logits, cosine=chosen.cosine or None, seed=seed + 2, **both
        )
        if chosen.beta:
            self.label_encoder = SparseNetwork(
                n_labels, label_widths, unit=False, seed=seed + 3, **both
            )
        if chosen.alpha:
            means = np.zeros(n_features, dtype=np.float32)
            if self.X.shape[0]:
                means = np.asarray(self.X.mean(axis=0), dtype=np.float32).ravel()
            self.decoder = ColumnDecoder(
                widths[::-1], means, scale=_FEATURE_SCALE, seed=seed + 4, **both
            )

    def _load(
        self, encoder: NetworkEncoder, layers: DenseLayers, weights: Floats, biases: Floats
    ) -> None:
        self.encoder.load(encoder)
        n_regressor = len(self.regressor.activations)
        self.regressor.load(layers.part(0, n_regressor))
        self.label_decoder.load(layers.part(n_regressor, None), weights, biases)

    def _modules(self) -> dict[str, nn.Module]:
        found: dict[str, nn.Module] = {
            "encoder": self.encoder,
            "regressor": self.regressor,
            "label_decoder": self.label_decoder,
        }
        if self.settings.beta:
            found["label_encoder"] = self.label_encoder
        if self.settings.alpha:
            found["decoder"] = self.decoder
        return found

    def _tables(self) -> dict[str, RowTable]:
        found = {
            "features": self.encoder.table,
            "labels": self.label_decoder.table,
            "label biases": self.label_decoder.biases,
        }
        if self.settings.beta:
            found["read labels"] = self.label_encoder.table
        if self.settings.alpha:
            found["features again"] = self.decoder.table
            found["feature biases"] = self.decoder.biases
        return found

    def _tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


def _dense_columns(Y: csr_matrix, columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return some columns of ``Y``, ascending, which have all its non-zeros."""
    relevant = np.zeros((Y.shape[0], columns.size), dtype=np.bool_)
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    relevant[rows, np.searchsorted(columns, Y.indices)] = True
    return relevant
