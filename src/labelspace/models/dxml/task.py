"""Rows go where their labels are: the task that DXML trains.

Every label has a vector. A row's target is the weighted mean of its labels' vectors, and the
network learns to put the row there. Label vectors stay as they are, or learn along. Without label
vectors, a row's target is where the network puts a row with like labels, drawn from a graph.
"""

from __future__ import annotations

import zlib

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from torch import Tensor
from torch.nn import functional

from labelspace.deep.label_sample import LabelSampler
from labelspace.deep.loop import DeepTask
from labelspace.deep.row_table import RowTable
from labelspace.deep.sparse_network import SparseBatch, SparseNetwork, table_sums
from labelspace.encoders.network import NetworkEncoder
from labelspace.graph.label_knn import LabelGraph
from labelspace.models.dxml import losses
from labelspace.models.dxml.settings import DXMLSettings

Floats = NDArray[np.float32]

# Labels that a batch's rows are ranked against, besides their own.
_SAMPLED = 512
# Targets whose cosine is larger than this are about as good for a row as its own.
_ALIKE = 0.9


class DXMLTask(DeepTask):
    """A network that puts rows where their labels are.

    Parameters
    ----------
    X, Y : csr_matrix
        Training rows; each has a label.
    vectors : ndarray of shape (n_labels, dim)
        Vectors of the labels.
    settings : DXMLSettings
    neighbors : LabelGraph, optional
        Rows with like labels; if given they are the targets, and label vectors are not used.
    start : (NetworkEncoder, biases of the labels), optional
        What was learned before, to learn on from.
    seed : int
    device : torch.device or str
    """

    def __init__(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        vectors: Floats,
        settings: DXMLSettings,
        *,
        neighbors: LabelGraph | None = None,
        start: tuple[NetworkEncoder, Floats] | None = None,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        self.X = X
        self.shares = label_shares(Y)
        self.Y = csr_matrix(diags(1.0 / np.sqrt(np.maximum(np.diff(Y.indptr), 1))) @ Y)
        self.settings = settings
        self.neighbors = neighbors
        self.device = device
        self.network = SparseNetwork(
            X.shape[1],
            settings.widths,
            activation=settings.activation,
            output_dropout=settings.dropout,
            seed=seed,
            device=device,
        )
        biases: Floats = np.zeros(len(vectors), dtype=np.float32)
        if start is not None:
            encoder, biases = start
            self.network.load(encoder)
        self.module = self.network
        self.labels = RowTable(torch.from_numpy(np.array(vectors, dtype=np.float32)).to(device))
        self.biases = RowTable(torch.from_numpy(biases[:, np.newaxis].copy()).to(device))
        self.tables = {"features": self.network.table}
        if settings.label_weight:
            self.sampler = LabelSampler(Y, _SAMPLED)
            self.tables |= {"labels": self.labels, "biases": self.biases}

    def loss(self, rows: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Tensor]:
        Z = self._embed(rows, rng)
        near = self._row_loss(Z, rows, rng)
        if not self.settings.label_weight:
            return {"loss": near}
        ranked = self._label_loss(Z, rows, rng)
        return {"loss": near + self.settings.label_weight * ranked, "rows": near, "labels": ranked}

    def _row_loss(self, Z: Tensor, rows: NDArray[np.int64], rng: np.random.Generator) -> Tensor:
        T = self._targets(rows, rng)
        chosen = self.settings
        if chosen.loss == "smooth-l1":
            return losses.smooth_l1(Z, T)
        if chosen.loss == "softmax":
            shares = functional.softmax(chosen.gamma * self._likeness(rows, T), dim=1)
            return losses.softmax(Z, T, shares, chosen.gamma)
        alike = self._likeness(rows, T) > _ALIKE
        alike.fill_diagonal_(True)
        which = losses.contrastive if chosen.loss == "contrastive" else losses.triplet
        return which(Z, T, alike, chosen.margin)

    def _label_loss(self, Z: Tensor, rows: NDArray[np.int64], rng: np.random.Generator) -> Tensor:
        sample = self.sampler.draw(rows, rng)
        ids = torch.from_numpy(sample.labels).to(self.device)
        V = functional.normalize(self.labels.rows(ids), dim=1)
        scores = self.settings.gamma * (Z @ V.T) + self.biases.rows(ids)[:, 0]
        return losses.rank_labels(scores, torch.from_numpy(sample.relevant).to(self.device))

    def identity(self) -> str:
        parts = (self.X.indptr, self.X.indices, self.X.data, self.shares.indices)
        sums = [zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in parts]
        return f"{sums} {self.settings}"

    @torch.no_grad()
    def label_vectors(self) -> tuple[Floats, Floats]:
        """Return vectors of labels, of length one if they are so at the start, and their biases."""
        V = self.labels.values
        if self.settings.unit_labels:
            V = functional.normalize(V, dim=1)
        return V.cpu().numpy().copy(), self.biases.values[:, 0].cpu().numpy().copy()

    def _embed(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Tensor:
        batch = SparseBatch.of(self.X[rows], self.device, keep=self.settings.keep_features, rng=rng)
        Z: Tensor = self.network(batch)
        return Z

    def _targets(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Tensor:
        if self.neighbors is not None:
            n_partners = np.maximum(self.neighbors.n_neighbors[rows], 1)
            drawn = (rng.random(len(rows)) * n_partners).astype(np.int64)
            partners = self.neighbors.neighbors[rows, drawn].astype(np.int64)
            # A row that shares its labels with nobody is its own partner.
            return self._embed(np.where(partners < 0, rows, partners), rng)
        # Targets stand still while rows move: two that chase each other meet anywhere.
        with torch.no_grad():
            T = table_sums(self.labels, SparseBatch.of(self.shares[rows], self.device))
        return functional.normalize(T, dim=1) if self.settings.unit_targets else T

    def _likeness(self, rows: NDArray[np.int64], T: Tensor) -> Tensor:
        """Return how alike the targets of each two rows are: their cosine, or their labels'."""
        if self.neighbors is not None:
            Y = self.Y[rows]
            cosines = (Y @ Y.T).toarray().astype(np.float32)
            return torch.from_numpy(cosines).to(self.device)
        U = functional.normalize(T.detach(), dim=1)
        return U @ U.T


def label_shares(Y: csr_matrix) -> csr_matrix:
    """Return what each label counts in its rows' targets: rows sum to one.

    >>> from scipy.sparse import csr_matrix
    >>> label_shares(csr_matrix([[1, 1, 0], [0, 0, 1]])).toarray()
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]], dtype=float32)
    """
    ones = csr_matrix((np.ones(Y.nnz), Y.indices, Y.indptr), shape=Y.shape)
    return csr_matrix(diags(1.0 / np.maximum(np.diff(Y.indptr), 1)) @ ones, dtype=np.float32)
