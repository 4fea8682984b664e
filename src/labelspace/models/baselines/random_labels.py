"""Labels drawn at random: the floor that the auto-encoder report measures itself against."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.store import schema
from labelspace.topk import TopK


class RandomLabels(LabelRanker):
    """Predicts labels drawn without repetition, all equally likely.

    A row's labels depend on its features and the seed only, so that the answer for a row is the
    same whichever rows are asked together with it.

    Parameters
    ----------
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`.

    Examples
    --------
    >>> from labelspace.models import RandomLabels
    >>> model = RandomLabels(random_state=0).fit([[1.0], [2.0]], [[0, 1], [2]])
    >>> sorted(model.predict_topk([[3.0]], k=3).labels[0].tolist())
    [0, 1, 2]
    """

    _scores_say_something = False
    _schema: ClassVar[schema.Schema] = {
        "seed_": schema.integer(0, 2**31),
    }

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.seed_ = int(check_random_state(self.random_state).randint(2**31))

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Nothing is learned, so there is nothing to change."""

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        labels = np.empty((X.shape[0], k), dtype=np.int64)
        scores = np.empty((X.shape[0], k), dtype=np.float32)
        for row in range(X.shape[0]):
            start, end = X.indptr[row : row + 2]
            content = X.indices[start:end].view(np.uint32), X.data[start:end].view(np.uint32)
            rng = np.random.default_rng([self.seed_, *content[0].tolist(), *content[1].tolist()])
            labels[row] = rng.choice(self.n_labels_, size=k, replace=False)
            scores[row] = np.sort(rng.random(k, dtype=np.float32))[::-1]
        return TopK(labels, scores)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
