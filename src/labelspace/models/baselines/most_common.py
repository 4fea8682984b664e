"""The most frequent labels of the training set, for every row alike.

The naive baseline of the hyperbolic paper's table 2: it tells how far label frequencies alone
get, and so how much of another method's accuracy comes from looking at the row.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.base import LabelRanker
from labelspace.store import schema
from labelspace.topk import TopK


class MostCommon(LabelRanker):
    """Predicts the most frequent labels, whatever the row.

    Scores are the share of training rows that have the label.

    Parameters
    ----------
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`.

    Examples
    --------
    >>> from labelspace.models import MostCommon
    >>> model = MostCommon().fit([[1.0], [2.0], [3.0]], [["red"], ["red", "round"], ["round"]])
    >>> top = model.partial_fit([[4.0]], [["round"]]).predict_topk([[9.0]], k=2)
    >>> model.classes_[top.labels], top.scores
    (array([['round', 'red']], dtype='<U5'), array([[0.75, 0.5 ]], dtype=float32))
    """

    _schema: ClassVar[schema.Schema] = {
        "ranking_": schema.array("int64", "n_labels", low=0, below="n_labels", unique=True),
    }

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.ranking_ = np.argsort(-self.label_counts_, kind="stable")

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self._fit(X, Y)

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        best = self.ranking_[:k]
        share = (self.label_counts_[best] / self.n_examples_).astype(np.float32)
        n_rows = X.shape[0]
        return TopK(np.tile(best, (n_rows, 1)), np.tile(share, (n_rows, 1)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
