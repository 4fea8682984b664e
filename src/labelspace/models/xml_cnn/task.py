"""What XML-CNN learns: word vectors, filters, a bottleneck and label vectors, together.

A batch's words are looked up once each, whatever their number in the batch; convolution and pooling
are one step whose gradient goes to the places of the largest answers only (``convolutions``). Where
there are bags, the bottleneck hears their sums of word vectors beside the answers of filters.
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
from labelspace.deep.sparse_network import SparseBatch, table_sums
from labelspace.models.xml_cnn import _convolution_kernels as kernels
from labelspace.models.xml_cnn.convolutions import WordConvolutions, pooled_answers
from labelspace.models.xml_cnn.row_words import RowWords, WordsAndBags, bags_of
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
    rows : WordsAndBags
        Their words, with bags if these have a ``bag_dim``.
    Y : csr_matrix
        Their labels; each row has one.
    n_words : int
        Words that are known.
    settings : XMLCNNSettings
    held_out : (WordsAndBags, csr_matrix), optional
        Rows to measure quality on.
    seed : int
    """

    def __init__(
        self,
        X: csr_matrix,
        rows: WordsAndBags,
        Y: csr_matrix,
        n_words: int,
        settings: XMLCNNSettings,
        *,
        held_out: tuple[WordsAndBags, csr_matrix] | None = None,
        seed: int = 0,
    ) -> None:
        self.X = X
        self.rows = rows
        self.settings = settings
        self.held_out = held_out
        self.sampler = LabelSampler(Y, settings.n_sampled)
        longest = max(min(rows.words.longest, settings.max_words), 1)
        self.n_parts = min(settings.n_parts, longest)
        self.part_length = -(-longest // self.n_parts)
        self.widths = np.array(settings.widths, dtype=np.int64)
        told = settings
        rng = np.random.default_rng(seed)

        def drawn(*shape: int, scale: float) -> Tensor:
            values = rng.standard_normal(shape, dtype=np.float32)
            return torch.from_numpy(values * np.float32(scale))

        pieces = [
            drawn(told.dim, width * told.n_filters, scale=(2.0 / (width * told.dim)) ** 0.5)
            for width in told.widths
        ]
        n_heard = [len(self.widths) * self.n_parts * told.n_filters]
        if rows.bags is not None:
            n_heard.append(told.bag_dim)
        # Filters and bags have the same say at first, however many numbers they give.
        hidden = [drawn(n, told.hidden, scale=(2 / len(n_heard) / n) ** 0.5) for n in n_heard]
        self.module = self.parts = nn.ParameterDict(
            {
                "filters": nn.Parameter(torch.cat(pieces, dim=1)),
                "filter_biases": nn.Parameter(torch.zeros(len(pieces), told.n_filters)),
                "hidden": nn.Parameter(torch.cat(hidden)),
                "hidden_biases": nn.Parameter(torch.zeros(told.hidden)),
            }
        )

        def word_table(bags: csr_matrix, dim: int) -> RowTable:
            if told.word_start == "labels":
                return RowTable(torch.from_numpy(label_directions(bags, Y, dim, rng)))
            return RowTable(drawn(n_words, dim, scale=dim**-0.5))

        self.words = word_table(bags_of(rows.words, n_words), told.dim)
        self.labels = RowTable(drawn(Y.shape[1], told.hidden, scale=told.hidden**-0.5))
        self.biases = RowTable(torch.from_numpy(_log_odds(Y))[:, None])
        self.tables = {"words": self.words, "labels": self.labels, "biases": self.biases}
        self.bag_words = None
        if rows.bags is not None:
            self.bag_words = self.tables["bag_words"] = word_table(rows.bags, told.bag_dim)
        self._standardise()

    @torch.no_grad()
    def _standardise(self) -> None:
        """Let the bottleneck begin with answers of mean 0 and deviation 1."""
        first = self.rows.of_rows(np.arange(min(self.rows.n_rows, _FIRST_ROWS)))
        if not first.n_rows:
            return
        some = first.words
        words, numbers = np.unique(some.words, return_inverse=True)
        said = self.words.values[torch.from_numpy(words.astype(np.int64))] @ self.parts["filters"]
        pooled, _ = pooled_answers(
            *(some._replace(words=numbers.astype(np.int32)), said.numpy(), self.widths),
            *(self.parts["filter_biases"].numpy(), self.n_parts, self.part_length),
        )
        heard = [pooled.reshape(some.n_rows, -1)]
        if self.bag_words is not None and first.bags is not None:
            heard.append(first.bags @ self.bag_words.values.numpy())
        hidden = self.parts["hidden"].numpy()
        layers = np.split(hidden, np.cumsum([one.shape[1] for one in heard])[:-1])
        begun = [standardised(*one) for one in zip(heard, layers, strict=True)]
        hidden[:] = np.concatenate([weights for weights, _ in begun])
        self.parts["hidden_biases"].copy_(torch.from_numpy(sum(biases for _, biases in begun)))

    def loss(self, rows: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Tensor]:
        told, parts = self.settings, self.parts
        sample = self.sampler.draw(rows, rng)
        read = self.rows.of_rows(rows)
        batch = read.words
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
        heard = pooled.flatten(1)
        if self.bag_words is not None and read.bags is not None:
            bags = SparseBatch.of(read.bags, keep=1.0 - told.word_dropout, rng=rng)
            heard = torch.cat((heard, table_sums(self.bag_words, bags)), dim=1)
        heard = functional.dropout(heard, told.dropout)
        squeezed = torch.relu(heard @ parts["hidden"] + parts["hidden_biases"])
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
        bags = () if self.rows.bags is None else (self.rows.bags.indices, self.rows.bags.data)
        parts = (*self.rows.words, *bags, self.sampler.Y.indices)
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
            bag_vectors=None if self.bag_words is None else self.bag_words.values.numpy().copy(),
            widths=self.widths,
            n_parts=self.n_parts,
            part_length=self.part_length,
            **learned,
        )


def _log_odds(Y: csr_matrix) -> NDArray[np.float32]:
    """Return the logarithm of the odds that a row has each label."""
    share = (np.bincount(Y.indices, minlength=Y.shape[1]) + 0.5) / (Y.shape[0] + 1.0)
    return np.log(share / (1.0 - share)).astype(np.float32)


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
