"""Rows and labels on one sphere: the task that GLaS trains (its algorithms 1 and 2).

A batch's rows go through the network, their labels and some others are looked up, and the loss of
the scores h = s·z·v + b is made small together with λ times a regulariser on the vectors of the
labels that were drawn for the rows.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor, nn
from torch.nn import functional

from labelspace import metrics
from labelspace.deep import label_losses
from labelspace.deep.label_sample import LabelSample, LabelSampler
from labelspace.deep.loop import DeepTask
from labelspace.deep.row_table import RowTable
from labelspace.deep.sparse_network import SparseBatch, SparseNetwork
from labelspace.encoders.network import NetworkEncoder
from labelspace.graph.cooccurrence import dense_block
from labelspace.models.glas import regularizers
from labelspace.models.glas.joint_embedding import LearnedNetwork
from labelspace.models.glas.settings import GLaSSettings
from labelspace.topk import TopK

Floats = NDArray[np.float32]

_BLOCK = 1024


class GLaSTask(DeepTask):
    """Rows and labels on one sphere.

    Parameters
    ----------
    X, Y : csr_matrix
        Training rows; each has a label.
    settings : GLaSSettings
    likeness : csr_matrix of shape (n_labels, n_labels), optional
        For the regularisers that ask which labels come together.
    held_out : (X, Y), optional
        Rows to measure quality on.
    start : (network, label vectors, biases), optional
        What was learned before, to learn on from.
    seed : int
    device : torch.device or str
    """

    def __init__(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        settings: GLaSSettings,
        *,
        likeness: csr_matrix | None = None,
        held_out: tuple[csr_matrix, csr_matrix] | None = None,
        start: tuple[NetworkEncoder, Floats, Floats] | None = None,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        self.X = X
        self.settings = settings
        self.likeness = likeness
        self.held_out = held_out
        self.device = device
        self.sampler = LabelSampler(Y, settings.n_sampled)
        self.counts = np.bincount(Y.indices, minlength=Y.shape[1])
        self.network = SparseNetwork(
            X.shape[1],
            settings.widths,
            activation=settings.activation,
            weight_norm=settings.weight_norm,
            seed=seed,
            device=device,
        )
        self.module = self.network
        log_scale = torch.tensor(float(np.log(settings.scale)), device=device)
        self.log_scale = nn.Parameter(log_scale, requires_grad=settings.biases)
        self.network.register_parameter("log_scale", self.log_scale)
        if start is None:
            vectors, biases = self._first_vectors(seed), self._first_biases()
        else:
            encoder, vectors, biases = start
            self.network.load(encoder)
        self.labels = RowTable(torch.from_numpy(vectors).to(device))
        self.biases = RowTable(torch.from_numpy(biases)[:, None].to(device))
        self.tables = {"features": self.network.table, "labels": self.labels}
        if settings.biases:
            self.tables["biases"] = self.biases

    def loss(self, rows: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Tensor]:
        sample = self.sampler.draw(rows, rng)
        told = self.settings
        batch = SparseBatch.of(
            self.X[rows],
            self.device,
            keep=told.keep_features,
            rescaled=told.rescale_kept,
            rng=rng,
        )
        ids = self._put(sample.labels)
        Z = self.network(batch)
        V = functional.normalize(self.labels.rows(ids), dim=1)
        scores = Z @ V.T
        if self.settings.loss in ("binary", "softmax"):
            scores = scores * self.log_scale.exp()
        if self.settings.biases:
            scores = scores + self.biases.rows(ids)[:, 0]
        fit = self._fit(scores, sample)
        if self.settings.regularizer == "none" or not self.settings.regularizer_weight:
            return {"loss": fit}
        penalty = self._penalty(Z, V, sample)
        return {
            "loss": fit + self.settings.regularizer_weight * penalty,
            "fit": fit,
            "penalty": penalty,
        }

    def evaluate(self) -> dict[str, float]:
        if self.held_out is None:
            return {}
        X, Y = self.held_out
        n_examples = self.sampler.Y.shape[0]
        top = self.rank(X, min(5, Y.shape[1]))
        found = metrics.evaluate(
            Y, top, ks=(1, top.k), label_counts=self.counts, n_examples=n_examples
        )
        learned = slice(0, X.shape[0])
        known = metrics.evaluate(self.sampler.Y[learned], self.rank(self.X[learned], 1), ks=(1,))
        return found | {"train P@1": known["P@1"]}

    def identity(self) -> str:
        parts = (self.X.indptr, self.X.indices, self.X.data, self.sampler.Y.indices)
        sums = [zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in parts]
        return f"{sums} {self.settings}"

    @torch.no_grad()
    def rank(self, X: csr_matrix, k: int) -> TopK:
        """Return the labels with the largest scores, all labels looked at."""
        V = functional.normalize(self.labels.values, dim=1)
        parts = []
        for start in range(0, X.shape[0], _BLOCK):
            Z = self.network(SparseBatch.of(X[start : start + _BLOCK], self.device))
            scores = self.score_scale * (Z @ V.T) + self.biases.values[:, 0]
            best = scores.topk(k, dim=1)
            parts.append(TopK(best.indices.cpu().numpy(), best.values.cpu().numpy()))
        return TopK.stack(parts)

    @property
    def score_scale(self) -> float:
        """s, by which inner products are multiplied before a bias is added."""
        if self.settings.loss in ("binary", "softmax"):
            return float(self.log_scale.detach().exp())
        return 1.0

    def exported(self, storage: str) -> LearnedNetwork:
        """Return what has been learned, in a form that needs no torch."""
        vectors, biases = self.label_vectors()
        return LearnedNetwork(self.network.exported(storage), vectors, biases, self.score_scale)

    @torch.no_grad()
    def label_vectors(self) -> tuple[Floats, Floats]:
        """Return unit vectors of labels, and their biases."""
        V = functional.normalize(self.labels.values, dim=1)
        return V.cpu().numpy().copy(), self.biases.values[:, 0].cpu().numpy().copy()

    def _fit(self, scores: Tensor, sample: LabelSample) -> Tensor:
        relevant = self._put(sample.relevant)
        chosen = self._put(sample.chosen)
        weights = None if sample.weights is None else self._put(sample.weights)
        told = self.settings
        if told.loss == "margin":
            return label_losses.margin(scores, relevant, chosen, told.margin)
        if told.loss == "mining":
            return label_losses.negative_mining(
                scores, relevant, chosen, told.margin, told.n_hardest
            )
        if told.loss == "softmax":
            target = None if told.all_positives else chosen
            return label_losses.softmax(scores, relevant, target, weights)
        return label_losses.binary(scores, relevant, weights)

    def _penalty(self, Z: Tensor, V: Tensor, sample: LabelSample) -> Tensor:
        drawn, often = np.unique(sample.chosen, return_inverse=True)
        repeated = self.settings.keep_duplicates
        some = V[self._put(drawn[often] if repeated else drawn)]
        kind = self.settings.regularizer
        if kind == "gravity":
            return regularizers.gravity(Z, some)
        if kind == "spread-out":
            return regularizers.spread_out(some)
        assert self.likeness is not None
        block = dense_block(self.likeness, sample.labels[drawn])
        likeness = self._put(block[np.ix_(often, often)] if repeated else block)
        if kind == "laplacian":
            return regularizers.laplacian(some, likeness)
        return regularizers.glas(some, likeness)

    def _first_vectors(self, seed: int) -> Floats:
        dim = self.settings.widths[-1]
        rng, drawn = np.random.default_rng(seed), np.empty((self.counts.size, dim), np.float32)
        for block in np.array_split(drawn, -(-len(drawn) // _BLOCK)):  # whole, in double, is much
            block[:] = rng.standard_normal(block.shape) / dim**0.5
        return drawn

    def _first_biases(self) -> Floats:
        """Return the logit of each label's frequency, which is what a label knows of itself."""
        if self.settings.loss != "binary":
            return np.zeros(self.counts.size, dtype=np.float32)
        share = (self.counts + 0.5) / (self.sampler.Y.shape[0] + 1.0)
        return np.log(share / (1.0 - share)).astype(np.float32)

    def _put(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)
