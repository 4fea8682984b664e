"""Votes of the nearest training rows, compared by their features as they are.

The simplest method of the family: no learning, cosine on the features, exact search. The labels of
the nearest rows are counted, a nearer row's for more, so that for row x and its neighbours i

    score of l = Σ_i cos(x, x_i)^power · [row i has l]  /  Σ_i cos(x, x_i)^power
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from labelspace import partial_labels
from labelspace.base import LabelRanker
from labelspace.csr import dense_tail
from labelspace.encoders.unit_rows import UnitRows
from labelspace.explain import Voters
from labelspace.explanation import Explanation
from labelspace.labels import with_rows
from labelspace.parameters import FLAG, Span, Tunable, real, whole
from labelspace.partial_labels import Marks, PartialRows
from labelspace.search.sparse import SparseIndex
from labelspace.store import schema
from labelspace.topk import TopK
from labelspace.voting import count_votes


class NearestNeighbors(LabelRanker):
    """Gives a row the labels of the training rows nearest to it by cosine.

    Parameters
    ----------
    n_neighbors : int, default=30
        How many rows vote.
    power : float, default=3.0
        A neighbour's vote counts its cosine to this power: 0 counts all alike, 1 by cosine, more
        listens to the nearest only.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are shares of the
        votes, from 0 to 1.

    Examples
    --------
    >>> from labelspace.models import NearestNeighbors
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0]]
    >>> model = NearestNeighbors(n_neighbors=2).fit(X, [["red"], ["red"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    >>> [reason.id for reason in model.explain([[0.7, 0.1]], k=1)[0][0].reasons]
    [1, 0]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "n_neighbors": [whole()],
        "power": [real(0, closed="left")],
        "idf": [FLAG],
    }

    tunable: ClassVar[Tunable] = {
        "n_neighbors": Span(5, 200),
        "power": Span(0.5, 8.0),
        "idf": (True,),
    }

    _schema: ClassVar[schema.Schema] = {
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "index_": schema.part("SparseIndex", n_features="n_features", n_keys="n_examples"),
        "Y_": schema.csr("float32", "n_examples", "n_labels"),
        "partial_": partial_labels.ATTRIBUTE,
    }

    takes_partial_labels = True
    partial_: PartialRows | None = None

    def __init__(
        self,
        *,
        n_neighbors: int = 30,
        power: float = 3.0,
        idf: bool = False,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.n_neighbors = n_neighbors
        self.power = power
        self.idf = idf

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.rows_ = UnitRows(idf=self.idf).learn(X)
        self.index_ = SparseIndex(self.rows_.encode(X), n_dense=dense_tail(X))
        self.Y_ = Y
        self.partial_ = None

    def _partial_fit(
        self, X: csr_matrix, Y: csr_matrix, rejected: csr_matrix | None = None
    ) -> None:
        """Put the rows into the index; feature weights stay as they were learned first."""
        X = self.rows_.encode(X)
        keys = csr_matrix(vstack([self.index_.keys, X], format="csr"))
        if rejected is not None:
            partial = self.partial_ or PartialRows(X.shape[1])
            (Y, _), _ = partial.add(X, Marks(Y, rejected), self.Y_.shape[0], self.Y_)
            self.partial_ = partial
            keys = partial.without_silent(keys)
        self.index_ = SparseIndex(keys, n_dense=self.index_.n_dense)
        self.Y_ = with_rows(self.Y_, Y)

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        neighbors, weights = self._neighbors(X)
        votes = count_votes(neighbors, weights, self.Y_, k)
        return votes if self.partial_ is None else self.partial_.shares(votes, neighbors, weights)

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """A reason is a training row that has the label; its weight is its share of the vote."""
        neighbors, weights = self._neighbors(X)
        explained = []
        for row in range(len(top)):
            voters = Voters(neighbors[row], weights[row], self.Y_)
            explained.append(
                [
                    Explanation(label, score, voters.reasons_for(label)[:n_reasons])
                    for label, score in top.given(row)
                ]
            )
        return explained

    def _neighbors(self, X: csr_matrix) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the nearest training rows and their shares of the vote, nearest first."""
        found = self.index_.search(self.rows_.encode(X), self.n_neighbors)
        cosines = np.clip(found.scores, 0.0, None)
        # A row that has nothing in common is no neighbour, not even where all count alike.
        weights = np.where(cosines > 0, cosines**self.power, 0.0).astype(np.float32)
        total = weights.sum(axis=1, keepdims=True)
        np.divide(weights, total, out=weights, where=total > 0)
        return found.labels, weights
