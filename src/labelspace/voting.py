"""Votes of neighbours: who votes on a query, what each vote counts, and which labels win.

Training rows that were found near a query vote for their labels, and labels that were found near
it vote for themselves. A row's vote counts e^{γ(cos − 1)}, or e^{−αd} where there is a distance, a
label's the same with a γ or α of its own; all votes of rows together count 1, all votes of labels
``label_votes``, and scores are shares of the whole.

How sharply near rows should be preferred, and how much labels' own votes should count, differs
between corpora; ``choose_votes`` tries a few weights on rows that the maps were not trained on. The
search is done once and only the count is repeated. The weights with the best P@1 + P@3 + P@5 win,
but rare labels are heard where they come nearly for free: of weights that are as good but for a
little, those with the best propensity-scored precision are taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace import _voting_kernels as kernels
from labelspace.base import LabelRanker
from labelspace.encoders.unit_rows import UnitRows
from labelspace.explain import Voters, summed_weights
from labelspace.explanation import Explanation, Reason
from labelspace.metrics import evaluate
from labelspace.search.result import SearchResult
from labelspace.selection import best_choice
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK

Weights = NDArray[np.float32]

GAMMAS = (10.0, 15.0, 20.0)
LABEL_VOTES = (0.1, 0.25, 0.5, 1.0, 2.0)

# Labels lie farther from a row than its neighbours do, and differ less in it.
_LABEL_GAMMA = 10.0
# Sum of P@1, P@3 and P@5, in percent, that rare labels may cost; more where so few rows were held
# out that chance decides as much.
_NEARLY = 0.1
_NEARLY_OF_FEW = 1.0
_FEW = 1000


class VotingRanker(LabelRanker, ABC):
    """An estimator in which training rows, and perhaps labels, vote on a row."""

    idf: bool
    rows_: UnitRows
    Y_: csr_matrix

    _schema: ClassVar[schema.Schema] = {
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "Y_": schema.csr("int8", "n_examples", "n_labels"),
    }

    def _learn_rows(self, X: csr_matrix, Y: csr_matrix, *, normalize: bool = True) -> csr_matrix:
        """Keep the labels with which rows vote; return the rows as they are encoded from now on."""
        self.rows_ = UnitRows(idf=self.idf, norm=normalize).learn(X)
        self.Y_ = csr_matrix(Y, dtype=np.int8)
        return self.rows_.encode(X)

    def _seeds(self, n_learners: int) -> list[int]:
        """Return a seed for each learner."""
        return check_random_state(self.random_state).randint(1 << 31, size=n_learners).tolist()

    @abstractmethod
    def _votes(self, X: csr_matrix, k: int) -> Votes:
        """Return who votes on rows, which are encoded, when ``k`` labels are wanted."""

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        return self._filled(self._votes(X, k).top(self.Y_, k))

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """A reason is a training row that has the label, or the label's own point in the space."""
        return self._votes(self.rows_.encode(X), top.k).explain(self.Y_, top, n_reasons)


@dataclass(frozen=True)
class Votes:
    """Votes on some queries.

    Attributes
    ----------
    rows, row_weights : ndarray of shape (n, n_rows)
        Training rows that vote (-1 for none), and what each vote counts.
    labels, label_weights : ndarray of shape (n, n_labels)
        Labels that vote for themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> near = SearchResult(np.array([[0, 1]]), np.array([[0.9, 0.8]], dtype=np.float32))
    >>> votes = Votes.weighted(near, SearchResult.none(1, 0), gamma=10.0, label_votes=0.5)
    >>> votes.top(csr_matrix([[1, 0], [0, 1]]), k=2).scores.round(2).tolist()
    [[0.7300000190734863, 0.27000001072883606]]
    """

    rows: NDArray[np.int64]
    row_weights: Weights
    labels: NDArray[np.int64]
    label_weights: Weights

    @classmethod
    def weighted(
        cls, rows: SearchResult, labels: SearchResult, gamma: float, label_votes: float
    ) -> Votes:
        """Let the nearer count more."""
        label_share = label_votes / (1.0 + label_votes) if labels.ids.shape[1] else 0.0
        row_weights = vote_weights(rows.products, gamma, 1.0 - label_share)
        label_weights = vote_weights(labels.products, _LABEL_GAMMA, label_share)
        # A query without known features lies nowhere: nothing is near to it.
        nowhere = ~np.any(rows.products != 0, axis=1)
        row_weights[nowhere] = 0.0
        label_weights[nowhere] = 0.0
        return cls(rows.ids, row_weights, labels.ids, label_weights)

    @classmethod
    def by_distance(
        cls,
        rows: Sequence[SearchResult],
        labels: Sequence[SearchResult],
        alpha: float,
        label_alpha: float,
        label_share: float,
    ) -> Votes:
        """Let the nearer count more, and what one learner found as much as what another did.

        Each learner has its ``rows`` and ``labels``, whose products are −d; ``label_share`` of all
        votes are those of labels.
        """
        total = 1.0 / max(len(rows), 1)
        row_weights = [_distance_weights(one, alpha, (1.0 - label_share) * total) for one in rows]
        label_weights = [_distance_weights(one, label_alpha, label_share * total) for one in labels]
        return cls(
            SearchResult.beside(rows).ids,
            np.concatenate(row_weights, axis=1),
            SearchResult.beside(labels).ids,
            np.concatenate(label_weights, axis=1),
        )

    @classmethod
    def counted(cls, rows: SearchResult, *, all_found: bool = False) -> Votes:
        """Let each row that is near at all count one, or all that were found; labels nothing."""
        none = SearchResult.none(len(rows.ids), 0)
        heard = rows.ids >= 0 if all_found else rows.products > 0
        return cls(rows.ids, heard.astype(np.float32), none.ids, none.products)

    def top(self, Y: csr_matrix, k: int) -> TopK:
        """Return the ``k`` labels with most votes, where ``Y`` has the labels of the rows."""
        return count_votes(self.rows, self.row_weights, Y, k, self.labels, self.label_weights)

    def explain(self, Y: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """Return who voted for each label of ``top``: rows that have it, or the label itself."""
        explained = []
        for at in range(len(top)):
            voters = Voters(self.rows[at], self.row_weights[at], Y)
            labels, weights = summed_weights(self.labels[at], self.label_weights[at])
            explanations = []
            for label, score in top.given(at):
                reasons = voters.reasons_for(label)
                reasons += [
                    Reason("label", label, float(weight)) for weight in weights[labels == label]
                ]
                reasons.sort(key=lambda reason: -reason.weight)
                explanations.append(Explanation(label, score, reasons[:n_reasons]))
            explained.append(explanations)
        return explained


def count_votes(
    rows: NDArray[np.int64],
    row_weights: Weights,
    Y: csr_matrix,
    k: int,
    labels: NDArray[np.int64] | None = None,
    label_weights: Weights | None = None,
) -> TopK:
    """Return the ``k`` labels with most votes for each query, with their votes.

    Parameters
    ----------
    rows, row_weights : ndarray of shape (n, n_rows)
        Rows of ``Y`` that vote (-1 for none) and what each vote counts; 0 is not heard.
    Y : csr_matrix of shape (n_examples, n_labels)
    labels, label_weights : ndarray of shape (n, n_found), optional
        Labels that vote for themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> Y = csr_matrix([[1, 1, 0], [0, 1, 0]])
    >>> count_votes(np.array([[0, 1]]), np.array([[0.5, 0.25]], dtype=np.float32), Y, k=2).labels
    array([[1, 0]])
    """
    if labels is None or label_weights is None:
        labels = np.zeros((len(rows), 0), dtype=np.int64)
        label_weights = np.zeros((len(rows), 0), dtype=np.float32)
    top = TopK.empty(len(rows), k)
    kernels.count_votes(
        rows,
        row_weights,
        Y.indptr,
        Y.indices,
        labels,
        label_weights,
        Y.shape[1],
        top.labels,
        top.scores,
    )
    return top


def vote_weights(cosines: Weights, gamma: float, total: float = 1.0) -> Weights:
    """Return what each vote on a query counts: in proportion to e^{γ(cos − 1)}, ``total`` together.

    >>> vote_weights(np.array([[1.0, 0.9, -np.inf]], dtype=np.float32), gamma=10.0).round(2)
    array([[0.73, 0.27, 0.  ]], dtype=float32)
    """
    return _normalized(np.exp(gamma * (cosines - 1.0)), total)


def _distance_weights(found: SearchResult, alpha: float, total: float) -> Weights:
    """Return what each vote on a query counts: in proportion to e^{−α d}, ``total`` together."""
    there = found.ids >= 0
    nearest = np.where(there, found.products, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
    farther = np.subtract(found.products, nearest, out=np.zeros_like(found.products), where=there)
    return _normalized(np.exp(alpha * farther) * there, total).astype(np.float32)


def _normalized(weights: Weights, total: float) -> Weights:
    """Scale each row of weights so that it sums up to ``total``; one of zeros stays so."""
    sums = weights.sum(axis=1, keepdims=True)
    return np.divide(total * weights, sums, out=np.zeros_like(weights), where=sums > 0)


class VoteWeights(NamedTuple):
    """γ or α of the rows' votes, and what all votes of labels count against all of rows."""

    sharpness: float
    label_votes: float


def choose_votes(
    rows: SearchResult,
    labels: SearchResult,
    Y: csr_matrix,
    truth: csr_matrix,
    *,
    gammas: Sequence[float] = GAMMAS,
    label_votes: Sequence[float] = LABEL_VOTES,
) -> VoteWeights:
    """Return γ and the weight of labels' votes that answer best.

    Parameters
    ----------
    rows, labels : SearchResult
        Training rows and labels near to each row held out, itself not among them.
    Y, truth : csr_matrix
        Labels of the training rows, and of those held out.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> rows = SearchResult(np.array([[0, 1]]), np.array([[0.9, 0.8]], dtype=np.float32))
    >>> labels = SearchResult(np.array([[1]]), np.array([[0.5]], dtype=np.float32))
    >>> choose_votes(rows, labels, csr_matrix([[1, 0], [0, 1]]), csr_matrix([[0, 1]]))
    VoteWeights(sharpness=10.0, label_votes=0.5)
    """
    tried = [
        VoteWeights(gamma, weight)
        for gamma in gammas
        for weight in (label_votes if labels.ids.shape[1] else label_votes[:1])
    ]
    return best_votes(tried, lambda weights: Votes.weighted(rows, labels, *weights), Y, truth)


def best_votes(
    tried: Sequence[VoteWeights],
    cast: Callable[[VoteWeights], Votes],
    Y: csr_matrix,
    truth: csr_matrix,
) -> VoteWeights:
    """Return those of the weights that were ``tried`` whose votes, once ``cast``, answer best."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    tolerance = _NEARLY_OF_FEW if truth.shape[0] < _FEW else _NEARLY

    @cache
    def figures(weights: VoteWeights) -> dict[str, float]:
        top = cast(weights).top(Y, 5)
        return evaluate(truth, top, label_counts=counts, n_examples=Y.shape[0])

    def summed(name: str, weights: VoteWeights) -> float:
        return sum(figures(weights)[f"{name}@{k}"] for k in (1, 3, 5))

    return best_choice(
        tried,
        partial(summed, "P"),
        nearly=lambda best: best - tolerance,
        preference=partial(summed, "PSP"),
    )
