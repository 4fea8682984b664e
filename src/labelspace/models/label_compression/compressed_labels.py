"""What methods that compress labels have in common: codes, a ridge regression, a decoder.

A label vector y becomes a short code c = y·E; the features are regressed to codes, and what the
regression says of a new row is decoded. Where decoding is linear, scores are x·W·D plus a constant
for each label, and the labels of the largest scores are found by their inner products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.csr import with_constant_feature
from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import with_constant
from labelspace.linear.ridge import ridge
from labelspace.parameters import FLAG, CorpusShape, one_of, real, whole
from labelspace.search.exact import ExactIndex
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK

Floats = NDArray[np.float32]

PRESETS = ("best", "paper")
# λ of the ridge regression on rows of length one, and on rows as they are.
_PENALTIES = {"best": 1.0, "paper": 10.0}
# Steps of conjugate gradients, as many as the regression of a small corpus needs.
N_STEPS = 40


class CompressedLabels(LabelRanker, ABC):
    """Base of the methods that compress labels; see :class:`CPLST` for the parameters."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "preset": [one_of(*PRESETS)],
        "dim": [whole(), None],
        "penalty": [real(0), None],
        "idf": [FLAG],
        "normalize": [FLAG, None],
    }

    _schema: ClassVar[schema.Schema] = {
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "encoder_": schema.part("LinearEncoder", n_features="n_features", dim="dim"),
        "mean_": schema.array("float32", "dim"),
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        dim: int | None = None,
        penalty: float | None = None,
        idf: bool = False,
        normalize: bool | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.dim = dim
        self.penalty = penalty
        self.idf = idf
        self.normalize = normalize

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        # The published program takes rows as they are, each with a one for the constant.
        norm = self.preset != "paper" if self.normalize is None else self.normalize
        self.rows_ = UnitRows(idf=self.idf, norm=norm).learn(X)
        X = self.rows_.encode(X)
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        shape = CorpusShape(*X.shape, Y.shape[1])
        dim = self._usual_dim(shape) if self.dim is None else self.dim
        codes = self._compress(X, Y, dim, seed)
        constant = self.preset == "paper"
        W, self.mean_ = ridge(
            *(with_constant_feature(X, 1.0) if constant else X, codes),
            penalty=self._penalty,
            n_steps=N_STEPS,
            n_threads=self.n_threads,
        )
        if constant:
            W, self.mean_ = W[:-1], self.mean_ + W[-1]
        self.encoder_ = LinearEncoder(W, "float32")

    @property
    def _penalty(self) -> float:
        return _PENALTIES[self.preset] if self.penalty is None else self.penalty

    @abstractmethod
    def _usual_dim(self, shape: CorpusShape) -> int:
        """Return the length of codes where it is not given."""

    @abstractmethod
    def _compress(self, X: csr_matrix, Y: csr_matrix, dim: int, seed: int) -> Floats:
        """Return the codes of the rows, and keep what decodes them."""

    @abstractmethod
    def _decode(self, codes: Floats, k: int) -> TopK:
        """Return the best labels of codes."""

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        top = self._decode(self.encoder_.encode(X) + self.mean_, k)
        # Of a row without features nothing is known but what is frequent.
        top.labels[np.diff(X.indptr) == 0] = -1
        return self._filled(top)


class LinearlyDecoded(CompressedLabels):
    """Base of those whose decoder is a vector and a constant for each label."""

    _schema: ClassVar[schema.Schema] = {
        "labels_": schema.part(
            "ExactIndex", dim=schema.plus("dim", 1), n_keys="n_labels", ids_end="n_labels"
        ),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if "labels_" in state and not sizes.trusted:
            schema.check_unique(state["labels_"].ids)

    def _keep_decoder(self, vectors: Floats, constants: Floats) -> None:
        self.labels_ = ExactIndex(np.column_stack((vectors, constants)))

    def _decode(self, codes: Floats, k: int) -> TopK:
        found = self.labels_.search(with_constant(codes), k)
        return TopK(found.ids, found.products)


def share_of_labels(shape: CorpusShape, share: float, most: int) -> int:
    """Return a share of the number of labels, one at least and ``most`` at most."""
    return min(max(int(share * shape.n_labels), 1), most)
