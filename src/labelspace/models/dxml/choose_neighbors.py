"""Choose how many neighbours vote, and what their votes count, by asking about rows held out.

The search is done once, for the largest number; fewer are its first ones. What votes count is then
chosen for each number by ``choose_votes``, and the number with the best P@1 + P@3 + P@5 wins, the
smaller of equal ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.metrics import evaluate
from labelspace.search.result import SearchResult
from labelspace.voting import Votes, choose_votes

N_NEIGHBORS = (5, 10, 20, 40, 80)
GAMMAS = (5.0, 10.0, 20.0)
LABEL_VOTES = (0.1, 0.5, 1.0, 2.0)


class Choice(NamedTuple):
    """How many neighbours vote for each learner, γ of their votes, and what labels' votes count."""

    n_neighbors: int
    gamma: float
    label_votes: float


def choose_neighbors(
    rows: SearchResult,
    labels: SearchResult,
    Y: csr_matrix,
    truth: csr_matrix,
    *,
    n_learners: int = 1,
    counted: bool = False,
    n_neighbors: Sequence[int] = N_NEIGHBORS,
    gammas: Sequence[float] = GAMMAS,
    label_votes: Sequence[float] = LABEL_VOTES,
) -> Choice:
    """Return what answers best.

    Parameters
    ----------
    rows, labels : SearchResult
        Training rows and labels near to each row held out, side by side for several learners.
    Y, truth : csr_matrix
        Labels of the training rows, and of those held out.
    counted : bool
        Whether each neighbour's vote counts one, and labels have none.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> rows = SearchResult(np.array([[0, 1, 1]]), np.array([[0.9, 0.8, 0.8]], dtype=np.float32))
    >>> Y, truth = csr_matrix([[1, 0], [0, 1]]), csr_matrix([[1, 0]])
    >>> none = SearchResult.none(1, 0)
    >>> choose_neighbors(rows, none, Y, truth, counted=True, n_neighbors=(1, 3)).n_neighbors
    1
    """
    best, best_figure = Choice(n_neighbors[0], gammas[0], label_votes[0]), -1.0
    for n in sorted(n_neighbors):
        near = nearest(rows, n, n_learners)
        if counted:
            choice, ballot = Choice(n, 0.0, 0.0), Votes.counted(near)
        else:
            weights = choose_votes(near, labels, Y, truth, gammas=gammas, label_votes=label_votes)
            choice, ballot = Choice(n, *weights), Votes.weighted(near, labels, *weights)
        figures = evaluate(truth, ballot.top(Y, 5))
        figure = sum(figures[f"P@{k}"] for k in (1, 3, 5))
        if figure > best_figure:
            best, best_figure = choice, figure
    return best


def nearest(rows: SearchResult, n_neighbors: int, n_learners: int) -> SearchResult:
    """Return the first ``n_neighbors`` that each learner has found.

    >>> import numpy as np
    >>> found = SearchResult(np.array([[1, 2, 7, 8]]), np.zeros((1, 4), dtype=np.float32))
    >>> nearest(found, 1, n_learners=2).ids
    array([[1, 7]])
    """
    n_queries = len(rows.ids)
    ids, products = (
        part.reshape(n_queries, n_learners, -1)[:, :, :n_neighbors].reshape(n_queries, -1)
        for part in (rows.ids, rows.products)
    )
    return SearchResult(np.ascontiguousarray(ids), np.ascontiguousarray(products))
