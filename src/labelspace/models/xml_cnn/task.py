"""What XML-CNN learns: word vectors, filters, a bottleneck and label vectors, together.

A batch's words are looked up once each, whatever their number in the batch; convolution and pooling
are one step whose gradient goes to the places of the largest answers only (``convolutions``).
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
from labelspace.deep.label_sample import LabelSampler
from labelspace.deep.loop import DeepTask
from labelspace.deep.row_table import RowTable
from labelspace.models.xml_cnn import _convolution_kernels as kernels
from labelspace.models.xml_cnn.convolutions import WordConvolutions, pooled_answers
from labelspace.models.xml_cnn.row_words import RowWords
from labelspace.models.xml_cnn.settings import XMLCNNSettings
from labelspace.models.xml_cnn.starting_points import label_directions, standardised
from labelspace.topk import topk_dense

_BLOCK = 256
# Rows whose answers say how the bottleneck begins.
_FIRST_ROWS = 512


class XMLCNNTask(DeepTask):
    """Words of rows in their order, to the labels of the rows.

    Parameters
    ----------
    X : csr_matrix
        The rows as they came.
    rows : RowWords
        Their words.
    Y : csr_matrix
        Their labels; each row has one.
    n_words : int
        Words that are known.
    settings : XMLCNNSettings
    held_out : (RowWords, csr_matrix), optional
        Rows to measure quality on.
    seed : int
    """

    def __init__(
        self,
        X: csr_matrix,
        rows: RowWords,
        Y: csr_matrix,
        n_words: int,
        settings: XMLCNNSettings,
        *,
        held_out: tuple[RowWords, csr_matrix] | None = None,
        seed: int = 0,
    ) -> None:
        self.X = X
        self.rows = rows
        self.settings = settings
        self.held_out = held_out
        self.sampler = LabelSampler(Y, settings.n_sampled)
        longest = max(min(rows.longest, settings.max_words), 1)
        self.n_parts = min(settings.n_parts, longest)
        self.part_length = -(-longest // self.n_parts)
        self.widths = np.array(settings.widths, dtype=np.int64)
        told = settings
        rng = np.random.default_rng(seed)

        def drawn(*shape: int, scale: float) -> Tensor:
            values = rng.standard_normal(shape, dtype=np.float32)
            return torch.from_numpy(values * np.float32(scale))

        n_pooled = len(self.widths) * self.n_parts * told.n_filters
        pieces = [
            drawn(told.dim, width * told.n_filters, scale=(2.0 / (width * told.dim)) ** 0.5)
            for width in told.widths
        ]
        self.module = self.parts = nn.ParameterDict(
            {
                "filters": nn.Parameter(torch.cat(pieces, dim=1)),
                "filter_biases": nn.Parameter(torch.zeros(len(pieces), told.n_filters)),
                "hidden": nn.Parameter(drawn(n_pooled, told.hidden, scale=(2 / n_pooled) ** 0.5)),
                "hidden_biases": nn.Parameter(torch.zeros(told.hidden)),
            }
        )
        vectors = drawn(n_words, told.dim, scale=told.dim**-0.5)
        if told.word_start == "labels":
            vectors = torch.from_numpy(label_directions(rows, Y, n_words, told.dim, rng))
        self.words = RowTable(vectors)
        self.labels = RowTable(drawn(Y.shape[1], told.hidden, scale=told.hidden**-0.5))
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        share = (counts + 0.5) / (Y.shape[0] + 1.0)
        biases = np.log(share / (1.0 - share)).astype(np.float32)
        self.biases = RowTable(torch.from_numpy(biases)[:, None])
        self.tables = {"words": self.words, "labels": self.labels, "biases": self.biases}
        self._standardise()

    @torch.no_grad()
    def _standardise(self) -> None:
        """Let the bottleneck begin with answers of mean 0 and deviation 1."""
        some = self.rows.of_rows(np.arange(min(self.rows.n_rows, _FIRST_ROWS)))
        if not some.n_rows:
            return
        words, numbers = np.unique(some.words, return_inverse=True)
        said = self.words.values[torch.from_numpy(words.astype(np.int64))] @ self.parts["filters"]
        pooled, _ = pooled_answers(
            *(some._replace(words=numbers.astype(np.int32)), said.numpy(), self.widths),
            *(self.parts["filter_biases"].numpy(), self.n_parts, self.part_length),
        )
        hidden = self.parts["hidden"]
        weights, biases = standardised(pooled.reshape(some.n_rows, -1), hidden.numpy())
        hidden.copy_(torch.from_numpy(weights))
        self.parts["hidden_biases"].copy_(torch.from_numpy(biases))

    def loss(self, rows: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Tensor]:
        told, parts = self.settings, self.parts
        sample = self.sampler.draw(rows, rng)
        batch = self.rows.of_rows(rows)
        words, numbers = np.unique(batch.words, return_inverse=True)
        weights = batch.weights
        if told.word_dropout:
            kept = rng.random(len(weights)) >= told.word_dropout
            weights = np.where(kept, weights / (1.0 - told.word_dropout), 0).astype(np.float32)
        batch = RowWords(batch.ptr, numbers.astype(np.int32), weights)
        vectors = self.words.rows(torch.from_numpy(words.astype(np.int64)))
        pooled: Any = _Pooled.apply(
            *(vectors, parts["filters"], parts["filter_biases"], batch),
            *(self.widths, self.n_parts, self.part_length),
        )
        pooled = functional.dropout(pooled.flatten(1), told.dropout)
        squeezed = torch.relu(pooled @ parts["hidden"] + parts["hidden_biases"])
        squeezed = functional.dropout(squeezed, told.dropout)
        ids = torch.from_numpy(sample.labels)
        scores = squeezed @ self.labels.rows(ids).T + self.biases.rows(ids)[:, 0]
        weighted = None if sample.weights is None else torch.from_numpy(sample.weights)
        relevant = torch.from_numpy(sample.relevant)
        return {"loss": label_losses.binary(scores, relevant, weighted)}

    def evaluate(self) -> dict[str, float]:
        if self.held_out is None:
            return {}
        rows, Y = self.held_out
        network, found = self.exported(), []
        for start in range(0, rows.n_rows, _BLOCK):
            block = rows.of_rows(np.arange(start, min(start + _BLOCK, rows.n_rows)))
            found.append(topk_dense(network.scores(block), min(5, Y.shape[1])))
        top = type(found[0]).stack(found)
        return metrics.evaluate(Y, top, ks=(1, top.k))

    def identity(self) -> str:
        parts = (*self.rows, self.sampler.Y.indices)
        sums = [zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in parts]
        return f"{sums} {self.settings}"

    @torch.no_grad()
    def exported(self) -> WordConvolutions:
        """Return what has been learned, in a form that needs no torch."""
        learned = {name: one.detach().numpy().copy() for name, one in self.parts.items()}
        return WordConvolutions(
            word_vectors=self.words.values.numpy().copy(),
            label_vectors=self.labels.values.numpy().copy(),
            label_biases=self.biases.values[:, 0].numpy().copy(),
            widths=self.widths,
            n_parts=self.n_parts,
            part_length=self.part_length,
            **learned,
        )


class _Pooled(torch.autograd.Function):
    """Convolution and pooling in one, of the vectors of a batch's words."""

    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        filters: Tensor,
        biases: Tensor,
        rows: RowWords,
        widths: NDArray[np.int64],
        n_parts: int,
        part_length: int,
    ) -> Tensor:
        said = vectors.detach() @ filters.detach()
        pooled, places = pooled_answers(
            *(rows, said.numpy(), widths, biases.detach().numpy()), n_parts, part_length
        )
        ctx.save_for_backward(vectors, filters)
        ctx.held = rows, widths, places, biases.shape
        return torch.from_numpy(pooled)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        rows, widths, places, bias_shape = ctx.held
        vectors, filters = (one.detach().numpy() for one in ctx.saved_tensors)
        vectors, pieces = np.ascontiguousarray(vectors), np.ascontiguousarray(filters.T)
        said_slopes = np.zeros((len(vectors), len(pieces)), dtype=np.float32)
        bias_slopes = np.zeros(bias_shape, dtype=np.float32)
        given = np.ascontiguousarray(slopes[0].numpy())
        kernels.unpool(*rows, widths, places, given, said_slopes, bias_slopes)
        found = np.zeros_like(vectors), np.zeros_like(pieces)
        kernels.unsay(said_slopes, vectors, pieces, *found)
        by_vector, by_piece, by_bias = map(torch.from_numpy, (*found, bias_slopes))
        return by_vector, by_piece.T, by_bias, None, None, None, None
