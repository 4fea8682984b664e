"""What the estimators whose neighbours vote have in common: rows are asked, a ballot answers."""

from __future__ import annotations

from abc import ABC, abstractmethod

from scipy.sparse import csr_matrix

from labelspace.base import Explanation, LabelRanker
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import in_blocks
from labelspace.search.ballot import Ballot
from labelspace.topk import TopK


class BallotRanker(LabelRanker, ABC):
    """An estimator in which training rows, and perhaps labels, vote on a row."""

    rows_: UnitRows
    Y_: csr_matrix

    @abstractmethod
    def _votes(self, X: csr_matrix, k: int) -> Ballot:
        """Return who votes on rows, which are encoded, when ``k`` labels are wanted."""

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        return self._filled(self._votes(X, k).top(self.Y_, k))

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """A reason is a training row that has the label, or the label's own place in the space."""
        return self._votes(self.rows_.encode(X), top.k).explain(self.Y_, top, n_reasons)
