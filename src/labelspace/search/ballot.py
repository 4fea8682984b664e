"""Who votes on a query, and what each vote counts.

Training rows that were found near a query vote for their labels, and labels that were found near
it vote for themselves. A row's vote counts e^{γ(cos − 1)}, or e^{−αd} where there is a distance, a
label's the same with a γ or α of its own; all votes of rows together count 1, all votes of labels
``label_votes``, and scores are shares of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.base import Explanation, Reason
from labelspace.search.found import Found
from labelspace.search.reasons import Voters, added_up
from labelspace.search.tally import tally
from labelspace.topk import TopK

# Labels lie farther from a row than its neighbours do, and differ less in it.
_LABEL_GAMMA = 10.0


@dataclass(frozen=True)
class Ballot:
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
    >>> near = Found(np.array([[0, 1]]), np.array([[0.9, 0.8]], dtype=np.float32))
    >>> votes = Ballot.weighted(near, Found.none(1, 0), gamma=10.0, label_votes=0.5)
    >>> votes.top(csr_matrix([[1, 0], [0, 1]]), k=2).scores.round(2).tolist()
    [[0.7300000190734863, 0.27000001072883606]]
    """

    rows: NDArray[np.int64]
    row_weights: NDArray[np.float32]
    labels: NDArray[np.int64]
    label_weights: NDArray[np.float32]

    @classmethod
    def weighted(cls, rows: Found, labels: Found, gamma: float, label_votes: float) -> Ballot:
        """Let the nearer count more."""
        share = label_votes / (1.0 + label_votes) if labels.ids.shape[1] else 0.0
        row_weights = _shares(rows.products, gamma, 1.0 - share)
        label_weights = _shares(labels.products, _LABEL_GAMMA, share)
        # A query without known features lies nowhere: nothing is near to it.
        nowhere = ~np.any(rows.products != 0, axis=1)
        row_weights[nowhere] = 0.0
        label_weights[nowhere] = 0.0
        return cls(rows.ids, row_weights, labels.ids, label_weights)

    @classmethod
    def by_distance(
        cls,
        rows: Sequence[Found],
        labels: Sequence[Found],
        alpha: float,
        label_alpha: float,
        label_share: float,
    ) -> Ballot:
        """Let the nearer count more, and what one learner found as much as what another did.

        Each learner has its ``rows`` and ``labels``, whose products are −d; ``label_share`` of all
        votes are those of labels.
        """
        total = 1.0 / max(len(rows), 1)
        row_weights = [_near_shares(one, alpha, (1.0 - label_share) * total) for one in rows]
        label_weights = [_near_shares(one, label_alpha, label_share * total) for one in labels]
        return cls(
            Found.beside(rows).ids,
            np.concatenate(row_weights, axis=1),
            Found.beside(labels).ids,
            np.concatenate(label_weights, axis=1),
        )

    @classmethod
    def counted(cls, rows: Found) -> Ballot:
        """Let each row that is near at all count one, and labels nothing."""
        none = Found.none(len(rows.ids), 0)
        heard = (rows.products > 0).astype(np.float32)
        return cls(rows.ids, heard, none.ids, none.products)

    def top(self, Y: csr_matrix, k: int) -> TopK:
        """Return the ``k`` labels with most votes, where ``Y`` has the labels of the rows."""
        return tally(self.rows, self.row_weights, Y, k, self.labels, self.label_weights)

    def explain(self, Y: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """Return who voted for each label of ``top``: rows that have it, or the label itself."""
        explained = []
        for at in range(len(top)):
            voters = Voters(self.rows[at], self.row_weights[at], Y)
            places, nearness = added_up(self.labels[at], self.label_weights[at])
            explanations = []
            for label, score in top.given(at):
                reasons = voters.reasons_for(label)
                reasons += [
                    Reason("label", label, float(weight)) for weight in nearness[places == label]
                ]
                reasons.sort(key=lambda reason: -reason.weight)
                explanations.append(Explanation(label, score, reasons[:n_reasons]))
            explained.append(explanations)
        return explained


def _shares(products: NDArray[np.float32], gamma: float, total: float) -> NDArray[np.float32]:
    """Return what each vote counts, ``total`` together."""
    weights = np.exp(gamma * (products - 1.0))
    sums = weights.sum(axis=1, keepdims=True)
    return np.divide(total * weights, sums, out=np.zeros_like(weights), where=sums > 0)


def _near_shares(found: Found, alpha: float, total: float) -> NDArray[np.float32]:
    """Return what each vote counts, ``total`` together: in proportion to e^{−α d}."""
    there = found.ids >= 0
    nearest = np.where(there, found.products, -np.inf).max(axis=1, initial=-np.inf, keepdims=True)
    farther = np.subtract(found.products, nearest, out=np.zeros_like(found.products), where=there)
    weights = np.exp(alpha * farther) * there
    sums = weights.sum(axis=1, keepdims=True)
    shares = np.divide(total * weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return shares.astype(np.float32)
