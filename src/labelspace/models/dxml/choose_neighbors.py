"""Choose how many neighbours vote, and what their votes count, by asking about rows held out.

The search is done once, for the largest number; fewer are its first ones. What votes count is then
chosen for each number by ``choose_votes``, and the number with the best P@1 + P@3 + P@5 wins, the
smaller of equal ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.models.dxml.settings import DXMLSettings
from labelspace.search.result import SearchResult
from labelspace.selection import best_choice, summed_precision
from labelspace.voting import choose_votes

N_NEIGHBORS = (5, 10, 20, 40, 80)
GAMMAS = (5.0, 10.0, 20.0)
LABEL_VOTES = (0.1, 0.5, 1.0, 2.0)


def choose_neighbors(
    settings: DXMLSettings,
    rows: SearchResult,
    labels: SearchResult,
    Y: csr_matrix,
    truth: csr_matrix,
    *,
    n_learners: int = 1,
) -> DXMLSettings:
    """Return the settings with what answers best, where nothing was told about votes.

    Parameters
    ----------
    settings : DXMLSettings
    rows, labels : SearchResult
        Training rows and labels near to each row held out, side by side for several learners.
    Y, truth : csr_matrix
        Labels of the training rows, and of those held out.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> near = SearchResult(np.array([[1] + 9 * [0]]), np.ones((1, 10), dtype=np.float32))
    >>> Y, truth = csr_matrix([[1, 0], [0, 1]]), csr_matrix([[1, 0]])
    >>> counted = DXMLSettings(voting="counts", label_votes=0.0)
    >>> choose_neighbors(counted, near, SearchResult.none(1, 0), Y, truth).n_neighbors
    5
    """

    def weighed(n_neighbors: int) -> DXMLSettings:
        chosen = replace(settings, n_neighbors=n_neighbors)
        if settings.voting == "counts":
            return chosen
        gamma, label_votes = settings.vote_gamma, settings.label_votes
        weights = choose_votes(
            nearest(rows, n_neighbors, n_learners),
            labels,
            Y,
            truth,
            gammas=GAMMAS if gamma is None else [gamma],
            label_votes=LABEL_VOTES if label_votes is None else [label_votes],
        )
        return replace(chosen, vote_gamma=weights.sharpness, label_votes=weights.label_votes)

    def precision(chosen: DXMLSettings) -> float:
        assert chosen.n_neighbors is not None
        near = nearest(rows, chosen.n_neighbors, n_learners)
        return summed_precision(truth, chosen.votes(near, labels).top(Y, 5))

    numbers = N_NEIGHBORS if settings.n_neighbors is None else [settings.n_neighbors]
    return best_choice([weighed(number) for number in numbers], precision)


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
