"""What the methods with sparse linear classifiers have in common: rows, answers, reasons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.encoders.unit_rows import UnitRows
from labelspace.explain import by_features
from labelspace.explanation import Explanation
from labelspace.linear.squared_hinge import LinearClassifiers
from labelspace.models.sparse_margins.settings import (
    PDSparseSettings,
    PPDSparseSettings,
    ProXMLSettings,
)
from labelspace.parameters import FLAG, one_of
from labelspace.search.sparse import SparseIndex
from labelspace.store import schema
from labelspace.topk import TopK


class SparseClassifiers(LabelRanker, ABC):
    """An estimator with a sparse linear classifier per label, on rows of length one."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "preset": [one_of("best", "paper")],
        "idf": [FLAG, one_of("auto")],
    }
    _schema: ClassVar[schema.Schema] = {
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "index_": schema.part("SparseIndex", n_features="n_features", n_keys="n_labels"),
        "n_iter_": schema.integer(),
    }
    idf: bool | Literal["auto"]
    settings_: PDSparseSettings | PPDSparseSettings | ProXMLSettings

    @property
    def coef_(self) -> csr_matrix:
        return self.index_.keys

    @property
    def intercept_(self) -> NDArray[np.float32]:
        return self.index_.offsets

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._resolved(X, Y)
        self.rows_ = UnitRows(idf=self.idf, norm=self.settings_.normalize).learn(X)
        seed = int(check_random_state(self.random_state).randint(2**31))
        weights, biases, self.n_iter_ = self._train(self.rows_.encode(X), Y, seed)
        self.index_ = SparseIndex(weights, biases)

    @abstractmethod
    def _train(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> LinearClassifiers:
        """Return the classifiers of all labels, from rows of length one."""

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        return self.index_.search(self.rows_.encode(X), k)

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """A reason is a feature of the row; its weight is what it adds to the label's score."""
        return by_features(self.rows_.encode(X), top, self.index_, n_reasons)
